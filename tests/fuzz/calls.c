/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units that call and return, and the functions they call. */
#include "gen.h"

#define CODE (&g->code)

enum leaf_end {
	END_RET,
	END_REP_RET,
	END_RET_IMM,
	END_POP_JMP,
	END_LOAD_JMP,
	END_SKIP,     /* adds to its return address */
	END_TAIL,     /* jumps to another function that returns */
	END_PUSH_RET, /* pushes its return address again */
	END_COUNT
};

static unsigned
new_leaf(struct fz_gen *g, unsigned unit, unsigned end, unsigned arg)
{
	unsigned label = fz_label(CODE);

	if (g->nleaves == FZ_MAX_LEAVES) {
		g->code.full = true;
		return label;
	}
	g->leaves[g->nleaves++] = (struct fz_leaf){.unit = (uint16_t)unit,
	                                           .label = (uint16_t)label,
	                                           .self = (uint16_t)label,
	                                           .reserved = g->reserved,
	                                           .end = (uint8_t)end,
	                                           .arg = (uint8_t)arg};
	return label;
}

/* What the caller does around the call for this kind of function. */
static void
before_call(struct fz_gen *g, unsigned end, unsigned arg)
{
	if (end == END_RET_IMM)
		fz_rm(CODE, 0x8d, RSP, RSP, -(int32_t)arg);
	if (fz_chance(&g->rng, 60))
		fz_produce_flags(g);
}

static void
after_call(struct fz_gen *g, unsigned end, unsigned arg)
{
	if (end == END_SKIP)
		fz_junk(g, arg);
	fz_clobber(g, 0xffff);
	if (fz_chance(&g->rng, 50))
		fz_use_flags(g);
}

static unsigned
leaf_arg(struct fz_gen *g, unsigned end)
{
	if (end == END_RET_IMM)
		return fz_chance(&g->rng, 80) ? fz_below(&g->rng, 16) * 8 : fz_below(&g->rng, 120);
	return 1 + fz_below(&g->rng, 6);
}

void
fz_emit_call(struct fz_gen *g, unsigned unit)
{
	unsigned end = fz_below(&g->rng, END_COUNT);
	unsigned arg = leaf_arg(g, end);
	unsigned label = new_leaf(g, unit, end, arg);

	before_call(g, end, arg);
	if (fz_chance(&g->rng, 10))
		fz_put8(CODE, 0xf2); /* bnd */
	fz_call(CODE, label);
	after_call(g, end, arg);
}

static void
call_through(struct fz_gen *g, unsigned label)
{
	unsigned r = fz_pick_reg(g, 0);
	unsigned slot = fz_new_table(g, 1);

	switch (fz_below(&g->rng, 5)) {
	case 0:
		FZ_PUT(CODE, 0xff); /* call [rip+slot] */
		fz_rip(CODE, 2, fz_ctrl_address(g, slot), 0);
		fz_ref_ctrl(CODE, slot, label);
		break;
	case 1: /* call [r+disp32] */
		fz_mov_imm(CODE, r, fz_ctrl_address(g, slot) + 64, 3);
		fz_rm(CODE, 0xff, 2, r, -64);
		fz_ref_ctrl(CODE, slot, label);
		break;
	case 2: /* the address lies on the stack; the call reads it before it pushes */
		fz_mov_label(CODE, r, label, fz_chance(&g->rng, 50));
		fz_rm(CODE, 0x89, r, RSP, -8);
		FZ_PUT(CODE, 0xff, 0x54, 0x24, 0xf8);
		break;
	case 3: /* call [rbp+rdx*8] */
		if (!fz_reserved(g, RBP) && !fz_reserved(g, RDX)) {
			fz_mov_imm(CODE, RBP, fz_ctrl_address(g, slot) - 24, 3);
			fz_mov_imm(CODE, RDX, 3, 0);
			FZ_PUT(CODE, 0xff, 0x54, 0xd5, 0);
			fz_ref_ctrl(CODE, slot, label);
			break;
		}
		/* fallthrough */
	default:
		fz_mov_label(CODE, r, label, fz_chance(&g->rng, 50));
		if (r >= 8)
			fz_put8(CODE, 0x41);
		FZ_PUT(CODE, 0xff, (uint8_t)(0xd0 | (r & 7)));
		break;
	}
}

void
fz_emit_icall(struct fz_gen *g, unsigned unit)
{
	unsigned end = fz_below(&g->rng, END_COUNT);
	unsigned arg = leaf_arg(g, end);
	unsigned label = new_leaf(g, unit, end, arg);

	before_call(g, end, arg);
	call_through(g, label);
	after_call(g, end, arg);
}

void
fz_emit_recurse(struct fz_gen *g, unsigned unit)
{
	unsigned counter = fz_new_counter(g);
	unsigned label = new_leaf(g, unit, END_RET, 0);

	if (g->code.full)
		return;
	g->leaves[g->nleaves - 1].counter = (uint16_t)counter;
	FZ_PUT(CODE, 0x48, 0xc7);
	fz_rip(CODE, 0, fz_ctrl_address(g, counter), 4);
	fz_put32(CODE, 2 + fz_below(&g->rng, 40));
	fz_call(CODE, label);
	fz_clobber(g, 0xffff);
}

static void
leave_leaf(struct fz_gen *g, const struct fz_leaf *l)
{
	unsigned r = fz_pick_reg(g, 0);

	if (fz_chance(&g->rng, 30)) { /* look at the return address */
		fz_rm(CODE, 0x8b, r, RSP, 0);
		r = fz_pick_reg(g, 1u << r);
	}
	if (fz_chance(&g->rng, 30))
		fz_produce_flags(g);
	switch ((enum leaf_end)l->end) {
	case END_REP_RET:
		FZ_PUT(CODE, 0xf3, 0xc3);
		return;
	case END_RET_IMM:
		FZ_PUT(CODE, 0xc2, l->arg, 0);
		return;
	case END_POP_JMP:
		if (r >= 8)
			fz_put8(CODE, 0x41);
		fz_put8(CODE, 0x58 | (r & 7));
		break;
	case END_LOAD_JMP:
		fz_rm(CODE, 0x8b, r, RSP, 0);
		fz_rm(CODE, 0x8d, RSP, RSP, 8);
		break;
	case END_SKIP:
		FZ_PUT(CODE, 0x48, 0x83, 0x04, 0x24, l->arg, 0xc3); /* add qword [rsp], arg; ret */
		return;
	case END_TAIL:
		FZ_PUT(CODE, 0xeb, 2, 0xcc, 0xcc, 0xc3);
		return;
	case END_PUSH_RET:
		FZ_PUT(CODE, 0xff, 0x34, 0x24, 0xc2, 8, 0); /* push qword [rsp]; ret 8 */
		return;
	case END_RET:
	case END_COUNT:
		fz_put8(CODE, fz_chance(&g->rng, 10) ? 0xf2 : 0x90);
		fz_put8(CODE, 0xc3);
		return;
	}
	if (r >= 8)
		fz_put8(CODE, 0x41);
	FZ_PUT(CODE, 0xff, (uint8_t)(0xe0 | (r & 7)));
}

static void
emit_leaf(struct fz_gen *g, const struct fz_leaf *l)
{
	unsigned out = fz_label(CODE);

	g->rng.state = g->units[l->unit].seed ^ 0x1eaf;
	fz_bind(CODE, l->label);
	if (fz_chance(&g->rng, 30))
		FZ_PUT(CODE, 0xf3, 0x0f, 0x1e, 0xfa); /* endbr64 */
	if (fz_chance(&g->rng, 30))
		fz_use_flags(g);
	if (l->counter) {
		FZ_PUT(CODE, 0x48, 0xff);
		fz_rip(CODE, 1, fz_ctrl_address(g, l->counter), 0);
		fz_jcc(CODE, 14, out, true);
	}
	fz_emit_range(g, l->unit + 1u, g->units[l->unit].end);
	if (l->counter)
		fz_call(CODE, l->self);
	fz_bind(CODE, out);
	fz_add_bound(g, l->unit);
	leave_leaf(g, l);
}

/* Functions are emitted after the sequence; their own calls add more of them. They keep their
 * caller's loop counters. */
void
fz_emit_leaves(struct fz_gen *g)
{
	for (unsigned i = 0; i < g->nleaves && !g->code.full; i++) {
		struct fz_leaf l = g->leaves[i];

		g->balanced = true;
		g->iterations = 100;
		g->reserved = l.reserved;
		fz_clobber(g, 0xffff);
		emit_leaf(g, &l);
	}
}

void
fz_emit_pushret(struct fz_gen *g, unsigned unit)
{
	unsigned next = fz_label(CODE);
	unsigned r = fz_pick_reg(g, 0);
	unsigned pad = fz_chance(&g->rng, 30) ? 8 * fz_below(&g->rng, 8) : 0;

	(void)unit;
	if (pad)
		fz_rm(CODE, 0x8d, RSP, RSP, -(int32_t)pad);
	if (g->code.base < 0x70000000 && fz_chance(&g->rng, 50)) {
		fz_put8(CODE, 0x68); /* push imm32 */
		fz_ref(CODE, FZ_ABS32, next, 0);
	} else {
		fz_mov_label(CODE, r, next, fz_chance(&g->rng, 50));
		if (r >= 8)
			fz_put8(CODE, 0x41);
		fz_put8(CODE, 0x50 | (r & 7));
		fz_clobber(g, 1u << r);
	}
	if (pad)
		FZ_PUT(CODE, 0xc2, (uint8_t)pad, 0);
	else
		fz_put8(CODE, 0xc3);
	if (fz_chance(&g->rng, 50))
		fz_put8(CODE, 0xcc);
	fz_bind(CODE, next);
	fz_use_flags(g);
}

void
fz_emit_callpop(struct fz_gen *g, unsigned unit)
{
	unsigned next = fz_label(CODE);
	unsigned r = fz_pick_reg(g, 0);

	(void)unit;
	fz_call(CODE, next);
	if (fz_chance(&g->rng, 30))
		fz_junk(g, 1 + fz_below(&g->rng, 6)); /* data after the call */
	fz_bind(CODE, next);
	if (r >= 8)
		fz_put8(CODE, 0x41);
	fz_put8(CODE, 0x58 | (r & 7));
	fz_clobber(g, 1u << r);
	if (fz_chance(&g->rng, 50))
		fz_use_flags(g);
}
