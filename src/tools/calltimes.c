/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run time of functions, for `strobe trace`: a time stamp at each entry and each return.
 *
 * Times are net of what measuring costs. Of an activation there are four time stamps: when the tool
 * is called at the entry (entry) and leaves (begin), when it is called at the return (end) and
 * leaves. The activation has taken begin to end, less what measuring has cost below it, and what
 * the engine has needed meanwhile. Its caller has not spent what lies between the first and the
 * last.
 *
 * An activation is known by the stack pointer it was entered with, where its return address lies.
 * What longjmp or an exception leaves lies below the stack pointer that they set. Such an
 * activation has no time, because its return is not seen: it is counted as lost, and what it has
 * spent is charged to nobody. What is under way when the thread ends has lasted until then.
 */
#include "tools/cells.h"
#include "tools/grow.h"
#include "tools/traced.h"

enum { CALLS = 2, INCLUSIVE, OUTERMOST, EXCLUSIVE, SHORTEST, LONGEST, LOST };
STROBE_TABLE(functions, "run time of functions", STROBE_KEY("thread", STROBE_THREAD),
             STROBE_KEY("function", STROBE_FUNCTION), STROBE_SUM("calls", STROBE_NUMBER),
             STROBE_SUM("inclusive", STROBE_TICKS), STROBE_SUM("outermost", STROBE_TICKS),
             STROBE_SUM("exclusive", STROBE_TICKS), STROBE_MIN("shortest", STROBE_TICKS),
             STROBE_MAX("longest", STROBE_TICKS), STROBE_SUM("lost", STROBE_NUMBER));

enum { PAIR_CALLS = 3, PAIR_INCLUSIVE, PAIR_OUTERMOST };
STROBE_TABLE(pairs, "run time by caller and callee", STROBE_KEY("thread", STROBE_THREAD),
             STROBE_KEY("caller", STROBE_FUNCTION), STROBE_KEY("callee", STROBE_FUNCTION),
             STROBE_SUM("calls", STROBE_NUMBER), STROBE_SUM("inclusive", STROBE_TICKS),
             STROBE_SUM("outermost", STROBE_TICKS));

enum { DURATION_CALLS = 3 };
STROBE_TABLE(durations, "how many calls took how long", STROBE_KEY("thread", STROBE_THREAD),
             STROBE_KEY("function", STROBE_FUNCTION), STROBE_KEY("from", STROBE_TICKS),
             STROBE_SUM("calls", STROBE_NUMBER));

STROBE_STREAM(events, "entries and returns", NULL, STROBE_COLUMN("thread", STROBE_THREAD),
              STROBE_COLUMN("time", STROBE_TICKS), STROBE_COLUMN("event", STROBE_TEXT),
              STROBE_COLUMN("function", STROBE_FUNCTION), STROBE_COLUMN("depth", STROBE_NUMBER));

/* Durations fall into classes: 2^CLASS_BITS of equal width from each power of two to the next, so
 * that the middle of a class is within 1.6 % of each duration in it. */
enum { CLASS_BITS = 5, CLASSES = 1 << CLASS_BITS, OCTAVES = 65 - CLASS_BITS };

/* The measurements of a function by a thread. */
struct cell {
	uint64_t function;
	uint64_t *row;           /* of `functions`, from its first column on */
	uint64_t innermost;      /* index + 1 of the frame of its innermost activation; 0: none */
	int is_scope;            /* of the option `main` */
	const struct cell *from; /* the caller of the pair that was used last; NULL: none was */
	uint64_t *pair;          /* its row of `pairs` */
	struct octave {
		uint64_t *rows[CLASSES]; /* of `durations`; NULL: none is known */
	} * octaves[OCTAVES];
};

struct frame {
	struct cell *cell;
	uint64_t sp;           /* where the return address lies */
	uint64_t entry, begin; /* ticks */
	uint64_t callees;      /* ticks between the entries and returns of what it has called */
	uint64_t measuring;    /* of these: ticks that measuring has cost, and the engine */
	uint64_t engine;       /* strobe_engine_ticks at the entry, */
	uint64_t engine_below; /* and of them those of what it has called */
	uint64_t around;       /* index + 1 of the frame of the same function around it; 0: none */
	uint64_t within; /* inclusive ticks of activations of the function that it is around */
};

struct state {
	strobe_map cells, pairs;
	struct frame *frames;
	uint64_t depth, room;
};

static uint64_t most_depth;
static int records, chooses, own;
static const char *excluded, *scope; /* the options `exclude` and `main`; NULL: not given */
static uint32_t running;             /* activations of `scope`. Atomic */
static uint64_t text_entry, text_return;

/* ---- rows ---- */

static struct cell *
new_cell(strobe_thread *t, uint64_t function)
{
	struct cell *c = strobe_allocate(sizeof *c);
	if (!c)
		return NULL;
	c->function = function;
	c->row = strobe_row_numbers(
	        strobe_cell_of(&functions, CALLS, strobe_thread_number(t), function));
	return c;
}

static struct cell *
cell_of(strobe_thread *t, struct state *s, uint64_t function)
{
	uint64_t *at = strobe_map_at(&s->cells, function);
	if (at && !*at)
		*at = (uint64_t)new_cell(t, function);
	return at ? (struct cell *)*at : NULL;
}

static uint64_t *
pair_of(strobe_thread *t, struct state *s, const struct cell *caller, struct cell *callee)
{
	if (callee->pair && callee->from == caller)
		return callee->pair;
	/* Cells are multiples of 8, and far fewer than could meet in such a key. */
	uint64_t key = ((uint64_t)caller * 0x9e3779b97f4a7c15u ^ (uint64_t)callee) | 1;
	uint64_t *at = strobe_map_at(&s->pairs, key);
	if (!at)
		return NULL;
	if (!*at)
		*at = (uint64_t)strobe_row_numbers(
		        strobe_cell_of(&pairs, PAIR_CALLS, strobe_thread_number(t),
		                       caller ? caller->function : 0, callee->function));
	callee->from = caller;
	callee->pair = (uint64_t *)*at;
	return callee->pair;
}

/* The row of `durations` for one class. */
static uint64_t *
duration_of(strobe_thread *t, struct cell *c, uint64_t ticks)
{
	/* Durations below CLASSES are classes of their own. */
	unsigned octave = 0;
	if (ticks >= CLASSES)
		octave = 64u - (unsigned)__builtin_clzll(ticks) - CLASS_BITS;
	unsigned shift = octave ? octave - 1 : 0;
	if (!c->octaves[octave])
		c->octaves[octave] = strobe_allocate(sizeof *c->octaves[octave]);
	if (!c->octaves[octave])
		return NULL;
	uint64_t **row = &c->octaves[octave]->rows[(ticks >> shift) % CLASSES];
	if (!*row)
		*row = strobe_row_numbers(strobe_cell_of(&durations, DURATION_CALLS,
		                                         strobe_thread_number(t), c->function,
		                                         ticks >> shift << shift));
	return *row;
}

/* ---- activations ---- */

static struct frame *
push(struct state *s)
{
	if (s->depth == s->room && !TOOLS_GROW(s->frames, s->depth, s->room, 2 * s->room + 64))
		return NULL;
	return &s->frames[s->depth++];
}

static void
record(strobe_thread *t, const struct state *s, uint64_t ticks, uint64_t text, uint64_t function)
{
	const uint64_t row[STROBE_MOST_COLUMNS] = {strobe_thread_number(t), ticks, text, function,
	                                           s->depth};
	if (records)
		strobe_write(t, &events, row);
}

/* The innermost activation is no longer under way. */
static struct cell *
pop(struct state *s)
{
	const struct frame *f = &s->frames[--s->depth];
	struct cell *c = f->cell;
	c->innermost = f->around;
	if (c->is_scope)
		__atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
	return c;
}

/* Of the function `c`, ticks that count once, however many of its activations are around them: when
 * one of these returns it has them all, and when none does they are a total of their own. */
static void
count_outermost(struct state *s, struct cell *c, uint64_t ticks)
{
	if (c->innermost)
		s->frames[c->innermost - 1].within += ticks;
	else
		c->row[OUTERMOST] += ticks;
}

/* The innermost activation is over: it is no part of what has called it. */
static void
take_from_caller(strobe_thread *t, struct state *s, const struct frame *f, uint64_t inclusive)
{
	if (!s->depth)
		return;
	struct frame *above = &s->frames[s->depth - 1];
	uint64_t whole = strobe_ticks() - f->entry;
	above->callees += whole;
	above->measuring += whole - inclusive;
	above->engine_below += strobe_engine_ticks(t) - f->engine;
}

/* The innermost activation has been left without a return. */
static void
lose(strobe_thread *t, struct state *s)
{
	const struct frame f = s->frames[s->depth - 1];
	uint64_t engine = strobe_engine_ticks(t) - f.engine - f.engine_below;
	uint64_t lasted = strobe_ticks() - f.begin - engine - f.measuring;
	struct cell *c = pop(s);
	c->row[LOST]++;
	count_outermost(s, c, f.within);
	take_from_caller(t, s, &f, lasted);
}

/* Drops the activations below the stack pointer. */
static void
leave_below(strobe_thread *t, struct state *s, uint64_t sp)
{
	while (s->depth && s->frames[s->depth - 1].sp < sp)
		lose(t, s);
}

static void
enter(strobe_thread *t, const uint64_t *values, int is_scope)
{
	uint64_t entry = strobe_ticks();
	struct state *s = strobe_state(t);
	if (!s)
		return;
	leave_below(t, s, values[1]);
	struct cell *c = s->depth < most_depth ? cell_of(t, s, values[0]) : NULL;
	/* A jump from the function to its own first instruction is no call. */
	const struct frame *top = s->depth ? &s->frames[s->depth - 1] : NULL;
	if (!c || (top && top->sp == values[1] && top->cell == c))
		return;
	struct frame *f = push(s);
	if (!f)
		return;
	*f = (struct frame){.cell = c,
	                    .sp = values[1],
	                    .entry = entry,
	                    .engine = strobe_engine_ticks(t),
	                    .around = c->innermost};
	c->innermost = s->depth;
	c->is_scope = is_scope;
	if (is_scope)
		__atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
	record(t, s, entry, text_entry, c->function);
	f->begin = strobe_ticks();
}

/* values: function, stack pointer */
static void
entered(strobe_thread *t, const uint64_t *values)
{
	if (!scope || __atomic_load_n(&running, __ATOMIC_RELAXED))
		enter(t, values, 0);
}

/* The same of the function of the option `main`. */
static void
opens(strobe_thread *t, const uint64_t *values)
{
	enter(t, values, 1);
}

static void
count_pair(strobe_thread *t, struct state *s, struct cell *c, uint64_t inclusive)
{
	const struct frame *above = s->depth ? &s->frames[s->depth - 1] : NULL;
	uint64_t *row = pair_of(t, s, above ? above->cell : NULL, c);
	if (!row)
		return;
	row[PAIR_CALLS]++;
	row[PAIR_INCLUSIVE] += inclusive;
	if (!c->innermost)
		row[PAIR_OUTERMOST] += inclusive;
}

/* The innermost activation ends at `end`. */
static void
leave(strobe_thread *t, struct state *s, uint64_t end)
{
	const struct frame f = s->frames[s->depth - 1];
	struct cell *c = f.cell;
	uint64_t engine = strobe_engine_ticks(t) - f.engine - f.engine_below;
	uint64_t took = end - f.begin - engine;
	uint64_t inclusive = took - f.measuring;
	record(t, s, end, text_return, c->function);
	pop(s);
	c->row[CALLS]++;
	c->row[INCLUSIVE] += inclusive;
	count_outermost(s, c, inclusive);
	c->row[EXCLUSIVE] += took - f.callees;
	if (!c->row[SHORTEST] || inclusive < c->row[SHORTEST])
		c->row[SHORTEST] = inclusive ? inclusive : 1;
	if (inclusive > c->row[LONGEST])
		c->row[LONGEST] = inclusive;
	uint64_t *duration = duration_of(t, c, inclusive);
	if (duration)
		duration[DURATION_CALLS]++;
	count_pair(t, s, c, inclusive);
	take_from_caller(t, s, &f, inclusive);
}

/* values: function, stack pointer */
static void
returned(strobe_thread *t, const uint64_t *values)
{
	uint64_t end = strobe_ticks();
	struct state *s = strobe_state(t);
	if (!s)
		return;
	leave_below(t, s, values[1]);
	const struct frame *top = s->depth ? &s->frames[s->depth - 1] : NULL;
	if (top && top->sp == values[1] && top->cell->function == values[0])
		leave(t, s, end);
}

/* values: the stack pointer, which has been set to something else than it was. */
static void
landed(strobe_thread *t, const uint64_t *values)
{
	struct state *s = strobe_state(t);
	if (s)
		leave_below(t, s, values[0]);
}

/* ---- what happens ---- */

static int
is_traced(const strobe_function *f)
{
	const char *name = strobe_function_name(f);
	if (scope && strobe_function_is(f, scope))
		return 1;
	if (chooses && !strobe_is_chosen(strobe_function_address(f)))
		return 0;
	return !traced_is_excluded(excluded, name) && !traced_is_no_function(name) &&
	       !(own && traced_is_of_compiler(name));
}

static void
on_function(strobe_function *f)
{
	if (is_traced(f))
		strobe_enter_and_return(f, scope && strobe_function_is(f, scope) ? opens : entered,
		                        returned);
}

static void
on_insn(strobe_insn *i)
{
	if (strobe_insn_lands(i))
		strobe_invoke(strobe_behind(i), landed, strobe_register_value(STROBE_RSP));
}

static void
on_end(strobe_thread *t)
{
	struct state *s = strobe_state(t);
	while (s && s->depth)
		leave(t, s, strobe_ticks());
}

/* What has happened meanwhile is not known: neither what was left, nor for how long. */
static void
on_gap(strobe_thread *t, uint64_t from)
{
	struct state *s = strobe_state(t);
	(void)from;
	while (s && s->depth)
		lose(t, s);
}

static void
begin(void)
{
	uint64_t depth = strobe_option_number("depth");
	most_depth = depth ? depth : UINT64_MAX;
	records = strobe_option_number("events") != 0;
	chooses = strobe_option_number("chosen") != 0;
	own = strobe_option_number("own") != 0;
	excluded = strobe_option_text("exclude");
	scope = strobe_option_text("main");
	scope = scope && *scope ? scope : NULL;
	running = 0;
	text_entry = strobe_text("entry");
	text_return = strobe_text("return");
}

STROBE_TOOL(calltimes, .help = "time the calls of functions", .function = on_function,
            .insn = on_insn, .thread_end = on_end, .end = on_end, .gap = on_gap, .begin = begin,
            .state = sizeof(struct state),
            .options = {{"events", "0", "record each entry and return, too"},
                        {"depth", "0", "time calls nested at most so deep; 0: all"},
                        {"chosen", "0", "time the functions of --funcs and --images only"},
                        {"exclude", "",
                         "do not time these functions: patterns with semicolons between them"},
                        {"main", "", "time calls only while this function runs in some thread"},
                        {"own", "0", "leave out functions that the compiler adds"}},
            .limits = {{"events", 0, 1}, {"depth", 0, 1000000}, {"chosen", 0, 1}, {"own", 0, 1}});
