/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the program allocates, by the place that asks for it. An allocation function that
 * calls another (operator new, calloc of some libraries) counts once, at its own caller. */
#include <strobe/tool.h>

enum { SITE_COUNT = 2, SITE_BYTES, SITE_LIVE, SITE_PEAK };
enum { COUNT = 1, BYTES, LIVE, PEAK };

STROBE_TABLE(sites, "allocations by the place that asked for them",
             STROBE_KEY("site", STROBE_ADDRESS), STROBE_KEY("line", STROBE_LINE),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER),
             STROBE_SUM("live", STROBE_NUMBER), STROBE_MAX("peak", STROBE_NUMBER));
STROBE_TABLE(totals, "all allocations", STROBE_KEY("what", STROBE_TEXT),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER),
             STROBE_SUM("live", STROBE_NUMBER), STROBE_MAX("peak", STROBE_NUMBER));

enum kind { MALLOC, CALLOC, REALLOC, REALLOCARRAY, ALIGNED, POSIX_MEMALIGN, FREE };

/* Of each thread: the allocation under way, the outermost if they are nested. */
struct state {
	uint64_t kind, size, site, argument, sp;
	uint64_t depth;
};

/* A piece of memory and a site, by address. */
static struct piece {
	uint64_t size, site;
} * pieces;
static uint64_t n_pieces, first_free;
static strobe_map piece_of, live_of; /* by address: piece + 1; by site: bytes that are live */
static uint64_t live;
static uint32_t lock;
enum { MOST_PIECES = 64 << 20 };

static void
begin(void)
{
	if (!pieces)
		pieces = strobe_allocate(MOST_PIECES * sizeof *pieces);
	piece_of = live_of = (strobe_map){0};
	n_pieces = first_free = live = 0;
	lock = 0; /* another thread of the parent may have held it at the fork */
}

static void
change(uint64_t site, uint64_t all, int64_t bytes, int64_t count)
{
	uint64_t *at = strobe_map_at(&live_of, site);
	if (!at)
		return;
	*at += (uint64_t)bytes;
	live += (uint64_t)bytes;
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
forget(uint64_t address)
{
	const uint64_t *at = address ? strobe_map_find(&piece_of, address) : NULL;
	if (!at || !*at)
		return;
	uint64_t i = *at - 1;
	strobe_map_remove(&piece_of, address);
	change(pieces[i].site, strobe_text("all"), -(int64_t)pieces[i].size, 0);
	pieces[i].size = first_free; /* a list of free ones */
	first_free = i + 1;
}

static void
remember(uint64_t address, uint64_t size, uint64_t site)
{
	forget(address); /* it was given back in a way that was not seen */
	uint64_t *at = strobe_map_at(&piece_of, address);
	uint64_t i = first_free ? first_free - 1 : n_pieces;
	if (!pieces || !at || i >= MOST_PIECES)
		return;
	if (first_free)
		first_free = pieces[i].size;
	else
		n_pieces++;
	pieces[i] = (struct piece){size, site};
	*at = i + 1;
	change(site, strobe_text("all"), (int64_t)size, 1);
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
		forget(values[2]);
		strobe_unlock(&lock);
		return;
	}
	if (s->depth++)
		return;
	/* An address within the call. */
	*s = (struct state){values[0], values[1], values[3] - 1, values[2], values[4], 1};
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
		forget(s->argument);
	if (address)
		remember(address, s->size, s->site);
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

STROBE_TOOL(alloc, .help = "count memory allocations by site, with bytes, live and peak",
            .function = on_function, .begin = begin, .state = sizeof(struct state),
            .functions = "malloc calloc realloc reallocarray aligned_alloc memalign valloc "
                         "posix_memalign free _Znwm* _Znam* _ZdlPv* _ZdaPv*");
