/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What instrumentation costs, taken off the thread's budget as it is executed.
 *
 * Each instrumented basic block subtracts what its execution costs beyond native execution, before
 * anything else of it is executed, and is not begun when that was more than there was left. So a
 * thread never goes over its budget by more than one block. The amount is a model: instructions of
 * ours by their number, ends of blocks by their kind. docs/notes/budget-account.md says how
 * the constants were found.
 */
#include "rt/budget/adaptive.h"
#include "rt/budget/audit.h"
#include "rt/budget/suppress.h"
#include "rt/jit/action.h"
#include "rt/jit/spill.h"
#include "rt/jit/superblock.h"

/* In sixteenths of a tick. */
enum {
	COST_CHARGE = 13,     /* the subtraction and its branch */
	COST_SPILLED = 40,    /* the same where flags are live */
	COST_INSTRUCTION = 7, /* of the engine's or a tool's */
	COST_COUNTER = 9,     /* memory that is read and written */
	COST_RETURN = 75,
	COST_INDIRECT = 85,
	COST_CALL = 24,
	COST_EDGE = 28,   /* of a branch: its counted edge, half of the times */
	COST_TARGET = 90, /* the site that is stored, compared with and counted at the target */
};

/* The machine instructions [from, to) of the cache. */
static unsigned
machine_instructions(uint32_t from, uint32_t to)
{
	unsigned n = 0;
	struct st_insn in;
	for (; from < to && st_decode(cache_write(from), 15, &in); from += in.len)
		n++;
	return n;
}

static unsigned
cost_of_end(unsigned end)
{
	switch (end) {
	case ST_END_RETURN:
		return COST_RETURN;
	case ST_END_IJUMP:
	case ST_END_ICALL:
		return COST_INDIRECT;
	case ST_END_CALL:
		return COST_CALL;
	default:
		return 0;
	}
}

/* Of the fragment: what stands in it that is not the program's. */
static unsigned
cost_of_fragment(const struct block *b)
{
	unsigned cost = cost_of_end(b->end);
	uint32_t at = b->body;
	for (unsigned i = 0; i < b->n_records; i++) {
		const struct record *r = &jit.records[b->records + i];
		switch (record_kind(r)) {
		case REC_COUNT:
			cost += COST_COUNTER;
			break;
		case REC_COUNT_SPILL:
		case REC_SPILL:
		case REC_BEFORE:
		case REC_AFTER:
		case REC_SPACE:
			cost += COST_INSTRUCTION * machine_instructions(at, at + r->cache_len);
			break;
		default:
			break;
		}
		at += r->cache_len;
	}
	return cost;
}

unsigned
jit_actions_for_eight(uint32_t block)
{
	const struct block *b = &jit.blocks[block];
	bool ways = rt.code.counting && jit.edge_of[block];
	uint32_t at = b->body, n = ways ? COST_EDGE / COST_INSTRUCTION : 0;
	for (unsigned i = 0; i < b->n_records; i++) {
		const struct record *r = &jit.records[b->records + i];
		enum record_kind kind = record_kind(r);
		if (kind == REC_BEFORE || kind == REC_AFTER || kind == REC_SPACE)
			n += machine_instructions(at, at + r->cache_len);
		at += r->cache_len;
	}
	return b->n_insns ? 8 * n / b->n_insns : 0;
}

/* Of the branch at the end: what is counted on its way and where it goes to. */
static unsigned
cost_of_edges(const struct superblock *u)
{
	return (jit.edge_of[u->block] ? COST_EDGE : 0) + (u->site ? COST_TARGET : 0);
}

/* Another one than the block's before, so that the processor need not wait for that. */
static uint32_t
credit_field(const struct superblock *u)
{
	return (uint32_t)(offsetof(struct thread, budget.credits) +
	                  (1 + u->block % (ST_CREDITS - 1)) * sizeof(int64_t));
}

/* A thread whose part is used up leaves, unless the policy lets it go on to the dispatcher. */
static bool
leaves_at_once(void)
{
	return rt.results->plan.budget.policy != ST_BUDGET_CONDITIONAL;
}

/* rcx has been saved: gives it back, and leaves unless the byte is 0. */
static void
emit_leave_unless_zero(struct emit *e, uint32_t field, uint32_t exit)
{
	uint8_t *over = emit_jump_if_zero(e, field);
	emit_restore(e, RCX, spill_field(RCX));
	emit_jmp(e, cache_addr(jit_stub(exit)));
	over[-1] = (uint8_t)(e->p - over);
}

/* Where the processor's flags must be kept: through rcx. */
static void
emit_spilled(struct superblock *u, uint32_t exit)
{
	struct emit *e = &u->hot;
	uint32_t credit = credit_field(u);
	emit_save(e, RCX, spill_field(RCX));
	emit_restore(e, RCX, credit);
	e8(e, 0x48); /* lea rcx, [rcx - amount] */
	e8(e, 0x8d);
	e8(e, 0x89);
	u->charge = e->off;
	e32(e, 0);
	emit_save(e, RCX, credit);
	if (leaves_at_once())
		emit_leave_unless_zero(e, credit + 7, exit); /* its highest byte: not negative */
	emit_restore(e, RCX, spill_field(RCX));
}

/* Opcode and ModRM of an instruction with an immediate of that many bytes on a field. */
static void
emit_on_field(struct emit *e, unsigned opcode, unsigned extension, uint32_t field, unsigned bytes)
{
	e8(e, opcode);
	emit_field_operand(e, extension, field, bytes);
}

static void
emit_jcc_out(struct emit *e, unsigned opcode, uint32_t exit)
{
	e8(e, 0x0f);
	e8(e, opcode);
	erel(e, cache_addr(jit_stub(exit)), 0);
}

static void
emit_subtract(struct superblock *u, uint32_t exit)
{
	enum { SUB = 5, JS = 0x88 };
	struct emit *e = &u->hot;
	emit_field_prefixes(e);
	e8(e, 0x48); /* sub qword [credit], amount */
	emit_on_field(e, 0x81, SUB, credit_field(u), 4);
	u->charge = e->off;
	e32(e, 0);
	if (leaves_at_once())
		emit_jcc_out(e, JS, exit);
}

/* An event that tools see once costs nothing later except the engine's part of its end. */
bool
charge_wanted(const struct superblock *u)
{
	return !rt.budget.unique || cost_of_end(u->now->end);
}

void
emit_charge(struct superblock *u)
{
	uint32_t from = u->hot.off, exit = new_exit(EXIT_SPENT, TO_SELF, u->block);
	bool dead = !jit_flags_read(u->now);
	if (dead)
		emit_subtract(u, exit);
	else
		emit_spilled(u, exit);
	add_record(u, REC_SPACE, 0, from);
	u->charge_added = !dead;
	u->charged = dead ? COST_CHARGE : COST_SPILLED;
	u->charge_exit = exit;
	u->charged_insns = 0;
}

/* The comparison where the processor's flags must be kept: through rcx, of 16 bits, because lea and
 * jrcxz tell but whether they are equal. */
static void
emit_often_spilled(struct emit *e, uint32_t count, uint32_t limit, uint32_t exit)
{
	enum { JRCXZ = 0xe3, JMP_SHORT = 0xeb };
	emit_save(e, RCX, spill_field(RCX));
	emit_field_prefixes(e);
	e8(e, 0x0f); /* movzx ecx, word [count] */
	e8(e, 0xb7);
	emit_field_operand(e, RCX, count, 0);
	e8(e, 0x48); /* lea rcx, [rcx - limit] */
	e8(e, 0x8d);
	e8(e, 0x89);
	e32(e, 0 - (limit & 0xffff));
	e8(e, JRCXZ);
	e8(e, 2);
	e8(e, JMP_SHORT);
	e8(e, 0);
	uint8_t *over = e->p;
	emit_restore(e, RCX, spill_field(RCX));
	emit_jmp(e, cache_addr(jit_stub(exit)));
	over[-1] = (uint8_t)(e->p - over);
	emit_restore(e, RCX, spill_field(RCX));
}

void
emit_often(struct superblock *u)
{
	enum { CMP = 7, JGE = 0x8d };
	struct emit *e = &u->hot;
	uint32_t from = e->off, count = counter_field(u->id), limit = adaptive_limit(u->id);
	uint32_t exit = new_exit(EXIT_OFTEN, TO_SELF, u->block);
	bool dead = !jit_flags_read(u->now);
	if (dead) {
		emit_field_prefixes(e);
		e8(e, 0x48); /* cmp qword [count], limit */
		emit_on_field(e, 0x81, CMP, count, 4);
		e32(e, limit);
		emit_jcc_out(e, JGE, exit);
	} else {
		emit_often_spilled(e, count, limit, exit);
	}
	add_record(u, REC_SPACE, 0, from);
}

/* Leaves by the exit if the byte is not 0. */
static void
emit_leave_if(struct superblock *u, uint32_t field, uint32_t exit)
{
	enum { CMP = 7, JNE = 0x85 };
	struct emit *e = &u->hot;
	if (!jit_flags_read(u->now)) {
		emit_field_prefixes(e);
		emit_on_field(e, 0x80, CMP, field, 1); /* cmp byte [field], 0 */
		e8(e, 0);
		emit_jcc_out(e, JNE, exit);
	} else {
		emit_save(e, RCX, spill_field(RCX));
		emit_leave_unless_zero(e, field, exit);
		emit_restore(e, RCX, spill_field(RCX));
	}
}

void
emit_look_back(struct superblock *u)
{
	uint32_t from = u->hot.off;
	if (rt.results->plan.budget.policy != ST_BUDGET_TRACE)
		return;
	emit_leave_if(u, offsetof(struct thread, budget.regained),
	              new_exit(EXIT_SPENT, TO_SELF, u->block));
	add_record(u, REC_SPACE, 0, from);
}

/* Most threads that come here go on. */
void
emit_suppress_stop(struct superblock *u, unsigned stop)
{
	enum { CMP_WITH = 0x3b, JA = 0x87 };
	struct emit *e = &u->hot;
	uint32_t from = e->off, exit = new_exit(EXIT_SUPPRESSED, TO_SELF, u->block);
	if (stop == SUPPRESS_RETURNS && !jit_flags_read(u->now)) {
		emit_field(e, CMP_WITH, RSP, offsetof(struct thread, budget.suppressed.above));
		emit_jcc_out(e, JA, exit);
	} else {
		emit_leave_if(u, offsetof(struct thread, budget.suppressed.on), exit);
	}
	jit.exits[exit].next = e->off;
	jit.exits[exit].cause = stop & 31;
	add_record(u, REC_SPACE, 0, from);
}

/* Returns the factor, in sixteenths, by which the same instructions cost more when the code no
 * longer fits into the processor's caches and predictors. */
static unsigned
cost_of_spread(void)
{
	enum { SMALL = 1 << 20, STEP = 512 << 10, MOST_STEPS = 8 };
	unsigned steps = jit.hot > SMALL ? (jit.hot - SMALL) / STEP : 0;
	return 16 + (steps < MOST_STEPS ? steps : MOST_STEPS);
}

void
charge_end(struct superblock *u)
{
	const struct block *b = &jit.blocks[u->block];
	if (!u->charge)
		return;
	/* A block of several fragments is charged in its first one. */
	u->charged += (cost_of_fragment(b) + cost_of_edges(u)) * cost_of_spread() / 16;
	uint32_t amount = u->charge_added ? 0 - u->charged : u->charged;
	memcpy(cache_write(u->charge), &amount, 4);
	u->charged_insns += b->n_insns;
	jit.exits[u->charge_exit].next = audit_pack(u->charged, u->charged_insns);
	if (!(u->now->more))
		u->charge = 0;
}
