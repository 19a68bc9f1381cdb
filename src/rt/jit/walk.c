/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of walks (tools/forest.h). Each label has a guess, of each thread: where the walk
 * last was before it, and where it was then. When that is right a step is a comparison, and does
 * not wait for the one before. Else a fragment in the warm part finds the node that is remembered,
 * and that is the next guess; or it calls the tool.
 *
 * The last but one instruction that changes anything counts, the last one says where the walk has
 * come to: who is stopped between them has done the step, except for that.
 */
#include "rt/jit/action.h"
#include "rt/jit/spill.h"
#include "rt/jit/superblock.h"

enum { FRAME = sizeof(strobe_frame), NODE_BITS = 6, COST_SHIFT = 2 };
_Static_assert(sizeof(strobe_node) == 1 << NODE_BITS, "a node is found by a shift");
_Static_assert(sizeof(strobe_node) == sizeof(strobe_cost) << COST_SHIFT, "so is its cost");

#define WALK(member) offsetof(struct thread, contexts.walk.member)
#define IN_FRAME(member) (int32_t) offsetof(strobe_frame, member)
#define IN_NODE(member) (int32_t) offsetof(strobe_node, member)

/* Jumps to one place: to fill in. */
struct step_exits {
	uint8_t *rel[8]; /* after them */
	unsigned n;
	bool near; /* their distance has 8 bits, not 32 */
};

enum { JE = 0x4, JNE = 0x5, JBE = 0x6, JMP = 0xe9, JMP_NEAR = 0xeb, JRCXZ = 0xe3 };

static void
emit_out(struct emit *e, struct step_exits *out, unsigned condition)
{
	if (condition == JMP) {
		e8(e, out->near ? JMP_NEAR : JMP);
	} else if (out->near) {
		e8(e, 0x70 | condition);
	} else {
		e8(e, 0x0f);
		e8(e, 0x80 | condition);
	}
	if (out->near)
		e8(e, 0);
	else
		e32(e, 0);
	out->rel[out->n++] = e->p;
}

static void
land_out(const struct emit *e, const struct step_exits *out)
{
	for (unsigned i = 0; i < out->n; i++) {
		uint32_t distance = (uint32_t)(e->p - out->rel[i]);
		if (out->near)
			*(out->rel[i] - 1) = (uint8_t)distance;
		else
			memcpy(out->rel[i] - 4, &distance, 4);
	}
}

/* Over what follows, of that many bytes, if rcx is 0. */
static void
emit_jrcxz(struct emit *e, unsigned bytes)
{
	e8(e, JRCXZ);
	e8(e, bytes);
}

/* ---- machine instructions ---- */

/* An instruction of 64 bits, or 32, with the operand [base + disp]; reg: or the opcode's extension.
 */
static void
emit_on(struct emit *e, bool wide, unsigned opcode, unsigned reg, unsigned base, int32_t disp)
{
	if (wide || reg >= 8 || base >= 8)
		rex_rr(e, wide, reg, base);
	e8(e, opcode);
	emit_modrm_disp(e, reg, base, disp);
}

enum {
	CMP = 0x39,
	CMP_WITH = 0x3b,
	STORE = 0x89,
	LOAD = 0x8b,
	GROUP = 0x81,
	GROUP_SMALL = 0x83,
	SET = 0xc7,
	INC = 0xff
};
enum { GROUP_ADD = 0, GROUP_CMP = 7 };

static void
emit_shift(struct emit *e, unsigned reg, bool left, unsigned bits)
{
	rex_rr(e, true, 0, reg);
	e8(e, 0xc1);
	e8(e, (left ? 0xe0u : 0xe8u) | (reg & 7));
	e8(e, bits);
}

static void
emit_not(struct emit *e, unsigned reg)
{
	rex_rr(e, true, 0, reg);
	e8(e, 0xf7);
	e8(e, 0xd0 | (reg & 7));
}

/* The 32 bits at [base + disp] are compared with that: flags, or where those are live ecx, say how
 * that went. */
static void
emit_compare(struct seq *s, unsigned base, int32_t disp, uint32_t value)
{
	struct emit *e = s->e;
	if (!s->live) {
		bool small = value == (uint32_t)(int8_t)value;
		emit_on(e, false, small ? GROUP_SMALL : GROUP, GROUP_CMP, base, disp);
		if (small)
			e8(e, value & 0xff);
		else
			e32(e, value);
		return;
	}
	emit_on(e, false, LOAD, RCX, base, disp);
	e8(e, 0x8d); /* lea ecx, [rcx - value] */
	e8(e, 0x89);
	e32(e, 0 - value);
}

/* Goes there, which is near, if they are equal. */
static void
emit_if(struct seq *s, struct step_exits *there, unsigned base, int32_t disp, uint32_t value)
{
	struct emit *e = s->e;
	emit_compare(s, base, disp, value);
	if (!s->live) {
		emit_out(e, there, JE);
		return;
	}
	e8(e, JRCXZ); /* there */
	e8(e, 0);
	there->rel[there->n++] = e->p;
}

/* Goes on only if they are. */
static void
emit_only_if(struct seq *s, struct step_exits *out, unsigned base, int32_t disp, uint32_t value)
{
	struct emit *e = s->e;
	emit_compare(s, base, disp, value);
	if (!s->live) {
		emit_out(e, out, JNE);
		return;
	}
	emit_jrcxz(e, out->near ? 2 : 5); /* over the jump */
	emit_out(e, out, JMP);
}

/* reg = base + (reg << NODE_BITS) */
static void
emit_scaled(struct seq *s, unsigned reg, unsigned base)
{
	struct emit *e = s->e;
	if (!s->live) {
		emit_shift(e, reg, true, NODE_BITS);
		emit_sum(e, reg, reg, base);
		return;
	}
	e8(e, 0x48 | (reg >> 3) << 2 | (reg >> 3) << 1); /* lea reg, [reg * 8] */
	e8(e, 0x8d);
	e8(e, 0x04 | (reg & 7) << 3);
	e8(e, 3 << 6 | (reg & 7) << 3 | 5);
	e32(e, 0);
	e8(e, 0x48 | (reg >> 3) << 2 | (reg >> 3) << 1 | base >> 3); /* lea reg, [base + reg * 8] */
	e8(e, 0x8d);
	e8(e, 0x44 | (reg & 7) << 3);
	e8(e, 3 << 6 | (reg & 7) << 3 | (base & 7));
	e8(e, 0);
}

/* node = what its `recent` has in that slot; 8 and above: those of the nodes after it. */
static void
emit_recent(struct seq *s, unsigned node, unsigned slot, unsigned work)
{
	struct emit *e = s->e;
	int32_t at = (int32_t)(slot / 8 * sizeof(strobe_node) + slot % 8 * sizeof(uint32_t));
	emit_on(e, false, LOAD, node, node, IN_NODE(recent) + at);
	emit_mov_imm64(e, work, (uint64_t)strobe_nodes());
	emit_scaled(s, node, work);
}

/* node = the node that the label leads to from there, if that is remembered: strobe_recall. */
static void
emit_recall(struct seq *s, struct step_exits *out, unsigned node, uint32_t label, unsigned work)
{
	struct emit *e = s->e;
	struct step_exits found = {.near = true};
	emit_recent(s, node, label & 7, work);
	emit_if(s, &found, node, IN_NODE(label), label);
	emit_only_if(s, out, node, IN_NODE(label), STROBE_FORK);
	emit_recent(s, node, label / 8 % STROBE_FORK_SLOTS, work);
	emit_only_if(s, out, node, IN_NODE(label), label);
	land_out(e, &found);
}

/* ---- steps ---- */

/* A step being written: its ways from the hot to the warm part, and where it is come back to. */
struct step {
	struct seq *s;
	const struct action *a;
	/* Registers: the top frame; the node; a third where it has to be. */
	unsigned top, node, work;
	uint32_t guess;                      /* field of the thread: place, node after it */
	struct step_exits miss, out, unlike; /* to its parts in the warm part */
	/* Cache offsets: after what spills; come back to from `unlike`, and from `miss`; the end.
	 */
	uint32_t spilled, unlike_back, known, done;
};

/* The form of the store is what recovery knows it by. */
static void
emit_step_count(struct step *w)
{
	struct seq *s = w->s;
	struct emit *e = s->e;
	if (!s->live) {
		emit_on(e, true, INC, 0, w->node, IN_NODE(count));
		return;
	}
	emit_on(e, true, LOAD, w->work, w->node, IN_NODE(count));
	emit_lea_disp(e, w->work, w->work, 1);
	rex_rr(e, true, w->work, w->node);
	e8(e, STORE);
	e8(e, 0x80 | (w->work & 7) << 3 | (w->node & 7)); /* a displacement of 32 bits */
	e32(e, IN_NODE(count));
}

/* Where the walk is. */
static void
emit_place(struct step *w, unsigned reg)
{
	struct emit *e = w->s->e;
	if (w->a->step == WALK_ACROSS)
		emit_restore(e, reg, WALK(node));
	else
		emit_on(e, true, LOAD, reg, w->top,
		        w->a->step == WALK_ENTER ? IN_FRAME(node) : IN_FRAME(inner));
}

/* w->node = the node after the place, if the guess is right. */
static void
emit_guess(struct step *w)
{
	struct seq *s = w->s;
	struct emit *e = s->e;
	emit_place(w, w->node);
	if (s->live) {
		emit_restore(e, w->work, w->guess);
		emit_not(e, w->work);
		emit_sum_disp(e, RCX, RCX, w->work, 1);
		emit_jrcxz(e, 5); /* over the jump */
		emit_out(e, &w->miss, JMP);
	} else {
		emit_field(e, CMP_WITH, w->node, w->guess);
		emit_out(e, &w->miss, JNE);
	}
	emit_restore(e, w->node, w->guess + 8);
	w->known = e->off;
}

/* A function that jumps to its own beginning is not entered again, so flags decide here. */
static void
emit_enter(struct step *w)
{
	struct emit *e = w->s->e;
	emit_restore(e, w->top, WALK(top));
	emit_field(e, CMP_WITH, w->top, WALK(last));
	emit_out(e, &w->out, JE);
	emit_on(e, true, CMP, RSP, w->top, IN_FRAME(sp));
	emit_out(e, w->a->owner ? &w->unlike : &w->out, JBE);
	emit_on(e, true, STORE, RSP, w->top, FRAME + IN_FRAME(sp));
	w->unlike_back = e->off;
	emit_guess(w);
	emit_on(e, true, STORE, w->node, w->top, FRAME + IN_FRAME(node));
	emit_on(e, true, STORE, w->node, w->top, FRAME + IN_FRAME(inner));
	emit_on(e, false, SET, 0, w->top, FRAME + IN_FRAME(label));
	e32(e, w->a->id);
	emit_lea_disp(e, w->top, w->top, FRAME);
	emit_step_count(w);
	emit_save(e, w->top, WALK(top));
}

/* The flags say whether the stack pointer is the top frame's: it has been jumped from there. */
static void
emit_jumped(struct step *w, struct step_exits *out)
{
	struct emit *e = w->s->e;
	emit_out(e, out, JNE);
	e8(e, 0x40); /* test spl, 3: the mark is not to be taken for a part of it */
	e8(e, 0xf6);
	e8(e, 0xc4);
	e8(e, 3);
	emit_out(e, out, JNE);
	emit_on(e, false, GROUP, GROUP_CMP, w->top, IN_FRAME(label));
	e32(e, w->a->id);
	e8(e, 0x0f); /* je done */
	e8(e, 0x80 | JE);
	erel(e, cache_addr(w->done), 0);
	emit_lea_disp(e, w->node, RSP, -STROBE_JUMPED);
	emit_on(e, true, STORE, w->node, w->top, FRAME + IN_FRAME(sp));
	emit_jmp(e, cache_addr(w->unlike_back));
}

/* Without flags, which a return has to leave alone. */
static void
emit_leave_frame(struct step *w)
{
	struct emit *e = w->s->e;
	emit_restore(e, w->top, WALK(top));
	emit_on(e, true, LOAD, RCX, w->top, IN_FRAME(sp));
	emit_not(e, RCX);
	emit_sum_disp(e, RCX, RSP, RCX, 1);
	emit_jrcxz(e, 5); /* over the jump */
	emit_out(e, &w->unlike, JMP);
	w->unlike_back = e->off;
	emit_lea_disp(e, w->top, w->top, -FRAME);
	emit_save(e, w->top, WALK(top));
}

/* Leaves also the frame that has jumped to the top one. */
static void
emit_leave_jumped(struct step *w, struct step_exits *out)
{
	struct emit *e = w->s->e;
	emit_lea_disp(e, RCX, RCX, -STROBE_JUMPED);
	emit_jrcxz(e, 2); /* over the jump */
	emit_out(e, out, JMP);
	emit_lea_disp(e, w->top, w->top, -FRAME);
	emit_jmp(e, cache_addr(w->unlike_back));
}

static void
emit_step(struct step *w)
{
	struct emit *e = w->s->e;
	emit_restore(e, w->top, WALK(top));
	emit_guess(w);
	emit_step_count(w);
	emit_on(e, true, STORE, w->node, w->top, IN_FRAME(inner));
}

static void
emit_across(struct step *w)
{
	emit_guess(w);
	emit_step_count(w);
	emit_save(w->s->e, w->node, WALK(node));
}

/* The guess was wrong: w->work, then w->node = the node that is remembered. A guess that is half
 * written is none. */
static void
emit_guess_miss(struct step *w, struct step_exits *out)
{
	struct seq *s = w->s;
	struct emit *e = s->e;
	if (w->a->step == WALK_STEP)
		emit_only_if(s, out, w->top, IN_FRAME(label), w->a->owner);
	emit_place(w, w->work);
	emit_recall(s, out, w->work, w->a->id, w->node);
	emit_constant(e, w->node, 0);
	emit_save(e, w->node, w->guess);
	emit_save(e, w->work, w->guess + 8);
	emit_place(w, w->node);
	emit_save(e, w->node, w->guess);
	emit_mov_rr(e, w->node, w->work);
}

/* The code for a wrong guess. It follows the rest, because it spills one more register. */
static void
emit_miss_part(struct step *w, uint32_t away)
{
	struct emit *e = w->s->e;
	struct step_exits fails = {0};
	bool spills = !(w->s->saved >> w->work & 1);
	land_out(e, &w->miss);
	if (spills)
		emit_save(e, w->work, spill_field(w->work));
	emit_guess_miss(w, &fails);
	if (spills)
		emit_restore(e, w->work, spill_field(w->work));
	emit_jmp(e, cache_addr(w->known));
	land_out(e, &fails);
	if (spills)
		emit_restore(e, w->work, spill_field(w->work));
	emit_jmp(e, cache_addr(away));
}

/* The parts of the step that are in the warm part. The first four bytes say where in the hot one
 * all is spilled that is spilled there. */
static void
emit_warm(struct step *w, uint32_t call)
{
	struct seq *s = w->s;
	struct emit *hot = s->e, e = warm_begin();
	struct step_exits fails = {.near = true};
	warm_mark(&e, WARM_WALK, invokes.list[call].block);
	e32(&e, w->spilled);
	s->e = &e;
	if (w->unlike.n) {
		land_out(&e, &w->unlike);
		if (w->a->step == WALK_ENTER)
			emit_jumped(w, &fails);
		else
			emit_leave_jumped(w, &fails);
	}
	uint32_t away = e.off;
	land_out(&e, &fails);
	land_out(&e, &w->out);
	restore_all(s);
	emit_set_exit(&e, call);
	emit_jmp(&e, (uint64_t)rt_stub_call);
	if (w->miss.n)
		emit_miss_part(w, away);
	warm_end(&e);
	s->e = hot;
}

/* Flags that the block reads. As for what takes blocks off the budget: the handler of a fault in it
 * may see others that nobody reads. */
static uint8_t
flags_read(const struct seq *s, const struct build *b, const struct action *a)
{
	return a->insn ? s->live : jit_flags_read(b);
}

/* One of the registers, the turn-th. */
static unsigned
pick(uint16_t *from, uint32_t turn)
{
	uint16_t left = *from;
	for (unsigned skip = turn % count_bits(left); skip; skip--)
		left &= (uint16_t)(left - 1);
	unsigned r = (unsigned)__builtin_ctz(left);
	*from &= (uint16_t) ~(1u << r);
	return r;
}

/*
 * A spilled register is stored and loaded again. If all blocks spilled the same one, each block
 * would wait for the block before it; so they take turns, and avoid registers that the next
 * instructions use. rcx is the only register that can be tested without flags.
 */
static void
choose_step_registers(struct step *w, const struct build *b, uint32_t turn)
{
	enum { AHEAD = 6, NEEDED = 3 };
	uint16_t free = (uint16_t) ~(1u << RAX | 1u << RSP);
	for (uint32_t i = w->a->insn, n = 0; i < b->n && n < AHEAD; i++, n++) {
		uint16_t left = free & (uint16_t) ~(b->insn[i].gpr_read | b->insn[i].gpr_written);
		if (count_bits(left) < NEEDED)
			break;
		free = left;
	}
	bool tested = w->a->step == WALK_LEAVE || w->s->live;
	if (tested)
		free &= (uint16_t) ~(1u << RCX);
	w->node = tested ? RCX : pick(&free, turn);
	w->top = pick(&free, turn);
	w->work = pick(&free, turn);
}

void
walk_emit(struct seq *s, const struct build *b, const struct action *a, uint32_t call)
{
	struct step w = {.s = s, .a = a};
	if (a->step != WALK_LEAVE && !(w.guess = walk_guess(a->id))) {
		walk_emit_call(s->e, call);
		return;
	}
	if (a->step != WALK_LEAVE)
		s->live = flags_read(s, b, a);
	if (a->step == WALK_ENTER) {
		save_flags(s);
		s->live = 0;
	}
	choose_step_registers(&w, b, call);
	spill_register(s, w.node);
	if (a->step != WALK_ACROSS)
		spill_register(s, w.top);
	if (s->live && a->step != WALK_LEAVE)
		spill_register(s, w.work);
	w.spilled = s->e->off;
	switch ((enum walk_step)a->step) {
	case WALK_ENTER:
		emit_enter(&w);
		break;
	case WALK_LEAVE:
		emit_leave_frame(&w);
		break;
	case WALK_STEP:
		emit_step(&w);
		break;
	case WALK_ACROSS:
		emit_across(&w);
		break;
	}
	w.done = s->e->off;
	restore_all(s);
	emit_warm(&w, call);
}

void
walk_emit_call(struct emit *e, uint32_t call)
{
	emit_set_exit(e, call);
	emit_jmp(e, (uint64_t)rt_stub_call);
}

/* ---- costs ---- */

/* at = the cost of the top frame's node. */
static void
emit_cost_of_top(struct emit *e, unsigned at, unsigned work)
{
	uint64_t costs = (uint64_t)strobe_costs() - ((uint64_t)strobe_nodes() >> COST_SHIFT);
	emit_restore(e, at, WALK(top));
	emit_on(e, true, LOAD, at, at, IN_FRAME(node));
	emit_mov_imm64(e, work, costs);
	emit_shift(e, at, false, COST_SHIFT);
	emit_sum(e, at, at, work);
}

/* Done again when it is stopped: then the second time is short. */
void
walk_emit_time(struct seq *s)
{
	struct emit *e = s->e;
	if (rt_tsc_forbidden)
		return;
	s->avoid |= 1u << RAX | 1u << RDX;
	spill_register(s, RAX);
	spill_register(s, RDX);
	unsigned work = scratch_register(s, 0);
	save_flags(s);
	e8(e, 0x0f);
	e8(e, 0x31); /* rdtsc */
	emit_shift(e, RDX, true, 32);
	emit_sum(e, RAX, RAX, RDX);
	emit_restore(e, work, WALK(ticks));
	emit_save(e, RAX, WALK(ticks));
	emit_not(e, work);
	emit_sum_disp(e, RAX, RAX, work, 1);
	emit_cost_of_top(e, RDX, work);
	emit_on(e, true, 0x01, RAX, RDX, (int32_t)offsetof(strobe_cost, ticks));
}

void
walk_emit_cost(struct seq *s, const struct action *a)
{
	struct emit *e = s->e;
	unsigned at = scratch_register(s, 0), work = scratch_register(s, 1u << at);
	save_flags(s);
	emit_cost_of_top(e, at, work);
	emit_on(e, true, GROUP, GROUP_ADD, at, (int32_t)offsetof(strobe_cost, instructions));
	e32(e, a->id);
}

/* ---- recovery ---- */

uint32_t
walk_spilled(struct thread *t, uint32_t fragment, uint32_t off, struct recovered *out)
{
	const uint8_t *p = cache_write(fragment), *end = cache_write(off);
	uint32_t hot;
	memcpy(&hot, p, sizeof hot);
	struct st_insn in;
	for (p += sizeof hot; p < end && st_decode(p, 15, &in); p += in.len) {
		unsigned opcode = 0, reg = 0;
		int64_t field = field_of(p, &in, &opcode, &reg);
		if (opcode == STORE && field == (int64_t)spill_field(reg))
			out->regs.r[reg] = t->action.save[reg];
	}
	return hot;
}

/* inc and add on [register + displacement], not on the thread's fields; the store of
 * emit_step_count. */
bool
walk_counts(const uint8_t *p, const struct st_insn *in)
{
	if (!in->modrm_off || in->flags & (ST_I_GSSEG | ST_I_RIPREL))
		return false;
	unsigned opcode = p[in->op_off], modrm = p[in->modrm_off];
	uint32_t disp = 1;
	if (opcode == STORE && modrm >> 6 == 2)
		memcpy(&disp, p + in->disp_off, 4);
	return !disp ||
	       ((opcode == INC || opcode == GROUP) && modrm >> 6 == 1 && (modrm >> 3 & 7) == 0);
}

/* The store after the count; a cost has none. */
void
walk_finish(struct thread *t, const uint8_t *p, const struct regs *machine, struct recovered *out)
{
	struct st_insn in;
	unsigned opcode = 0, reg = 0;
	if (!st_decode(p, 15, &in) || !in.modrm_off || p[in.op_off] != STORE)
		return;
	unsigned modrm = p[in.modrm_off], rex = in.flags & ST_I_REX ? p[in.rex_off] : 0u;
	int64_t field = field_of(p, &in, &opcode, &reg);
	uint64_t at = (uint64_t)t + (uint64_t)field;
	if (field < 0) {
		reg = (modrm >> 3 & 7) | (rex & 4) << 1;
		at = machine->r[(modrm & 7) | (rex & 1) << 3] +
		     (uint64_t)(int64_t)(int8_t)p[in.disp_off];
	}
	out->late[out->n_late++] = (struct late){(uint64_t *)at, machine->r[reg]};
}
