/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units that programs rarely contain: overlapping instructions, code that changes itself, certain
 * faults. */
#include "gen.h"

#define CODE (&g->code)

/* A register 0..7 that may change, for encodings without REX. */
static int
low_reg(struct fz_gen *g)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		unsigned r = fz_below(&g->rng, 8);

		if (!fz_reserved(g, r))
			return (int)r;
	}
	return -1;
}

/* The immediate of a mov is entered as code on the second round. */
static void
enter_immediate(struct fz_gen *g, unsigned r)
{
	uint64_t counter = fz_ctrl_address(g, fz_new_counter(g));
	unsigned top = fz_label(CODE);
	unsigned inside = fz_label(CODE);

	FZ_PUT(CODE, 0x48, 0xc7);
	fz_rip(CODE, 0, counter, 4);
	fz_put32(CODE, 2 + fz_below(&g->rng, 3));
	fz_bind(CODE, top);
	fz_put8(CODE, 0xb8 | r);
	fz_bind(CODE, inside);
	FZ_PUT(CODE, 0xff, (uint8_t)((fz_chance(&g->rng, 50) ? 0xc0 : 0xc8) | r), 0x90, 0xf8);
	FZ_PUT(CODE, 0x48, 0xff);
	fz_rip(CODE, 1, counter, 0);
	fz_jcc(CODE, 15, inside, true);
}

void
fz_emit_overlap(struct fz_gen *g, unsigned unit)
{
	int r = low_reg(g);

	(void)unit;
	if (r < 0)
		return;
	fz_clobber(g, 1u << r);
	switch (fz_below(&g->rng, 3)) {
	case 0: /* a jump into its own second byte, which begins inc or dec */
		FZ_PUT(CODE, 0xeb, 0xff, (uint8_t)((fz_chance(&g->rng, 50) ? 0xc0 : 0xc8) | r));
		break;
	case 1: /* over the prefix of the next instruction */
		fz_produce_flags(g);
		FZ_PUT(CODE, (uint8_t)(0x70 | fz_below(&g->rng, 16)), 1, 0x48, 0xff,
		       (uint8_t)(0xc0 | r));
		break;
	default:
		enter_immediate(g, (unsigned)r);
		break;
	}
	fz_use_flags(g);
}

/* r = immediate that this very loop increments */
static void
smc_loop(struct fz_gen *g, unsigned r)
{
	uint64_t counter = fz_ctrl_address(g, fz_new_counter(g));
	unsigned top = fz_label(CODE);

	FZ_PUT(CODE, 0x48, 0xc7);
	fz_rip(CODE, 0, counter, 4);
	fz_put32(CODE, 1 + fz_below(&g->rng, 20));
	fz_bind(CODE, top);
	uint64_t field = fz_here(CODE) + 1;

	fz_put8(CODE, 0xb8 | r);
	fz_put32(CODE, (uint32_t)fz_next(&g->rng));
	fz_put8(CODE, 0x83); /* add dword [field], imm8 */
	fz_rip(CODE, 0, field, 1);
	fz_put8(CODE, 1 + fz_below(&g->rng, 100));
	FZ_PUT(CODE, 0x48, 0xff);
	fz_rip(CODE, 1, counter, 0);
	fz_jcc(CODE, 15, top, true);
}

/* One store changes an instruction that comes right after it, in this block or the next. */
static void
smc_ahead(struct fz_gen *g, unsigned r)
{
	unsigned gap = fz_below(&g->rng, 3);
	unsigned size = gap == 2 ? 3 : 0;

	if (fz_chance(&g->rng, 50)) { /* the immediate */
		FZ_PUT(CODE, 0xc6);
		fz_rip(CODE, 0, fz_here(CODE) + 6 + size + 1 + fz_below(&g->rng, 4), 1);
		fz_put8(CODE, fz_below(&g->rng, 256));
	} else { /* the opcode: another register or operation */
		static const uint8_t op[] = {0x05, 0x0d, 0x25, 0x2d, 0x35, 0x3d, 0xa9, 0xb8};

		FZ_PUT(CODE, 0xc6);
		fz_rip(CODE, 0, fz_here(CODE) + 6 + size, 1);
		fz_put8(CODE, fz_reserved(g, RAX) ? 0x3d : op[fz_below(&g->rng, sizeof op)]);
		fz_clobber(g, 1u << RAX);
	}
	if (gap == 2)
		FZ_PUT(CODE, 0xeb, 1, 0xcc);
	fz_put8(CODE, 0xb8 | r);
	fz_put32(CODE, (uint32_t)fz_next(&g->rng));
}

/* rep movsb lays new code over what follows it. */
static void
smc_copy(struct fz_gen *g, unsigned r)
{
	uint64_t from = g->region->base + FZ_R_AFTER + 32;

	if (g->reserved & (1u << RSI | 1u << RDI | 1u << RCX))
		return;
	fz_mov_imm(CODE, RSI, from, 3);
	FZ_PUT(CODE, 0xc7, 0x06, 0xb8, 0, 0x11,
	       0x22); /* mov dword [rsi], code: mov r32, 0x..221100 */
	FZ_PUT(CODE, 0xc6, 0x06, (uint8_t)(0xb8 | r)); /* mov byte [rsi], opcode */
	fz_mov_imm(CODE, RCX, 5, 0);
	FZ_PUT(CODE, 0x48, 0x8d);
	fz_rip(CODE, RDI, fz_here(CODE) + 5 + 3, 0);
	FZ_PUT(CODE, 0xfc, 0xf3, 0xa4); /* cld; rep movsb */
	FZ_PUT(CODE, 0x0f, 0x1f, 0x44, 0, 0);
	fz_clobber(g, 1u << RSI | 1u << RDI | 1u << RCX);
}

void
fz_emit_smc(struct fz_gen *g, unsigned unit)
{
	int r = low_reg(g);

	(void)unit;
	if (r < 0 || !g->rwx || g->opt->no_smc)
		return;
	fz_clobber(g, 1u << r);
	switch (fz_below(&g->rng, 3)) {
	case 0:
		smc_loop(g, (unsigned)r);
		break;
	case 1:
		smc_ahead(g, (unsigned)r);
		break;
	default:
		smc_copy(g, (unsigned)r);
		break;
	}
}

static uint64_t
bad_address(struct fz_gen *g)
{
	const uint64_t bad[] = {
	        fz_arena.none + 8, fz_arena.main + FZ_MAIN_SIZE + 8,   0x8000000000000000,
	        fz_arena.main,     g->region->base + FZ_R_BEFORE + 16, 0x18};

	return bad[fz_below(&g->rng, 6)];
}

/* Control goes where no code is. */
static void
fault_transfer(struct fz_gen *g, unsigned r)
{
	uint64_t to = bad_address(g);
	unsigned table = fz_new_table(g, 1);

	fz_mov_imm(CODE, r, to, 3);
	fz_clobber(g, 1u << r);
	if (r >= 8)
		fz_put8(CODE, 0x41);
	switch (fz_below(&g->rng, 4)) {
	case 0:
		FZ_PUT(CODE, 0xff, (uint8_t)(0xe0 | (r & 7))); /* jmp r */
		break;
	case 1:
		FZ_PUT(CODE, 0xff, (uint8_t)(0xd0 | (r & 7))); /* call r */
		break;
	case 2:
		FZ_PUT(CODE, (uint8_t)(0x50 | (r & 7)), 0xc3); /* push r; ret */
		break;
	default:
		FZ_PUT(CODE, 0x90, 0xff); /* call [table]; the table names the bad place */
		fz_rip(CODE, 2, fz_ctrl_address(g, table), 0);
		g->ctrl[table] = to;
		break;
	}
}

/* The transfer itself cannot read its target or use the stack. */
static void
fault_in_transfer(struct fz_gen *g, unsigned r)
{
	unsigned form = fz_below(&g->rng, 6);
	unsigned here = fz_label(CODE);

	fz_mov_imm(CODE, r, fz_arena.none + 64, 3);
	fz_clobber(g, 1u << r);
	if (form < 2) {
		fz_rm(CODE, 0xff, form ? 2 : 4, r, 0); /* call/jmp [bad] */
		return;
	}
	/* xchg rsp, r; (call|push|ret|pop) with a stack that is not there; xchg rsp, r */
	fz_rr(CODE, 0x87, RSP, r);
	if (form == 2)
		fz_call(CODE, here);
	else
		FZ_PUT(CODE, (uint8_t[]){0xc3, 0x50, 0x9c}[form - 3]);
	fz_bind(CODE, here);
	fz_rr(CODE, 0x87, RSP, r);
}

void
fz_emit_fault(struct fz_gen *g, unsigned unit)
{
	unsigned r = fz_pick_reg(g, 0);

	(void)unit;
	if (g->opt->no_faults)
		return;
	if (fz_chance(&g->rng, 40))
		fz_produce_flags(g);
	switch (fz_below(&g->rng, 10)) {
	case 0:
		FZ_PUT(CODE, 0x0f, 0x0b); /* ud2 */
		break;
	case 1:
		fz_put8(CODE, 0xf4); /* hlt */
		break;
	case 2:
		fz_put8(CODE, 0xcc);
		break;
	case 3:
		FZ_PUT(CODE, 0xcd, (uint8_t)(0x20 + fz_below(&g->rng, 64))); /* int n, n < 0x60 */
		break;
	case 4:
		if (r != RAX && r != RDX) {
			fz_mov_imm(CODE, r, 0, 0);
			FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3), 0xf7,
			       (uint8_t)(0xf0 | (r & 7))); /* div 0 */
			fz_clobber(g, 1u << r);
		}
		break;
	case 5:
		FZ_PUT(CODE, 0x0f, 0x0b); /* a fault in the middle of live flags and registers */
		fz_use_flags(g);
		break;
	case 6:
		fault_transfer(g, r);
		break;
	case 7:
		fault_in_transfer(g, r);
		break;
	default:
		fz_mov_imm(CODE, r, bad_address(g), 3);
		fz_rm(CODE, fz_chance(&g->rng, 50) ? 0x01 : 0x03, fz_pick_reg(g, 0), r, 0);
		fz_clobber(g, 0xffff);
		break;
	}
}
