/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving an instruction of the program to a stub, for good: it does there what it did, and what it
 * leaves on the stack is what it left there. */
#ifndef STROBE_PROBE_MOVE_H
#define STROBE_PROBE_MOVE_H

#include "rt/arch/x86_64/decode.h"

/* Code that is being written: at `p` + n now, to be executed at `pc` + n. */
struct probe_code {
	uint8_t *p;
	uint64_t pc;
	unsigned n;
	bool reaches; /* all distances so far fit in 32 bits */
};

/* What an instruction is moved from: the first byte that the patch replaces, and where the stub has
 * a copy of what stood there. Jumps to it lead to the copy. */
struct probe_moved {
	uint64_t from, to;
};

/* Whether it is ud0, ud1 or ud2. The program's signal handler may look at its address. */
static inline bool
probe_is_trap(const struct st_insn *in, const uint8_t *bytes)
{
	uint8_t op = bytes[in->op_off];
	return in->op_off && bytes[in->op_off - 1] == 0x0f &&
	       !(in->flags & (ST_I_VEX | ST_I_EVEX)) && (op == 0x0b || op == 0xb9 || op == 0xff);
}

/* Can it be moved? A call only as the last of what is moved: it returns to where it stood. */
bool probe_movable(const struct st_insn *in, const uint8_t *bytes);
/* Writes what stands for the instruction at the address `at`, which can be moved. */
void probe_move(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes,
                uint64_t at, const struct probe_moved *moved);

void probe_put(struct probe_code *code, const void *bytes, unsigned n);
/* The distance to `to`, when `after` bytes of the instruction follow it. */
void probe_put_distance(struct probe_code *code, uint64_t to, unsigned after);
void probe_put_jump(struct probe_code *code, uint64_t to);

/* Whether execution never continues at the instruction that follows it. */
static inline bool
probe_ends(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_IJMP || in->cls == ST_C_RET;
}

#endif
