/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the program allocates, by the place that asks for it and by the call stack. An
 * allocation function that calls another (operator new, calloc of some libraries) counts once, at
 * its own caller. */
#include "tools/alloc.h"

enum { SITE_COUNT = 2, SITE_BYTES, SITE_LIVE, SITE_PEAK };
enum { COUNT = 1, BYTES, LIVE, PEAK };

STROBE_TABLE(sites, "allocations by the place that asked for them",
             STROBE_KEY("site", STROBE_ADDRESS), STROBE_KEY("line", STROBE_LINE),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER),
             STROBE_SUM("live", STROBE_NUMBER), STROBE_MAX("peak", STROBE_NUMBER));
STROBE_TABLE(totals, "all allocations", STROBE_KEY("what", STROBE_TEXT),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER),
             STROBE_SUM("live", STROBE_NUMBER), STROBE_MAX("peak", STROBE_NUMBER));

STROBE_TABLE(frames, "calls that led to allocations", STROBE_KEY("frame", STROBE_HEX),
             STROBE_KEY("parent", STROBE_HEX), STROBE_KEY("call", STROBE_ADDRESS),
             STROBE_SUM("processes", STROBE_NUMBER));
STROBE_TABLE(contexts, "allocations by all their callers", STROBE_KEY("frame", STROBE_HEX),
             STROBE_SUM("calls", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER),
             STROBE_SUM("live", STROBE_NUMBER), STROBE_SUM("blocks", STROBE_NUMBER),
             STROBE_SUM("peak", STROBE_NUMBER), STROBE_MAX("own_peak", STROBE_NUMBER),
             STROBE_SUM("short_lived", STROBE_NUMBER), STROBE_MAX("largest", STROBE_NUMBER));

enum {
	CONTEXT_CALLS = 1,
	CONTEXT_BYTES,
	CONTEXT_LIVE,
	CONTEXT_BLOCKS,
	CONTEXT_PEAK,
	CONTEXT_OWN,
	CONTEXT_SHORT,
	CONTEXT_LARGEST
};

enum kind { MALLOC, CALLOC, REALLOC, REALLOCARRAY, ALIGNED, POSIX_MEMALIGN, FREE };

/* Of each thread: the allocation under way, the outermost if they are nested. */
struct state {
	uint64_t kind, size, site, argument, sp;
	uint64_t depth;
	uint64_t last; /* the block that the thread allocated last; 0: none, or it was freed */
	struct alloc_path path;
};

/* A piece of memory, its site and its call stack, by address. */
static struct piece {
	uint64_t size, site;
	struct alloc_stack *stack; /* NULL: not recorded */
} * pieces;
static uint64_t n_pieces, first_free;
static strobe_map piece_of, live_of; /* by address: piece + 1; by site: bytes that are live */
static strobe_map stack_of;          /* by frame: struct alloc_stack, or 1 of other frames */
static struct alloc_stack *all_stacks;
static uint64_t live, most_live;
static uint64_t peaks; /* how many times more was live than ever before */
static int with_stacks;
static uint32_t lock;
enum { MOST_PIECES = 64 << 20 };

static void
begin(void)
{
	if (!pieces)
		pieces = strobe_allocate(MOST_PIECES * sizeof *pieces);
	piece_of = live_of = stack_of = (strobe_map){0};
	n_pieces = first_free = live = most_live = peaks = 0;
	all_stacks = NULL;
	with_stacks = strobe_option_number("stacks") != 0;
	lock = 0; /* another thread of the parent may have held it at the fork */
}

/* ---- call stacks ---- */

static void
add_of_stack(const struct alloc_stack *s, unsigned column, uint64_t amount)
{
	strobe_cell_add(strobe_cell_of(&contexts, column, s->frame), amount);
}

static void
raise_of_stack(const struct alloc_stack *s, unsigned column, uint64_t value)
{
	strobe_cell_max(strobe_cell_of(&contexts, column, s->frame), value);
}

static void
take_call(void *to, const strobe_activation *a)
{
	struct alloc_path *path = to;
	/* A call returns behind itself; what a signal interrupts goes on where it is. The innermost
	 * is at its first instruction. */
	const int exact = !path->n || path->interrupted;
	if (path->n < MOST_FRAMES)
		path->calls[path->n] = a->pc - !exact;
	path->n++;
	path->interrupted = a->handler;
}

/* The calls that are under way: the innermost MOST_FRAMES of them. */
static void
take_path(strobe_thread *t, struct alloc_path *path)
{
	path->n = path->interrupted = 0;
	path->cut = strobe_unwind(t, take_call, path) == STROBE_LOST;
	if (path->n > MOST_FRAMES) {
		path->n = MOST_FRAMES;
		path->cut = 1;
	}
}

/* The call stack of a path. NULL: no memory. */
static struct alloc_stack *
stack_at(const struct alloc_path *path)
{
	uint64_t frame = path->cut ? ALLOC_CUT : 0;
	for (unsigned i = path->n; i-- > 0;)
		frame = alloc_frame(frame, path->calls[i]);
	uint64_t *at = path->n ? strobe_map_at(&stack_of, frame) : NULL;
	if (!at)
		return NULL;
	if (*at > 1)
		return (struct alloc_stack *)(uintptr_t)*at;
	struct alloc_stack *s = strobe_allocate(sizeof *s);
	if (!s)
		return NULL;
	*s = (struct alloc_stack){.frame = frame, .next = all_stacks};
	all_stacks = s;
	*at = (uint64_t)(uintptr_t)s;
	frame = path->cut ? ALLOC_CUT : 0;
	for (unsigned i = path->n; i-- > 0;) {
		const uint64_t parent = frame;
		frame = alloc_frame(parent, path->calls[i]);
		uint64_t *known = strobe_map_at(&stack_of, frame);
		if (!known || (*known && i))
			continue;
		if (!*known)
			*known = 1;
		strobe_cell_add(strobe_cell_of(&frames, 3, frame, parent, path->calls[i]), 1);
	}
	return s;
}

/* Bytes of a stack are allocated, or freed (less than 0). */
static void
change_stack(struct alloc_stack *s, int64_t bytes, int64_t count)
{
	if (!s)
		return;
	if (s->peaks != peaks) { /* since the latest peak it is the first change */
		s->peaks = peaks;
		s->at_peak = s->live;
	}
	s->live += (uint64_t)bytes;
	add_of_stack(s, CONTEXT_LIVE, (uint64_t)bytes);
	add_of_stack(s, CONTEXT_BLOCKS, count ? 1 : ~0ull);
	if (!count)
		return;
	add_of_stack(s, CONTEXT_CALLS, 1);
	add_of_stack(s, CONTEXT_BYTES, (uint64_t)bytes);
	raise_of_stack(s, CONTEXT_OWN, s->live);
	raise_of_stack(s, CONTEXT_LARGEST, (uint64_t)bytes);
}

/* What each stack had when most was live. */
static void
end(strobe_thread *t)
{
	(void)t;
	strobe_lock(&lock);
	for (const struct alloc_stack *s = all_stacks; s; s = s->next)
		add_of_stack(s, CONTEXT_PEAK, s->peaks == peaks ? s->at_peak : s->live);
	strobe_unlock(&lock);
}

/* ---- blocks ---- */

static void
change(uint64_t site, struct alloc_stack *stack, int64_t bytes, int64_t count)
{
	const uint64_t all = strobe_text("all");
	uint64_t *at = strobe_map_at(&live_of, site);
	if (!at)
		return;
	*at += (uint64_t)bytes;
	live += (uint64_t)bytes;
	change_stack(stack, bytes, count);
	if (live > most_live) {
		most_live = live;
		peaks++;
	}
	strobe_cell_add(strobe_cell_of(&sites, SITE_LIVE, site, site), (uint64_t)bytes);
	strobe_cell_add(strobe_cell_of(&totals, LIVE, all), (uint64_t)bytes);
	if (!count)
		return;
	strobe_cell_add(strobe_cell_of(&sites, SITE_COUNT, site, site), 1);
	strobe_cell_add(strobe_cell_of(&sites, SITE_BYTES, site, site), (uint64_t)bytes);
	strobe_cell_max(strobe_cell_of(&sites, SITE_PEAK, site, site), *at);
	strobe_cell_add(strobe_cell_of(&totals, COUNT, all), 1);
	strobe_cell_add(strobe_cell_of(&totals, BYTES, all), (uint64_t)bytes);
	strobe_cell_max(strobe_cell_of(&totals, PEAK, all), live);
}

static void
forget(struct state *s, uint64_t address)
{
	const uint64_t *at = address ? strobe_map_find(&piece_of, address) : NULL;
	if (!at || !*at)
		return;
	uint64_t i = *at - 1;
	const struct piece *piece = &pieces[i];
	strobe_map_remove(&piece_of, address);
	if (piece->stack && s->last == address)
		add_of_stack(piece->stack, CONTEXT_SHORT, 1);
	change(piece->site, piece->stack, -(int64_t)piece->size, 0);
	pieces[i].size = first_free; /* a list of free ones */
	first_free = i + 1;
}

static void
remember(struct state *s, uint64_t address)
{
	forget(s, address); /* it was given back in a way that was not seen */
	uint64_t *at = strobe_map_at(&piece_of, address);
	uint64_t i = first_free ? first_free - 1 : n_pieces;
	if (!pieces || !at || i >= MOST_PIECES)
		return;
	if (first_free)
		first_free = pieces[i].size;
	else
		n_pieces++;
	*at = i + 1;
	pieces[i] = (struct piece){s->size, s->site, with_stacks ? stack_at(&s->path) : NULL};
	s->last = address;
	change(s->site, pieces[i].stack, (int64_t)s->size, 1);
}

/* values: kind, size, argument, return address, stack pointer */
static void
entered(strobe_thread *t, const uint64_t *values)
{
	struct state *s = strobe_state(t);
	if (!s)
		return;
	if (s->depth && values[4] >= s->sp)
		s->depth = 0; /* what was under way was left by a jump */
	if (values[0] == FREE) {
		if (s->depth)
			return;
		strobe_lock(&lock);
		forget(s, values[2]);
		strobe_unlock(&lock);
		return;
	}
	if (s->depth++)
		return;
	/* An address within the call. */
	s->kind = values[0];
	s->size = values[1];
	s->site = values[3] - 1;
	s->argument = values[2];
	s->sp = values[4];
	if (with_stacks)
		take_path(t, &s->path);
}

/* values: result */
static void
returned(strobe_thread *t, const uint64_t *values)
{
	struct state *s = strobe_state(t);
	uint64_t address = values[0];
	if (!s || !s->depth || --s->depth)
		return;
	if (s->kind == POSIX_MEMALIGN &&
	    (address != 0 || strobe_read(&address, s->argument, sizeof address)))
		return;
	strobe_lock(&lock);
	if ((s->kind == REALLOC || s->kind == REALLOCARRAY) && (address || !s->size))
		forget(s, s->argument);
	if (address)
		remember(s, address);
	strobe_unlock(&lock);
}

static const struct {
	const char *name;
	enum kind kind;
	unsigned size, argument; /* which argument they are; 9: none */
} known[] = {
        {"malloc", MALLOC, 0, 0},
        {"calloc", CALLOC, 0, 1},
        {"realloc", REALLOC, 1, 0},
        {"reallocarray", REALLOCARRAY, 1, 0},
        {"aligned_alloc", ALIGNED, 1, 0},
        {"memalign", ALIGNED, 1, 0},
        {"valloc", MALLOC, 0, 0},
        {"posix_memalign", POSIX_MEMALIGN, 2, 0},
        {"operator new", MALLOC, 0, 0},
        {"operator new[]", MALLOC, 0, 0},
        {"free", FREE, 0, 0},
        {"operator delete", FREE, 0, 0},
        {"operator delete[]", FREE, 0, 0},
};

static void
entered_calloc(strobe_thread *t, const uint64_t *values)
{
	const uint64_t as_malloc[5] = {CALLOC, values[0] * values[1], 0, values[2], values[3]};
	entered(t, as_malloc);
}

static void
entered_array(strobe_thread *t, const uint64_t *values)
{
	const uint64_t as_realloc[5] = {REALLOCARRAY, values[1] * values[2], values[0], values[3],
	                                values[4]};
	entered(t, as_realloc);
}

static void
on_function(strobe_function *f)
{
	unsigned i = 0, n = sizeof known / sizeof *known;
	while (i < n && !strobe_function_is(f, known[i].name))
		i++;
	if (i == n)
		return;
	strobe_operand caller = strobe_function_caller(f), sp = strobe_register_value(STROBE_RSP);
	if (known[i].kind == CALLOC)
		strobe_invoke(strobe_at(f), entered_calloc, strobe_function_argument(f, 0),
		              strobe_function_argument(f, 1), caller, sp);
	else if (known[i].kind == REALLOCARRAY)
		strobe_invoke(strobe_at(f), entered_array, strobe_function_argument(f, 0),
		              strobe_function_argument(f, 1), strobe_function_argument(f, 2),
		              caller, sp);
	else
		strobe_invoke(strobe_at(f), entered, strobe_constant(known[i].kind),
		              strobe_function_argument(f, known[i].size),
		              strobe_function_argument(f, known[i].argument), caller, sp);
	if (known[i].kind != FREE)
		strobe_invoke(strobe_at_return(f), returned, strobe_function_result(f));
}

STROBE_TOOL(alloc,
            .help = "count memory allocations by site and call stack, with bytes, live and peak",
            .options = {{"stacks", "1",
                         "1: record the call stack of each allocation; 0: only its site, which is "
                         "faster"}},
            .limits = {{"stacks", 0, 1}}, .function = on_function, .begin = begin, .end = end,
            .state = sizeof(struct state),
            .functions = "malloc calloc realloc reallocarray aligned_alloc memalign valloc "
                         "posix_memalign free _Znwm* _Znam* _ZdlPv* _ZdaPv*");
