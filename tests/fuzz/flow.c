/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units that transfer control: skips, loops, indirect jumps, jump tables. Calls are in calls.c. */
#include "gen.h"

#define CODE (&g->code)

static void
children(struct fz_gen *g, unsigned unit)
{
	fz_emit_range(g, unit + 1, g->units[unit].end);
}

/* jrcxz or jecxz to `label`, also where it is too far for them. */
static void
jump_if_rcx_zero(struct fz_gen *g, unsigned label, bool ecx)
{
	if (ecx)
		fz_put8(CODE, 0x67);
	fz_put8(CODE, 0xe3);
	if (!g->force_near) {
		fz_ref(CODE, FZ_REL8, label, 0);
		return;
	}
	fz_put8(CODE, 2);
	FZ_PUT(CODE, 0xeb, 5);
	fz_jmp(CODE, label, true);
}

void
fz_emit_skip(struct fz_gen *g, unsigned unit)
{
	unsigned over = fz_label(CODE);
	bool near = g->force_near || fz_chance(&g->rng, 50);
	uint16_t before = g->known;

	if (fz_chance(&g->rng, 50))
		fz_produce_flags(g);
	switch (fz_below(&g->rng, 6)) {
	case 0:
		fz_jmp(CODE, over, near);
		fz_junk(g, fz_below(&g->rng, 6));
		break;
	case 1:
		jump_if_rcx_zero(g, over, fz_chance(&g->rng, 50));
		break;
	default:
		if (fz_chance(&g->rng, 10)) /* branch hint */
			fz_put8(CODE, fz_chance(&g->rng, 50) ? 0x2e : 0x3e);
		fz_jcc(CODE, fz_below(&g->rng, 16), over, near);
		break;
	}
	children(g, unit);
	fz_bind(CODE, over);
	g->known &= before;
	fz_clobber(g, 0xffff);
	if (fz_chance(&g->rng, 40))
		fz_use_flags(g);
}

static unsigned
loop_count(struct fz_gen *g)
{
	unsigned n =
	        fz_chance(&g->rng, 6) ? 200 + fz_below(&g->rng, 2000) : 1 + fz_below(&g->rng, 12);

	while (n > 1 && n * g->iterations > 4000)
		n /= 2;
	return n;
}

/* The end of a loop whose counter is in register r. */
static void
loop_tail_reg(struct fz_gen *g, unsigned r, unsigned top, unsigned form)
{
	if (form == 0) {
		FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3), 0xff, (uint8_t)(0xc8 | (r & 7)));
		fz_jcc(CODE, 5, top, true);
	} else if (form == 1) {
		FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3), 0x83, (uint8_t)(0xe8 | (r & 7)), 1);
		fz_jcc(CODE, 15, top, true);
	} else {
		/* 32-bit decrement that leaves the carry flag for the loop's first instruction */
		if (r >= 8)
			fz_put8(CODE, 0x41);
		FZ_PUT(CODE, 0xff, (uint8_t)(0xc8 | (r & 7)));
		fz_jcc(CODE, 5, top, true);
	}
}

/* loop, loope, loopne (with and without address-size prefix) and jrcxz. */
static void
loop_tail_rcx(struct fz_gen *g, unsigned top, unsigned form)
{
	unsigned out = fz_label(CODE);

	if (form == 3) {
		fz_rm(CODE, 0x8d, RCX, RCX, -1);
		jump_if_rcx_zero(g, out, fz_chance(&g->rng, 50));
		fz_jmp(CODE, top, true);
		fz_bind(CODE, out);
		return;
	}
	if (fz_chance(&g->rng, 25))
		fz_put8(CODE, 0x67);
	fz_put8(CODE, 0xe0 + form); /* loopne, loope, loop */
	if (!g->force_near) {
		fz_ref(CODE, FZ_REL8, top, 0);
		fz_bind(CODE, out);
		return;
	}
	fz_put8(CODE, 2);
	fz_jmp(CODE, out, false);
	fz_jmp(CODE, top, true);
	fz_bind(CODE, out);
}

static void
loop_in_memory(struct fz_gen *g, unsigned unit, unsigned n)
{
	uint64_t counter = fz_ctrl_address(g, fz_new_counter(g));
	unsigned top = fz_label(CODE);

	FZ_PUT(CODE, 0x48, 0xc7); /* mov qword [counter], n */
	fz_rip(CODE, 0, counter, 4);
	fz_put32(CODE, n);
	fz_bind(CODE, top);
	children(g, unit);
	FZ_PUT(CODE, 0x48, 0xff); /* dec qword [counter] */
	fz_rip(CODE, 1, counter, 0);
	fz_jcc(CODE, 15, top, true);
}

/*
 * Bounds a loop counter without touching flags: after a fault, control may come into a loop past
 * its beginning, and then the counter holds anything.
 */
static void
bound_counter(struct fz_gen *g, unsigned r, unsigned n)
{
	FZ_PUT(CODE, (uint8_t)(0x40 | r >> 3 << 2 | r >> 3), 0x0f, n < 256 ? 0xb6 : 0xb7,
	       (uint8_t)(0xc0 | (r & 7) << 3 | (r & 7))); /* movzx r32, r8 or r16 */
}

void
fz_emit_loop(struct fz_gen *g, unsigned unit)
{
	unsigned n = loop_count(g);
	unsigned form = fz_below(&g->rng, 9);
	uint16_t reserved = g->reserved;
	bool balanced = g->balanced;
	unsigned iterations = g->iterations;

	fz_clobber(g, 0xffff);
	g->iterations *= n;
	g->balanced |= g->iterations > 16;
	if (form < 4 && fz_reserved(g, RCX))
		form += 4;
	if (form < 8) {
		unsigned r = form < 4 ? (unsigned)RCX : fz_pick_reg(g, 0);
		unsigned top = fz_label(CODE);

		fz_mov_imm(CODE, r, n, fz_below(&g->rng, 4));
		fz_bind(CODE, top);
		bound_counter(g, r, n);
		g->reserved |= (uint16_t)(1u << r);
		if (__builtin_popcount(g->reserved) < 6)
			children(g, unit);
		if (form < 4)
			loop_tail_rcx(g, top, form);
		else
			loop_tail_reg(g, r, top, form - 5);
	} else {
		loop_in_memory(g, unit, n);
	}
	g->reserved = reserved;
	g->balanced = balanced;
	g->iterations = iterations;
	fz_clobber(g, 0xffff);
}

/* jmp or call through register r, which may be R8 to R15. `reg` is 4 for jmp and 2 for call. */
static void
through_reg(struct fz_gen *g, unsigned reg, unsigned r)
{
	if (fz_chance(&g->rng, 15))
		fz_put8(CODE, 0x3e); /* notrack */
	if (r >= 8)
		fz_put8(CODE, 0x41);
	FZ_PUT(CODE, 0xff, (uint8_t)(0xc0 | reg << 3 | (r & 7)));
}

/* Transfers control to `label` through a register or memory. */
static void
indirect_jump(struct fz_gen *g, unsigned label)
{
	unsigned r = fz_pick_reg(g, 0);
	unsigned slot = fz_new_table(g, 1);

	switch (fz_below(&g->rng, 6)) {
	case 0:
		FZ_PUT(CODE, 0xff); /* jmp [rip+slot] */
		fz_rip(CODE, 4, fz_ctrl_address(g, slot), 0);
		fz_ref_ctrl(CODE, slot, label);
		break;
	case 1:
		fz_mov_imm(CODE, r, fz_ctrl_address(g, slot) - 8 * r, 3);
		fz_rm(CODE, 0xff, 4, r, (int32_t)(8 * r)); /* jmp [r+disp32] */
		fz_ref_ctrl(CODE, slot, label);
		break;
	case 2: /* through the red zone */
		fz_mov_label(CODE, r, label, fz_chance(&g->rng, 50));
		fz_rm(CODE, 0x89, r, RSP, -16);
		FZ_PUT(CODE, 0xff, 0x64, 0x24, 0xf0);
		break;
	case 3: /* the target register is also where the target is loaded from */
		fz_mov_imm(CODE, r, fz_ctrl_address(g, slot), fz_below(&g->rng, 4));
		fz_rm(CODE, 0x8b, r, r, 0);
		fz_ref_ctrl(CODE, slot, label);
		through_reg(g, 4, r);
		break;
	default:
		fz_mov_label(CODE, r, label, fz_chance(&g->rng, 50));
		if (fz_chance(&g->rng, 50))
			fz_produce_flags(g);
		fz_mov_label(CODE, r, label, true);
		through_reg(g, 4, r);
		break;
	}
	fz_clobber(g, 1u << r);
}

void
fz_emit_ijump(struct fz_gen *g, unsigned unit)
{
	unsigned over = fz_label(CODE);

	indirect_jump(g, over);
	fz_junk(g, fz_below(&g->rng, 6));
	children(g, unit); /* dead, unless a fault resumes there */
	fz_bind(CODE, over);
	fz_clobber(g, 0xffff);
	if (fz_chance(&g->rng, 50))
		fz_use_flags(g);
}

/* index = counter++ & 3, so that a loop around sees all targets */
static void
load_index(struct fz_gen *g, unsigned r)
{
	uint64_t counter = fz_ctrl_address(g, fz_new_counter(g));

	FZ_PUT(CODE, (uint8_t)(0x48 | r >> 3 << 2), 0x8b);
	fz_rip(CODE, r, counter, 0);
	FZ_PUT(CODE, 0x48, 0xff);
	fz_rip(CODE, 0, counter, 0);
	if (r >= 8)
		fz_put8(CODE, 0x41);
	FZ_PUT(CODE, 0x83, (uint8_t)(0xe0 | (r & 7)), 3); /* and r32, 3 */
}

/* jmp [base + index*8] over a table of addresses */
static void
switch_absolute(struct fz_gen *g, unsigned index, unsigned base, const unsigned *cases)
{
	unsigned slot = fz_new_table(g, 4);
	unsigned disp = fz_below(&g->rng, 256);

	for (unsigned i = 0; i < 4; i++)
		fz_ref_ctrl(CODE, slot + i, cases[i]);
	fz_mov_imm(CODE, base, fz_ctrl_address(g, slot) - disp, fz_below(&g->rng, 4));
	FZ_PUT(CODE, (uint8_t)(0x40 | index >> 3 << 1 | base >> 3), 0xff, 0xa4,
	       (uint8_t)(0xc0 | (index & 7) << 3 | (base & 7)));
	fz_put32(CODE, disp);
}

/* The position-independent form that compilers emit: a table of distances among the code. */
static void
switch_relative(struct fz_gen *g, unsigned index, unsigned base, const unsigned *cases)
{
	unsigned table = fz_label(CODE);

	fz_mov_label(CODE, base, table, true);
	FZ_PUT(CODE, (uint8_t)(0x48 | index >> 3 << 2 | index >> 3 << 1 | base >> 3), 0x63,
	       (uint8_t)(0x44 | (index & 7) << 3), (uint8_t)(0x80 | (index & 7) << 3 | (base & 7)),
	       0);
	fz_rr(CODE, 0x01, base, index); /* add index, base */
	through_reg(g, 4, index);
	fz_bind(CODE, table);
	for (unsigned i = 0; i < 4; i++)
		fz_ref(CODE, FZ_REL32, cases[i], (int)(4 * i + 4));
}

void
fz_emit_switch(struct fz_gen *g, unsigned unit)
{
	unsigned index = fz_pick_reg(g, 0);
	unsigned base = fz_pick_reg(g, 1u << index);
	unsigned cases[4], n = 0;
	unsigned join = fz_label(CODE);
	bool join_each = fz_chance(&g->rng, 50);

	for (unsigned i = 0; i < 4; i++)
		cases[i] = fz_label(CODE);
	load_index(g, index);
	if (fz_chance(&g->rng, 50))
		switch_absolute(g, index, base, cases);
	else
		switch_relative(g, index, base, cases);
	for (unsigned i = unit + 1; i < g->units[unit].end && n < 4; i = g->units[i].end) {
		fz_clobber(g, 0xffff);
		fz_bind(CODE, cases[n++]);
		fz_emit_range(g, i, g->units[i].end);
		if (join_each)
			fz_jmp(CODE, join, true);
	}
	while (n < 4)
		fz_bind(CODE, cases[n++]);
	fz_bind(CODE, join);
	fz_clobber(g, 0xffff);
}
