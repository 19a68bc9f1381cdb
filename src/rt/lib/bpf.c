/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/lib/bpf.h"

enum {
	CLASS = 0x07,
	LD = 0,
	LDX = 1,
	ST = 2,
	STX = 3,
	ALU = 4,
	JMP = 5,
	RET = 6,
	MISC = 7,
	MODE = 0xe0,
	IMM = 0,
	ABS = 0x20,
	MEM = 0x60,
	LEN = 0x80,
	SRC_X = 0x08,
	OP = 0xf0,
	WORDS = 16,
	TXA = 0x80,
};

static uint32_t
alu(uint32_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case 0x00:
		return a + b;
	case 0x10:
		return a - b;
	case 0x20:
		return a * b;
	case 0x30:
		return b ? a / b : 0;
	case 0x40:
		return a | b;
	case 0x50:
		return a & b;
	case 0x60:
		return a << (b & 31);
	case 0x70:
		return a >> (b & 31);
	case 0x80:
		return -a;
	default:
		return a ^ b;
	}
}

static bool
jumps(uint32_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case 0x10:
		return a == b;
	case 0x20:
		return a > b;
	case 0x30:
		return a >= b;
	default:
		return a & b; /* JSET */
	}
}

static uint32_t
bpf_load(const struct bpf_insn *in, const struct seccomp_call *call, const uint32_t *mem)
{
	uint32_t word = 0;
	switch (in->code & MODE) {
	case IMM:
		return in->k;
	case ABS:
		if (in->k <= sizeof *call - 4)
			memcpy(&word, (const char *)call + in->k, 4);
		return word;
	case MEM:
		return mem[in->k % WORDS];
	case LEN:
		return sizeof *call;
	default:
		return 0;
	}
}

uint32_t
bpf_run(const struct bpf_insn *program, uint32_t n, const struct seccomp_call *call)
{
	uint32_t a = 0, x = 0, mem[WORDS] = {0};
	for (uint32_t pc = 0; pc < n; pc++) {
		const struct bpf_insn *in = &program[pc];
		uint32_t op = in->code & OP, other = in->code & SRC_X ? x : in->k;
		switch (in->code & CLASS) {
		case LD:
			a = bpf_load(in, call, mem);
			break;
		case LDX:
			x = bpf_load(in, call, mem);
			break;
		case ST:
			mem[in->k % WORDS] = a;
			break;
		case STX:
			mem[in->k % WORDS] = x;
			break;
		case ALU:
			a = alu(op, a, other);
			break;
		case JMP:
			pc += op == 0 ? in->k : jumps(op, a, other) ? in->jt : in->jf;
			break;
		case RET:
			return in->code & 0x10 ? a : in->k;
		case MISC:
			if (in->code & TXA)
				a = x;
			else
				x = a;
			break;
		}
	}
	return 0; /* SECCOMP_RET_KILL_THREAD; the kernel accepts no program without an end */
}
