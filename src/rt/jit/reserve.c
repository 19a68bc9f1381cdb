/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/jit/reserve.h"
#include "rt/jit/action.h"
#include "rt/jit/spill.h"

unsigned
reserve_holding(const struct reserved *reserved, uint32_t field)
{
	for (unsigned r = 0; r < 16; r++)
		if ((reserved->holds >> r & 1) && reserved->field[r] == field)
			return r;
	return NOT_RESERVED;
}

/* ---- planning ---- */

/* rsp is never free, and flags go through rax. Registers that callees may change come first: what
 * follows is least likely to wait for them. */
static const uint8_t pool[] = {R11, R10, R9, R8, RDI, RSI, RDX, RBX, R15, R14, R12, RBP, R13, RCX};

/* A live range in the making. */
struct draft {
	uint16_t named; /* registers that something in it names */
	uint16_t to;    /* after its last action that uses a field that is held */
	bool works;     /* some action needs a register that holds nothing */
	uint8_t n;
	struct {
		bool row;
		uint32_t id;
		uint64_t cell;
	} held[MAX_HELD];
};

static uint16_t
pool_without(uint16_t named)
{
	return (uint16_t) ~(named | 1u << RSP | 1u << RAX);
}

static bool
field_is_kept(const struct action *a)
{
	return a->kind == ACTION_RECORD || a->kind == ACTION_ADD;
}

/* The one of the draft's fields that the action is about; n: none. */
static unsigned
find_held(const struct draft *d, const struct action *a)
{
	bool row = a->kind == ACTION_RECORD;
	unsigned i = 0;
	for (; i < d->n; i++)
		if (row == d->held[i].row &&
		    (row ? d->held[i].id == ST_STREAM_ID(a->stream) : d->held[i].cell == a->cell))
			break;
	return i;
}

static void
hold_field(struct draft *d, const struct action *a)
{
	unsigned i = find_held(d, a);
	if (i < d->n || d->n == MAX_HELD)
		return;
	bool row = a->kind == ACTION_RECORD;
	d->held[i].row = row;
	d->held[i].id = row ? ST_STREAM_ID(a->stream) : a->id;
	d->held[i].cell = a->cell;
	d->n++;
}

/* Must no register be spilled across it? A call needs all of the program's; one that names too
 * many leaves too few to work with. */
static bool
stands_apart(const struct action *a, uint16_t named)
{
	enum { MOST = 7 };
	return action_calls(a) || a->kind >= ACTION_TIME || count_bits(named) > MOST ||
	       (a->condition && asked.conditions[a->condition - 1].kind == CONDITION_RETURNS);
}

static bool
extend_by_action(struct draft *d, const struct build *b, const struct action *a, unsigned position)
{
	uint16_t named = action_registers(b, a);
	if (stands_apart(a, named))
		return false;
	d->named |= named;
	if (!field_is_kept(a) || a->condition)
		return true;
	hold_field(d, a);
	d->works |= action_works(b, a);
	d->to = (uint16_t)(position + 1);
	return true;
}

/* The draft goes on over the position, if it can. */
static bool
extend_draft(struct draft *d, const struct build *b, unsigned position)
{
	uint32_t i = position / 2;
	bool after = position & 1;
	const struct st_insn *in = &b->insn[i];
	if (after) {
		if (in->cls != ST_C_NORMAL || jit_is_foreign(in, program_code(b->pc + b->at[i])))
			return false;
		d->named |= in->gpr_read | in->gpr_written;
	}
	for (unsigned k = asked.first[i]; k < asked.n_actions && asked.actions[k].insn == i; k++)
		if (asked.actions[k].after == after &&
		    !extend_by_action(d, b, &asked.actions[k], position))
			return false;
	return count_bits(pool_without(d->named)) >= (unsigned)d->n + d->works;
}

/* The longest live range from there on; its `to` is 0 when there is none. */
static struct draft
longest(const struct build *b, unsigned from)
{
	struct draft d = {0}, best = d;
	for (unsigned p = from; p < 2u * b->n && extend_draft(&d, b, p); p++) {
		if (!d.to)
			break; /* it begins with an action */
		if (d.to == p + 1)
			best = d;
	}
	return best;
}

/* Sums of one cell go to one of their counters. */
static void
unite_sums(const struct draft *d, unsigned from)
{
	for (unsigned k = 0; k < asked.n_actions; k++) {
		struct action *a = &asked.actions[k];
		unsigned position = 2u * a->insn + a->after;
		if (a->kind != ACTION_ADD || position < from || position >= d->to)
			continue;
		unsigned i = find_held(d, a);
		if (i < d->n)
			a->id = d->held[i].id;
	}
}

static void
choose_reserved(struct live_range *s, const struct draft *d, bool rcx)
{
	uint16_t free = pool_without(d->named);
	if (d->works && rcx && (free >> RCX & 1)) {
		s->work = 1u << RCX;
		free &= (uint16_t) ~(1u << RCX);
	}
	unsigned k = 0;
	for (unsigned i = 0; i < d->n; i++) {
		while (!(free >> pool[k] & 1))
			k++;
		s->reg[i] = pool[k++];
		s->field[i] = counter_field(d->held[i].id);
	}
	if (!d->works || s->work)
		return;
	while (!(free >> pool[k] & 1))
		k++;
	s->work = (uint16_t)(1u << pool[k]);
}

/* Is rcx left alone up to the position? */
static bool
leaves_rcx(const struct build *b, unsigned position)
{
	for (unsigned p = 0; p < position; p++) {
		struct draft d = {0};
		if (!extend_draft(&d, b, p) || (d.named >> RCX & 1))
			return false;
	}
	return true;
}

void
reserve_plan(struct plan *plan, const struct build *b)
{
	plan->n = plan->next = 0;
	plan->open = plan->keeps_rcx = false;
	if (!asked.n_actions)
		return;
	for (unsigned p = 0; p < 2u * b->n && plan->n < MAX_LIVE_RANGES;) {
		struct draft d = longest(b, p);
		if (!d.to) {
			p++;
			continue;
		}
		struct live_range *s = &plan->list[plan->n];
		bool rcx = plan->n == 0 && asked.streams && leaves_rcx(b, p);
		*s = (struct live_range){.from = (uint16_t)p, .to = d.to, .n = d.n};
		choose_reserved(s, &d, rcx);
		plan->keeps_rcx |= rcx && s->work == 1u << RCX;
		unite_sums(&d, p);
		plan->n++;
		p = d.to;
	}
}

/* ---- writing ---- */

static void
open_live_range(const struct live_range *s, struct reserved *reserved, struct emit *e)
{
	uint16_t all = s->work;
	for (unsigned i = 0; i < s->n; i++)
		all |= (uint16_t)(1u << s->reg[i]);
	for (unsigned r = 0; r < 16; r++)
		if ((all & ~reserved->saved) >> r & 1)
			emit_save(e, r, spill_field(r));
	for (unsigned i = 0; i < s->n; i++) {
		emit_restore(e, s->reg[i], s->field[i]);
		reserved->field[s->reg[i]] = s->field[i];
		reserved->advance[s->reg[i]] = 0;
		reserved->holds |= (uint16_t)(1u << s->reg[i]);
	}
	reserved->saved |= all;
}

static void
close_live_range(struct reserved *reserved, struct emit *e)
{
	for (unsigned r = 0; r < 16; r++) {
		if (!(reserved->holds >> r & 1))
			continue;
		if (reserved->advance[r])
			emit_lea_disp(e, r, r, reserved->advance[r]);
		emit_save(e, r, reserved->field[r]);
	}
	for (unsigned r = 0; r < 16; r++)
		if (reserved->saved >> r & 1)
			emit_restore(e, r, spill_field(r));
	reserved->saved = reserved->holds = 0;
}

static bool
opens_at(const struct plan *plan, unsigned position)
{
	return !plan->open && plan->next < plan->n && plan->list[plan->next].from == position;
}

static bool
closes_at(const struct plan *plan, unsigned position)
{
	return plan->open && plan->list[plan->next].to == position;
}

bool
reserve_changes_at(const struct plan *plan, unsigned position)
{
	return closes_at(plan, position) || opens_at(plan, position);
}

void
reserve_write_at(struct plan *plan, struct reserved *reserved, struct emit *e, unsigned position)
{
	if (closes_at(plan, position)) {
		close_live_range(reserved, e);
		plan->open = false;
		plan->next++;
	}
	if (opens_at(plan, position)) {
		open_live_range(&plan->list[plan->next], reserved, e);
		plan->open = true;
	}
}

/* ---- reading ---- */

static bool
is_fill(uint32_t field)
{
	return field >= counter_field(ST_STREAM_ID(0)) &&
	       field < counter_field(ST_STREAM_ID(ST_MAX_STREAMS));
}

/* mov qword [reg + disp], tag: a row is complete. */
static bool
follow_row(struct reserved *reserved, const uint8_t *p, const struct st_insn *in)
{
	unsigned base = p[in->modrm_off] & 7;
	if (in->flags & ST_I_REX)
		base |= (p[in->rex_off] & 1u) << 3;
	if (p[in->modrm_off] >> 6 == 0 || !(reserved->holds >> base & 1))
		return false;
	int32_t disp = (int8_t)p[in->disp_off];
	uint32_t tag;
	if (in->disp_len == 4)
		memcpy(&disp, p + in->disp_off, 4);
	memcpy(&tag, p + in->imm_off, 4);
	reserved->advance[base] = disp + 8 + 8 * (int32_t)(tag & 15);
	return true;
}

static void
follow_field(struct reserved *reserved, unsigned opcode, unsigned reg, uint32_t field)
{
	uint16_t bit = (uint16_t)(1u << reg);
	bool saved = field == spill_field(reg), held = field >= ST_THREAD_PRIVATE;
	if (opcode == 0x89 && saved) {
		reserved->saved |= bit;
	} else if (opcode == 0x8b && saved) {
		reserved->saved &= (uint16_t)~bit;
	} else if (opcode == 0x89 && held) {
		reserved->holds &= (uint16_t)~bit;
	} else if (opcode == 0x8b && held) {
		reserved->holds |= bit;
		reserved->field[reg] = field;
		reserved->advance[reg] = 0;
	}
}

static bool
follow_one(struct reserved *reserved, const uint8_t *p, const struct st_insn *in, bool setup)
{
	unsigned opcode = p[in->op_off], reg = 0;
	if (!in->modrm_off)
		return false;
	int64_t field = field_of(p, in, &opcode, &reg);
	if (setup && field >= 0) {
		follow_field(reserved, opcode, reg, (uint32_t)field);
		return false;
	}
	if (opcode == 0xc7)
		return !setup && follow_row(reserved, p, in);
	reg = (p[in->modrm_off] >> 3 & 7) | (in->flags & ST_I_REX ? (p[in->rex_off] & 4u) << 1 : 0);
	if (opcode != 0x8d || !(reserved->holds >> reg & 1))
		return false;
	reserved->advance[reg] = 0;
	return !is_fill(reserved->field[reg]);
}

bool
reserve_follow(struct reserved *reserved, const uint8_t *start, const uint8_t *end, bool setup)
{
	struct reserved branch = *reserved;
	struct st_insn in;
	bool done = false;
	for (const uint8_t *p = start; p < end && st_decode(p, 15, &in); p += in.len) {
		done |= follow_one(reserved, p, &in, setup);
		/* Jumps over the code that leaves the cache during a check for space. */
		if (setup && in.cls == ST_C_LOOP)
			branch = *reserved;
		if (setup && in.cls == ST_C_JMP)
			*reserved = branch;
	}
	return done;
}

void
reserve_recover(const struct reserved *reserved, struct thread *t, struct recovered *out)
{
	for (unsigned r = 0; r < 16; r++) {
		if (!(reserved->saved >> r & 1))
			continue;
		if (reserved->holds >> r & 1)
			out->late[out->n_late++] = (struct late){
			        (uint64_t *)((char *)t + reserved->field[r]),
			        out->regs.r[r] + (uint64_t)(int64_t)reserved->advance[r]};
		out->regs.r[r] = t->action.save[r];
	}
}
