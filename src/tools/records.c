/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of calls, for strobe annotate: the data that a call works on, its instructions, and what
 * the branches of its own code did. The probes of strobe annotate (rt/probe/record.c) are faster
 * and know neither instructions nor branches.
 *
 * The rows of a call are written together when it returns, so that the controller need not put
 * together what belongs to it.
 */
#include <strobe/tool.h>

#include "tools/cells.h"
#include "tools/grow.h"
#include "tools/records.h"
#include "wire/record.h"

STROBE_COUNTER(recorded_instructions, "instructions executed");
STROBE_COUNTER(recorded_blocks, "basic blocks executed");

static void write_totals(strobe_thread *t);
STROBE_STREAM(records, "parts of the records of calls, for strobe annotate", NULL,
              STROBE_COLUMN("part", STROBE_NUMBER), STROBE_COLUMN("function", STROBE_NUMBER),
              STROBE_COLUMN("call", STROBE_NUMBER), STROBE_COLUMN("a", STROBE_HEX),
              STROBE_COLUMN("b", STROBE_HEX), STROBE_COLUMN("c", STROBE_HEX),
              STROBE_COLUMN("d", STROBE_HEX), STROBE_COLUMN("e", STROBE_HEX),
              STROBE_COLUMN("f", STROBE_HEX), STROBE_COLUMN("g", STROBE_HEX));

/* ---- functions ---- */

/* A branch of the function's own code. */
struct branch {
	uint64_t address, next, to; /* to: 0 of an indirect jump */
};

struct target {
	const struct st_record_plan *plan;
	struct target *next;
	uint64_t calls, opened, ended; /* atomic; the last two: calls that are to be kept */
	struct branch *branches;
	uint32_t n_branches;
};

static strobe_map targets; /* by address of the function: struct target */
static struct target *first_target;
static uint32_t guard;
static int with_branches, with_blocks;

static void
begin(void)
{
	targets = (strobe_map){0};
	first_target = NULL;
	guard = 0;
	with_branches = strobe_option_number("branches") != 0;
	with_blocks = strobe_option_number("blocks") != 0;
}

/* NULL: the controller has said nothing of the function, or there is no memory. A thread that is
 * attached inside a function executes branches of it before a call enters it. */
static struct target *
target_of(uint64_t function)
{
	const struct st_record_plan *plan = strobe_function_data(function);
	struct target *found = NULL;
	if (!plan)
		return NULL;
	strobe_lock(&guard);
	uint64_t *at = strobe_map_at(&targets, function);
	if (at && !*at) {
		struct target *t = strobe_allocate(sizeof *t);
		if (t) {
			*t = (struct target){.plan = plan, .next = first_target};
			first_target = t;
		}
		*at = (uint64_t)(uintptr_t)t;
	}
	if (at)
		found = (struct target *)(uintptr_t)*at;
	strobe_unlock(&guard);
	return found;
}

/* The number of a branch in its function; RECORDS_MOST_BRANCHES: there are too many. */
static uint32_t
number_of_branch(struct target *t, const strobe_branch *b)
{
	const struct branch new = {strobe_branch_address(b), strobe_branch_next(b),
	                           strobe_branch_to(b)};
	uint32_t i = 0;
	strobe_lock(&guard);
	if (!t->branches)
		t->branches = strobe_allocate(RECORDS_MOST_BRANCHES * sizeof *t->branches);
	while (t->branches && i < t->n_branches && t->branches[i].address != new.address)
		i++;
	if (!t->branches)
		i = RECORDS_MOST_BRANCHES;
	if (i == t->n_branches && i < RECORDS_MOST_BRANCHES) {
		t->branches[i] = new;
		t->n_branches++;
	}
	strobe_unlock(&guard);
	return i;
}

/* ---- calls under way ---- */

/* Outcomes of one branch in one call: the first runs of equal ones in order; then only how many
 * there were. */
struct outcomes {
	uint64_t n;
	uint64_t outcome[RECORDS_RUNS], times[RECORDS_RUNS];
	uint64_t rest[2]; /* of a conditional branch by outcome; of an indirect jump all in [0] */
};

/* The data of a call whose record the reservoir keeps. */
struct kept {
	struct kept *next; /* of those that are not used */
	uint64_t absent[ST_RECORD_MOST_KEPT / 64];
	uint64_t values[ST_RECORD_MOST_KEPT];
	struct outcomes *outcomes;
	uint32_t n_outcomes, room;
};

/* Numbers of what a thread has executed. */
struct counts {
	uint64_t instructions, blocks, syscalls;
};

struct frame {
	struct target *target;
	uint64_t sp, serial, place, ticks, engine;
	struct counts before;
	struct kept *kept; /* NULL: the call is not kept */
};

struct state {
	struct frame *frames;
	uint64_t depth, room;
	struct kept *spare;
	struct st_record_scratch *scratch;
	uint64_t syscalls;
};

static struct counts
counts_of(strobe_thread *t, const struct state *s)
{
	return (struct counts){strobe_own_count(t, &recorded_instructions),
	                       with_blocks ? strobe_own_count(t, &recorded_blocks) : 0,
	                       s->syscalls};
}

static struct frame *
push(struct state *s)
{
	if (s->depth == s->room && !TOOLS_GROW(s->frames, s->depth, s->room, 2 * s->room + 64))
		return NULL;
	return &s->frames[s->depth++];
}

static void
pop(struct state *s)
{
	struct kept *k = s->frames[--s->depth].kept;
	if (!k)
		return;
	k->next = s->spare;
	s->spare = k;
}

static struct kept *
take_kept(struct state *s)
{
	struct kept *k = s->spare;
	if (!k)
		return strobe_allocate(sizeof *k);
	s->spare = k->next;
	for (uint32_t i = 0; i < k->n_outcomes; i++)
		k->outcomes[i].n = k->outcomes[i].rest[0] = k->outcomes[i].rest[1] = 0;
	k->n_outcomes = 0;
	return k;
}

static void
read_data(strobe_thread *t, struct state *s, const struct st_record_plan *plan, struct kept *k)
{
	uint32_t n = 0;
	if (!s->scratch)
		s->scratch = strobe_allocate(sizeof *s->scratch);
	for (uint32_t i = 0; i < ST_RECORD_MOST_KEPT / 64; i++)
		k->absent[i] = 0;
	if (!s->scratch)
		return;
	strobe_run_ops(t, s->scratch, plan->ops, plan->n_ops);
	for (uint32_t i = 0; i < plan->n_ops && n < plan->n_kept; i++) {
		if (!plan->ops[i].kept)
			continue;
		k->values[n] = s->scratch->values[i];
		k->absent[n / 64] |= (uint64_t)s->scratch->absent[i] << n % 64;
		n++;
	}
}

/* Drops the calls that were left by longjmp or an exception. */
static void
leave_below(struct state *s, uint64_t sp)
{
	while (s->depth && s->frames[s->depth - 1].sp < sp)
		pop(s);
}

/* The stack pointer, values[0], has been set. */
static void
landed(strobe_thread *t, const uint64_t *values)
{
	struct state *s = strobe_state(t);
	if (s)
		leave_below(s, values[0]);
}

/* A call begins. values: the function's struct target, and the stack pointer. */
static void
entered(strobe_thread *t, const uint64_t *values)
{
	struct target *target = (struct target *)(uintptr_t)values[0];
	struct state *s = strobe_state(t);
	const uint64_t sp = values[1];
	if (!s)
		return;
	leave_below(s, sp);
	/* A function that has jumped to another one has the same stack pointer as that. */
	while (s->depth && s->frames[s->depth - 1].sp == sp &&
	       s->frames[s->depth - 1].target == target)
		pop(s);
	struct frame *f = push(s);
	if (!f)
		return;
	*f = (struct frame){.target = target, .sp = sp};
	f->serial = __atomic_add_fetch(&target->calls, 1, __ATOMIC_RELAXED);
	f->place = record_choose_row(target->plan->seed, target->plan->keep, f->serial);
	if (f->place >= target->plan->keep)
		return;
	f->kept = take_kept(s);
	if (!f->kept)
		return;
	__atomic_add_fetch(&target->opened, 1, __ATOMIC_RELAXED);
	read_data(t, s, target->plan, f->kept);
	f->before = counts_of(t, s);
	f->engine = strobe_engine_ticks(t);
	f->ticks = strobe_ticks();
}

static struct outcomes *
outcomes_at(struct kept *k, uint32_t number, uint32_t of)
{
	if (number >= k->room &&
	    !TOOLS_GROW(k->outcomes, k->n_outcomes, k->room, of < 8 ? 8 : 2 * of))
		return NULL;
	if (number >= k->n_outcomes)
		k->n_outcomes = number + 1;
	return &k->outcomes[number];
}

/* A branch is executed. values: the function's struct target, the branch's number, and whether it
 * is taken, or where it jumps to. */
static void
branched(strobe_thread *t, const uint64_t *values)
{
	const struct state *s = strobe_state(t);
	const struct frame *f = s && s->depth ? &s->frames[s->depth - 1] : NULL;
	if (!f || !f->kept || f->target != (struct target *)(uintptr_t)values[0])
		return;
	const uint32_t number = (uint32_t)values[1];
	struct outcomes *o = outcomes_at(f->kept, number, f->target->n_branches);
	if (!o)
		return;
	if (o->n && o->outcome[o->n - 1] == values[2] && !o->rest[0] && !o->rest[1]) {
		o->times[o->n - 1]++;
	} else if (o->n < RECORDS_RUNS) {
		o->outcome[o->n] = values[2];
		o->times[o->n++] = 1;
	} else {
		o->rest[f->target->branches[number].to ? values[2] & 1 : 0]++;
	}
}

/* ---- rows ---- */

static void
write_values(strobe_thread *t, const struct frame *f)
{
	const uint32_t n = f->target->plan->n_kept;
	for (uint32_t from = 0; from < n; from += RECORDS_VALUES) {
		uint64_t row[STROBE_MOST_COLUMNS] = {RECORDS_PART_VALUES, f->target->plan->index,
		                                     f->serial, from, 0};
		for (uint32_t i = from; i < n && i < from + RECORDS_VALUES; i++) {
			row[4] |= (f->kept->absent[i / 64] >> i % 64 & 1) << (i - from);
			row[5 + i - from] = f->kept->values[i];
		}
		strobe_write(t, &records, row);
	}
}

static void
write_outcome(strobe_thread *t, const struct frame *f, uint32_t number, uint64_t outcome,
              uint64_t times, enum records_order order)
{
	const struct branch *b = &f->target->branches[number];
	const uint64_t row[STROBE_MOST_COLUMNS] = {RECORDS_PART_OUTCOME,
	                                           f->target->plan->index,
	                                           f->serial,
	                                           b->address,
	                                           b->next,
	                                           b->to,
	                                           outcome,
	                                           times,
	                                           order};
	strobe_write(t, &records, row);
}

static void
write_outcomes(strobe_thread *t, const struct frame *f)
{
	for (uint32_t i = 0; i < f->kept->n_outcomes; i++) {
		const struct outcomes *o = &f->kept->outcomes[i];
		const int indirect = !f->target->branches[i].to;
		for (uint64_t k = 0; k < o->n; k++)
			write_outcome(t, f, i, o->outcome[k], o->times[k], RECORDS_IN_ORDER);
		for (uint64_t k = 0; k < 2; k++)
			if (o->rest[k])
				write_outcome(t, f, i, k, o->rest[k],
				              indirect ? RECORDS_NOT_KNOWN : RECORDS_IN_NO_ORDER);
	}
}

/* The function has returned. */
static void
write_call(strobe_thread *t, const struct frame *f, uint64_t ticks, const struct counts *now)
{
	const uint64_t row[STROBE_MOST_COLUMNS] = {RECORDS_PART_END,
	                                           f->target->plan->index,
	                                           f->serial,
	                                           f->place,
	                                           ticks - f->ticks -
	                                                   (strobe_engine_ticks(t) - f->engine),
	                                           now->instructions - f->before.instructions,
	                                           strobe_thread_id(t),
	                                           now->blocks - f->before.blocks,
	                                           now->syscalls - f->before.syscalls};
	__atomic_add_fetch(&f->target->ended, 1, __ATOMIC_RELAXED);
	write_values(t, f);
	write_outcomes(t, f);
	strobe_write(t, &records, row);
}

/* A call returns. values: as of entered. */
static void
returned(strobe_thread *t, const uint64_t *values)
{
	const uint64_t ticks = strobe_ticks();
	struct state *s = strobe_state(t);
	const struct target *target = (const struct target *)(uintptr_t)values[0];
	uint64_t i = s ? s->depth : 0;
	while (i && (s->frames[i - 1].sp != values[1] || s->frames[i - 1].target != target))
		i--;
	if (!i)
		return;
	const struct counts now = counts_of(t, s);
	while (s->depth > i)
		pop(s);
	const struct frame f = s->frames[i - 1];
	if (f.kept)
		write_call(t, &f, ticks, &now);
	pop(s);
}

static void
write_totals(strobe_thread *t)
{
	for (const struct target *target = first_target; target; target = target->next) {
		const uint64_t row[STROBE_MOST_COLUMNS] = {
		        RECORDS_PART_TOTALS,
		        target->plan->index,
		        0,
		        __atomic_load_n(&target->calls, __ATOMIC_RELAXED),
		        __atomic_load_n(&target->opened, __ATOMIC_RELAXED),
		        __atomic_load_n(&target->ended, __ATOMIC_RELAXED)};
		strobe_write(t, &records, row);
	}
}

/* Calls under way are not known as a whole. */
static void
on_gap(strobe_thread *t, uint64_t from)
{
	struct state *s = strobe_state(t);
	(void)from;
	while (s && s->depth)
		pop(s);
}

/* ---- code ---- */

static void
on_function(strobe_function *f)
{
	struct target *target = target_of(strobe_function_address(f));
	if (!target)
		return;
	const strobe_operand self = strobe_constant((uint64_t)(uintptr_t)target);
	strobe_invoke(strobe_at(f), entered, self, strobe_register_value(STROBE_RSP));
	strobe_invoke(strobe_at_return(f), returned, self, strobe_register_value(STROBE_RSP));
}

static void
on_block(strobe_block *b)
{
	strobe_count_own(strobe_at(b), &recorded_instructions, strobe_block_length(b));
	if (with_blocks)
		strobe_count_own(strobe_at(b), &recorded_blocks, 1);
}

static void
before_syscall(strobe_thread *t, const strobe_syscall *call)
{
	struct state *s = strobe_state(t);
	(void)call;
	if (s)
		s->syscalls++;
}

static void
on_insn(strobe_insn *i)
{
	if (strobe_insn_lands(i))
		strobe_invoke(strobe_behind(i), landed, strobe_register_value(STROBE_RSP));
}

static void
on_branch(strobe_branch *b)
{
	const enum strobe_branch_kind kind = strobe_branch_kind(b);
	if (!with_branches || (kind != STROBE_CONDITIONAL && kind != STROBE_INDIRECT_JUMP))
		return;
	const uint64_t function = strobe_function_at(strobe_branch_address(b));
	struct target *target = function ? target_of(function) : NULL;
	const uint32_t number = target ? number_of_branch(target, b) : RECORDS_MOST_BRANCHES;
	if (number < RECORDS_MOST_BRANCHES)
		strobe_invoke(strobe_at(b), branched, strobe_constant((uint64_t)(uintptr_t)target),
		              strobe_constant(number),
		              kind == STROBE_CONDITIONAL ? strobe_branch_taken(b)
		                                         : strobe_branch_target(b));
}

STROBE_TOOL(records, .help = "record data, instructions and branches of calls, for strobe annotate",
            .function = on_function, .block = on_block, .insn = on_insn, .branch = on_branch,
            .begin = begin, .end = write_totals, .gap = on_gap, .syscall_before = before_syscall,
            .state = sizeof(struct state),
            .options = {{"branches", "0", "record the outcomes of the functions' branches"},
                        {"blocks", "0", "count basic blocks"}},
            .limits = {{"branches", 0, 1}, {"blocks", 0, 1}});
