/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/jit/action.h"
#include "rt/jit/spill.h"
#include "rt/jit/superblock.h"

struct invokes invokes;

/* ---- conditions ---- */

/* A jump of which the rel32 is to be filled in. */
static uint8_t *
emit_forward(struct emit *e, unsigned opcode)
{
	if (opcode > 0xff)
		e8(e, opcode >> 8);
	e8(e, opcode & 0xff);
	e32(e, 0);
	return e->p - 4;
}

static void
land(const struct emit *e, uint8_t *rel)
{
	uint32_t distance = (uint32_t)(e->p - (rel + 4));
	memcpy(rel, &distance, 4);
}

static const uint8_t condition_codes[] = {
        [STROBE_EQUAL] = 4, [STROBE_NOT_EQUAL] = 5, [STROBE_BELOW] = 2,      [STROBE_NOT_BELOW] = 3,
        [STROBE_ABOVE] = 7, [STROBE_NOT_ABOVE] = 6, [STROBE_SHARES_BITS] = 5};

/* Where to go when the condition does not hold: to fill in. */
static uint8_t *
emit_condition(struct seq *s, const struct condition *c)
{
	struct emit *e = s->e;
	bool relation = c->kind == CONDITION_RELATION;
	if (c->kind == CONDITION_RETURNS) {
		spill_register(s, RCX);
		emit_restore(e, RCX, offsetof(struct thread, returns_at));
		emit_sum(e, RCX, RSP, RCX);
		e8(e, 0xe3); /* jrcxz over the jump */
		e8(e, 5);
		return emit_forward(e, 0xe9);
	}
	if (!relation && s->in->cls == ST_C_JCC) {
		unsigned cc = s->in->cond ^ (c->kind == CONDITION_TAKEN);
		return emit_forward(e, 0x0f80 | cc);
	}
	static const strobe_operand taken = {OPERAND_TAKEN, 0, 0}, one = {OPERAND_CONSTANT, 0, 1};
	unsigned x = scratch_register(s, 0), y = scratch_register(s, 1u << x);
	s->avoid |= (uint16_t)(1u << x | 1u << y);
	emit_operand(s, x, relation ? &c->is.a : &taken);
	emit_operand(s, y, relation ? &c->is.b : &one);
	save_flags(s);
	s->flags_dirty = true;
	rex_rr(e, true, y, x);
	e8(e, relation && c->is.relation == STROBE_SHARES_BITS ? 0x85 : 0x39);
	e8(e, 0xc0 | (y & 7) << 3 | (x & 7));
	unsigned cc = relation                     ? condition_codes[c->is.relation]
	              : c->kind == CONDITION_TAKEN ? 4u
	                                           : 5u;
	return emit_forward(e, 0x0f80 | (cc ^ 1));
}

/* Those that a condition narrows come first: whether a branch is taken is told by flags that the
 * others' comparisons change. Returns how many jumps are to be filled in. */
static unsigned
emit_conditions(struct seq *s, const struct condition *c, uint8_t *over[STROBE_MOST_CONDITIONS])
{
	const struct condition *before = condition_before(c);
	const unsigned n = before ? emit_conditions(s, before, over) : 0;
	const uint16_t avoid = s->avoid;
	over[n] = emit_condition(s, c);
	if (c->narrows)
		s->avoid = avoid; /* what it compared is not needed any more */
	return n + 1;
}

static void
land_all(const struct emit *e, uint8_t *const *over, unsigned n)
{
	while (n-- > 0)
		land(e, over[n]);
}

/* ---- actions ---- */

static void
emit_inc(struct seq *s, uint32_t id)
{
	struct emit *e = s->e;
	if (s->live && !s->flags_saved) {
		unsigned r = scratch_register(s, 0);
		emit_restore(e, r, counter_field(id));
		emit_lea_disp(e, r, r, 1);
		emit_save(e, r, counter_field(id));
		return;
	}
	emit_increment(e, counter_field(id));
}

/* sum += the operand: the last instruction does it. */
static void
emit_add(struct seq *s, unsigned sum, const strobe_operand *o)
{
	unsigned reg;
	int32_t disp = 0;
	if (!operand_is_plain(s->in, seq_code(s), s->after, o, &reg, &disp)) {
		reg = scratch_register(s, 1u << sum);
		s->avoid |= (uint16_t)(1u << sum | 1u << reg);
		emit_operand(s, reg, o);
		disp = 0;
	}
	emit_sum_disp(s->e, sum, reg, sum, disp);
}

static void
emit_sum_field(struct seq *s, uint32_t id, const strobe_operand *o)
{
	struct emit *e = s->e;
	unsigned sum = reserve_holding(&s->reserved, counter_field(id));
	if (sum != NOT_RESERVED) {
		emit_add(s, sum, o);
		return;
	}
	sum = scratch_register(s, 0);
	if (!s->live || s->flags_saved) {
		emit_operand(s, sum, o);
		emit_field(e, 0x01, sum, counter_field(id)); /* add [field], sum */
		return;
	}
	emit_restore(e, sum, counter_field(id));
	emit_add(s, sum, o);
	emit_save(e, sum, counter_field(id));
}

/* The register says where the next row goes. */
static void
emit_advance(struct seq *s, unsigned p)
{
	if (s->reserved.advance[p])
		emit_lea_disp(s->e, p, p, s->reserved.advance[p]);
	s->reserved.advance[p] = 0;
}

/* mov qword [p + disp], tag */
static void
emit_tag(struct emit *e, unsigned p, int32_t disp, const struct action *a)
{
	rex_rr(e, true, 0, p);
	e8(e, 0xc7);
	emit_modrm_disp(e, 0, p, disp);
	e32(e, a->id << 4 | a->n);
}

/* A register has the address of the row. The tag is written last: it says that the row is complete.
 */
static void
emit_reserved_row(struct seq *s, const struct action *a, unsigned p)
{
	struct emit *e = s->e;
	int32_t at = s->reserved.advance[p], disp;
	unsigned reg;
	for (unsigned i = 0; i < a->n; i++) {
		const strobe_operand *o = &a->operand[i];
		if (!operand_is_plain(s->in, seq_code(s), s->after, o, &reg, &disp) || disp) {
			reg = scratch_register(s, 0);
			uint16_t avoid = s->avoid;
			s->avoid |= (uint16_t)(1u << reg);
			emit_operand(s, reg, o);
			s->avoid = avoid;
		}
		emit_store(e, p, at + 8 + 8 * (int32_t)i, reg);
	}
	emit_tag(e, p, at, a);
	s->reserved.advance[p] = at + 8 + 8 * a->n;
	/* Whether it was made is not known after it, so the register says where it is. */
	if (a->condition)
		emit_advance(s, p);
}

static void
emit_row(struct seq *s, const struct action *a)
{
	struct emit *e = s->e;
	uint32_t fill = counter_field(ST_STREAM_ID(a->stream));
	unsigned pin = reserve_holding(&s->reserved, fill);
	if (pin != NOT_RESERVED) {
		emit_reserved_row(s, a, pin);
		return;
	}
	unsigned p = scratch_register(s, 0), v = a->n ? scratch_register(s, 1u << p) : p;
	emit_restore(e, p, fill);
	emit_tag(e, p, 0, a);
	for (unsigned i = 0; i < a->n; i++) {
		s->avoid |= (uint16_t)(1u << p | 1u << v);
		emit_operand(s, v, &a->operand[i]);
		emit_store(e, p, 8 + 8 * (int32_t)i, v);
	}
	emit_lea_disp(e, p, p, 8 + 8 * a->n);
	emit_save(e, p, fill);
}

static void
emit_invoke(struct seq *s, const struct action *a)
{
	unsigned v = a->n ? scratch_register(s, 0) : 0;
	s->avoid |= (uint16_t)(a->n ? 1u << v : 0);
	for (unsigned i = 0; i < a->n; i++) {
		emit_operand(s, v, &a->operand[i]);
		emit_save(s->e, v, (uint32_t)(offsetof(struct thread, action.values) + 8 * i));
	}
}

uint16_t
action_registers(const struct build *b, const struct action *a)
{
	const struct st_insn *in = &b->insn[a->insn];
	const uint8_t *code = program_code(b->pc + b->at[a->insn]);
	uint16_t set = 1u << RSP;
	for (unsigned i = 0; i < a->n; i++)
		set |= operand_registers(in, code, &a->operand[i]);
	const struct condition *c = a->condition ? &asked.conditions[a->condition - 1] : NULL;
	for (; c; c = condition_before(c)) {
		if (c->kind == CONDITION_RELATION)
			set |= operand_registers(in, code, &c->is.a) |
			       operand_registers(in, code, &c->is.b);
		else if (in->cls == ST_C_LOOP)
			set |= 1u << RCX;
	}
	return set;
}

bool
action_works(const struct build *b, const struct action *a)
{
	const struct st_insn *in = &b->insn[a->insn];
	const uint8_t *code = program_code(b->pc + b->at[a->insn]);
	unsigned reg;
	int32_t disp = 0;
	for (unsigned i = 0; i < a->n; i++)
		if (!operand_is_plain(in, code, a->after, &a->operand[i], &reg, &disp) ||
		    (disp && a->kind == ACTION_RECORD))
			return true;
	return false;
}

static void
emit_work(struct seq *s, const struct action *a)
{
	switch ((enum action_kind)a->kind) {
	case ACTION_COUNTER:
		emit_inc(s, a->id);
		break;
	case ACTION_ADD:
		emit_sum_field(s, a->id, &a->operand[0]);
		break;
	case ACTION_RECORD:
		emit_row(s, a);
		break;
	case ACTION_INVOKE:
		emit_invoke(s, a);
		break;
	case ACTION_TIME:
		walk_emit_time(s);
		break;
	case ACTION_COST:
		walk_emit_cost(s, a);
		break;
	default:
		break;
	}
}

/* Both paths to the end must have saved the same registers. A condition that needs registers comes
 * after all saves, so the sequence is written twice: the first time to learn what it saves. */
static void
emit_all(struct seq *s, const struct action *a, uint32_t call, uint16_t saves, bool flags)
{
	struct emit *e = s->e;
	const struct condition *c = a->condition ? &asked.conditions[a->condition - 1] : NULL;
	bool plain = c && !c->narrows && c->kind <= CONDITION_NOT_TAKEN && s->in->cls == ST_C_JCC;
	uint8_t *over[STROBE_MOST_CONDITIONS];
	unsigned n = 0;
	if (c && a->kind == ACTION_RECORD) {
		unsigned p = reserve_holding(&s->reserved, counter_field(ST_STREAM_ID(a->stream)));
		if (p != NOT_RESERVED)
			emit_advance(s, p);
	}
	if (plain)
		n = emit_conditions(s, c, over);
	for (unsigned r = 0; r < 16; r++)
		if (saves >> r & 1)
			spill_register(s, r);
	if (flags)
		save_flags(s);
	if (c && !plain)
		n = emit_conditions(s, c, over);
	emit_work(s, a);
	if (a->kind == ACTION_INVOKE) {
		restore_all(s);
		emit_set_exit(e, call);
		emit_jmp(e, (uint64_t)rt_stub_call);
		if (n && !plain) {
			land_all(e, over, n);
			restore_all(s);
		}
	} else {
		if (!plain)
			land_all(e, over, n);
		restore_all(s);
	}
	if (plain)
		land_all(e, over, n);
}

bool
action_emit(struct emit *e, const struct build *b, const struct action *a, uint8_t flags_live,
            uint32_t call, struct reserved *reserved)
{
	struct seq first = {.e = e,
	                    .in = &b->insn[a->insn],
	                    .pc = b->pc + b->at[a->insn],
	                    .live = flags_live,
	                    .after = a->after,
	                    .reserved = *reserved};
	first.avoid = action_registers(b, a);
	struct seq s = first;
	struct emit begin = *e;
	if (a->kind == ACTION_WALK)
		walk_emit(&s, b, a, call);
	else
		emit_all(&s, a, call, 0, false);
	if (a->condition) {
		uint16_t saves = s.saved;
		bool flags = s.flags_saved;
		*e = begin;
		s = first;
		emit_all(&s, a, call, saves, flags);
	}
	if (e->off - begin.off <= MAX_ACTION_CODE) {
		*reserved = s.reserved;
		return true;
	}
	*e = begin;
	if (a->kind != ACTION_WALK)
		return false;
	walk_emit_call(e, call);
	return true;
}

/* ---- recovery ---- */

static uint64_t
flags_from(uint64_t kept, uint64_t rflags)
{
	enum { OF = 0x800, LOW = 0xd5 };
	uint64_t low = kept >> 8 & LOW;
	return (rflags & ~(uint64_t)(OF | LOW)) | low | (kept & 1 ? OF : 0);
}

bool
action_recover(struct thread *t, struct reserved *reserved, uint32_t start, uint32_t at,
               struct recovered *out)
{
	const uint8_t *p = cache_write(start), *end = p + at;
	const struct regs machine = out->regs;
	struct regs *regs = &out->regs;
	bool done = reserve_follow(reserved, p, end, false), counted = false;
	struct st_insn in;
	while (p < end && st_decode(p, 15, &in)) {
		unsigned opcode = 0, reg = 0;
		int64_t field = field_of(p, &in, &opcode, &reg);
		counted = walk_counts(p, &in);
		if ((field >= ST_THREAD_PRIVATE && opcode != 0x8b && opcode != 0x3b) || counted ||
		    (opcode == 0x89 &&
		     field == (int64_t)offsetof(struct thread, contexts.walk.top)))
			done = true;
		if (opcode == 0x89 && field == (int64_t)spill_field(reg))
			regs->r[reg] = t->action.save[reg];
		if (opcode == 0x89 && field == (int64_t)offsetof(struct thread, action.flags))
			regs->rflags = flags_from(t->action.flags, regs->rflags);
		/* After a jump nothing has been done: those before the count lead out, the one
		 * after it is over what leaves the step to the tool. */
		if (in.cls == ST_C_JMP)
			done = false;
		p += in.len;
	}
	if (counted)
		walk_finish(t, p, &machine, out);
	return done;
}
