/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of a few fixed instructions: flags made and used, stores, stack accesses, processor
 * queries. */
#include "gen.h"

#define CODE (&g->code)

static uint64_t
near_data(struct fz_gen *g)
{
	uint64_t page = g->region->base + (fz_chance(&g->rng, 50) ? FZ_R_BEFORE : FZ_R_AFTER);

	return page + 64 + fz_below(&g->rng, 480) * 8;
}

/* op r/m with REX.W and an opcode extension in ModRM.reg */
static void
unary(struct fz_gen *g, unsigned op, unsigned ext, unsigned r)
{
	FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3), (uint8_t)op, (uint8_t)(0xc0 | ext << 3 | (r & 7)));
}

/* An instruction that leaves arithmetic flags for what follows. */
void
fz_produce_flags(struct fz_gen *g)
{
	static const uint8_t alu[] = {0x01, 0x29, 0x39, 0x85, 0x21, 0x31, 0x09, 0x11, 0x19};
	unsigned r = fz_pick_reg(g, 0);
	unsigned s = fz_below(&g->rng, 16);

	fz_clobber(g, 1u << r);
	switch (fz_below(&g->rng, 8)) {
	case 0:
		unary(g, 0xff, fz_below(&g->rng, 2), r); /* inc, dec: keep the carry */
		break;
	case 1:
		unary(g, 0xf7, 3, r); /* neg */
		break;
	case 2:
		unary(g, 0xc1, 4 + fz_below(&g->rng, 4), r); /* shifts */
		fz_put8(CODE, fz_below(&g->rng, 66));
		break;
	case 3:
		FZ_PUT(CODE, (uint8_t)(0x48 | s >> 3 << 2 | r >> 3), 0x0f, 0xa3,
		       (uint8_t)(0xc0 | (s & 7) << 3 | (r & 7))); /* bt */
		break;
	case 4:
		unary(g, 0x83, 7, r); /* cmp */
		fz_put8(CODE, fz_below(&g->rng, 256));
		break;
	case 5:
		FZ_PUT(CODE,
		       (uint8_t[]){0xf8, 0xf9, 0xf5}[fz_below(&g->rng, 3)]); /* clc, stc, cmc */
		break;
	default:
		fz_rr(CODE, alu[fz_below(&g->rng, sizeof alu)], s, r);
		break;
	}
}

static void
setcc(struct fz_gen *g, unsigned r)
{
	unsigned cond = fz_below(&g->rng, 16);

	if (fz_chance(&g->rng, 40)) { /* to memory */
		FZ_PUT(CODE, 0x0f, (uint8_t)(0x90 | cond));
		fz_rip(CODE, 0, near_data(g), 0);
	} else {
		FZ_PUT(CODE, (uint8_t)(0x40 | r >> 3), 0x0f, (uint8_t)(0x90 | cond),
		       (uint8_t)(0xc0 | (r & 7)));
	}
}

/* An instruction whose result depends on the flags as they are. */
void
fz_use_flags(struct fz_gen *g)
{
	unsigned r = fz_pick_reg(g, 0);
	unsigned s = fz_below(&g->rng, 16);

	fz_clobber(g, 1u << r);
	switch (fz_below(&g->rng, 9)) {
	case 0:
	case 1:
		setcc(g, r);
		break;
	case 2:
		FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3 << 2 | s >> 3), 0x0f,
		       (uint8_t)(0x40 | fz_below(&g->rng, 16)),
		       (uint8_t)(0xc0 | (r & 7) << 3 | (s & 7))); /* cmov */
		break;
	case 3:
		fz_rr(CODE, fz_chance(&g->rng, 50) ? 0x11 : 0x19, s, r); /* adc, sbb */
		break;
	case 4:
		fz_put8(CODE, 0x9c); /* pushfq; pop r */
		if (r >= 8)
			fz_put8(CODE, 0x41);
		fz_put8(CODE, 0x58 | (r & 7));
		break;
	case 5:
		if (!fz_reserved(g, RAX)) {
			fz_put8(CODE, 0x9f); /* lahf */
			fz_clobber(g, 1u << RAX);
		}
		break;
	case 6:
		unary(g, 0xd1, 2 + fz_below(&g->rng, 2), r); /* rcl, rcr */
		break;
	case 7:
		FZ_PUT(CODE, 0x9c, 0x8f); /* pushfq; pop [data] */
		fz_rip(CODE, 0, near_data(g), 0);
		break;
	default:
		fz_rr(CODE, 0x19, r, r); /* sbb r, r */
		break;
	}
}

void
fz_emit_flags(struct fz_gen *g, unsigned unit)
{
	(void)unit;
	if (fz_chance(&g->rng, 60))
		fz_produce_flags(g);
	if (fz_chance(&g->rng, 20)) /* something that must not touch them in between */
		fz_set_reg(g, fz_pick_reg(g, 0), fz_some_value(&g->rng));
	fz_use_flags(g);
}

/* Puts a register where the comparison sees its value of this moment. */
void
fz_emit_store(struct fz_gen *g, unsigned unit)
{
	unsigned r = fz_below(&g->rng, 16);

	(void)unit;
	FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3 << 2), 0x89);
	fz_rip(CODE, r, near_data(g), 0);
}

static void
push_pop(struct fz_gen *g, bool push)
{
	unsigned r = push ? fz_below(&g->rng, 16) : fz_pick_reg(g, 0);
	unsigned form = fz_below(&g->rng, 5);

	if (form == 0) { /* memory */
		FZ_PUT(CODE, push ? 0xff : 0x8f);
		fz_rip(CODE, push ? 6 : 0, near_data(g), 0);
	} else if (form == 1 && push) {
		fz_put8(CODE, 0x68);
		fz_put32(CODE, (uint32_t)fz_next(&g->rng));
	} else if (form == 2) { /* 16 bits */
		FZ_PUT(CODE, 0x66, 0xff, (uint8_t)(0xf0 | (RAX & 7)));
		FZ_PUT(CODE, 0x66, 0x8f);
		fz_rip(CODE, 0, near_data(g), 0);
	} else if (form ==
	           3) { /* relative to the stack pointer, which the instruction itself moves */
		FZ_PUT(CODE, push ? 0xff : 0x8f, (uint8_t)(push ? 0x74 : 0x44), 0x24,
		       (uint8_t)(fz_below(&g->rng, 16) * 8));
	} else {
		if (r >= 8)
			fz_put8(CODE, 0x41);
		fz_put8(CODE, (push ? 0x50 : 0x58) | (r & 7));
		if (!push)
			fz_clobber(g, 1u << r);
	}
}

void
fz_emit_stack(struct fz_gen *g, unsigned unit)
{
	unsigned r = fz_pick_reg(g, 0);
	int32_t below = -8 * (int32_t)(1 + fz_below(&g->rng, 16));
	unsigned form = fz_below(&g->rng, 7);

	(void)unit;
	switch (form) {
	case 0: /* into the red zone */
		fz_rm(CODE, 0x89, fz_below(&g->rng, 16), RSP, below);
		break;
	case 1: /* out of it */
		fz_rm(CODE, 0x8b, r, RSP, below);
		fz_clobber(g, 1u << r);
		break;
	case 2:
		fz_rm(CODE, 0x03, r, RSP, (int32_t)fz_below(&g->rng, 32) * 8);
		fz_clobber(g, 1u << r);
		break;
	case 3: /* the stack pointer moves and comes back */
		fz_rm(CODE, 0x8d, RSP, RSP, below);
		FZ_PUT(CODE, 0x48, 0x01, 0x04, 0x24); /* add [rsp], rax */
		fz_rm(CODE, 0x8d, RSP, RSP, -below);
		break;
	case 4:
		if (g->balanced)
			break;
		fz_rm(CODE, 0x8d, RSP, RSP, fz_chance(&g->rng, 80) ? below : -below);
		break;
	case 5:
		if (!fz_reserved(g, RBP)) { /* a frame */
			FZ_PUT(CODE, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, (uint8_t)-below,
			       0xc9);
		}
		break;
	default:
		if (!g->balanced)
			push_pop(g, fz_chance(&g->rng, 60));
		break;
	}
}

/* System calls that change nothing and always answer the same. */
static const struct {
	uint16_t nr;
	uint64_t rdi, rsi, rdx, r10;
} calls[] = {
        {3, UINT64_MAX, 0, 0, 0},      /* close(-1) */
        {24, 0, 0, 0, 0},              /* sched_yield() */
        {8, UINT64_MAX, 0, 0, 0},      /* lseek(-1) */
        {32, UINT64_MAX, 0, 0, 0},     /* dup(-1) */
        {999, 1, 2, 3, 4},             /* no such call */
        {102, 0, 0, 0, 0},             /* getuid() */
        {37, 0, 0, 0, 0},              /* alarm(0) */
        {1, UINT64_MAX, 0x1000, 8, 0}, /* write(-1) */
        {14, 0, 0, 0x10, 8},           /* rt_sigprocmask(SIG_BLOCK, NULL, bad pointer) */
        {79, 0, 0, 0, 0},              /* getcwd(NULL, 0) */
        {0, UINT64_MAX, 0, 0, 0},      /* read(-1) */
        {13, 1000, 0, 0, 8},           /* rt_sigaction(no such signal) */
};

void
fz_emit_syscall(struct fz_gen *g, unsigned unit)
{
	unsigned k = fz_below(&g->rng, sizeof calls / sizeof *calls);
	unsigned used =
	        1u << RAX | 1u << RCX | 1u << R11 | 1u << RDI | 1u << RSI | 1u << RDX | 1u << R10;

	(void)unit;
	if ((g->reserved & used) || g->opt->no_syscalls || g->iterations > 200)
		return;
	if (fz_chance(&g->rng, 50))
		fz_produce_flags(g);
	fz_mov_imm(CODE, RDI, calls[k].rdi, 1);
	fz_mov_imm(CODE, RSI, calls[k].rsi, 1);
	fz_mov_imm(CODE, RDX, calls[k].rdx, 1);
	fz_mov_imm(CODE, R10, calls[k].r10, 1);
	fz_mov_imm(CODE, RAX, calls[k].nr, 0);
	FZ_PUT(CODE, 0x0f, 0x05);
	fz_clobber(g, used);
	if (fz_chance(&g->rng, 50))
		fz_use_flags(g);
}

/* cpuid and xgetbv with answers that do not depend on the CPU we happen to run on. */
void
fz_emit_cpu(struct fz_gen *g, unsigned unit)
{
	static const uint32_t leaves[] = {0, 0x80000000, 0x80000002, 0x80000003, 0x80000004, 7};
	uint32_t leaf = leaves[fz_below(&g->rng, 6)];

	(void)unit;
	if (g->reserved & (1u << RAX | 1u << RCX | 1u << RDX | 1u << RBX))
		return;
	fz_mov_imm(CODE, RCX, 0, 0);
	fz_mov_imm(CODE, RAX, leaf, 0);
	if (g->iterations > 4 || fz_chance(&g->rng, 60))
		FZ_PUT(CODE, 0x0f, 0x01, 0xd0);
	else
		FZ_PUT(CODE, 0x0f, 0xa2);
	fz_clobber(g, 1u << RAX | 1u << RCX | 1u << RDX | 1u << RBX);
	fz_use_flags(g);
}
