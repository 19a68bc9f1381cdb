/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A data-cache simulator: caches of its own for each thread, LRU, write-allocate. */
#include <strobe/tool.h>

enum { MOST_BYTES = 1 << 30, MOST_WAYS = 1 << 16 };
enum { LOADS = 1, LOAD_MISSES, STORES, STORE_MISSES, L2_MISSES };
#define COLUMNS                                                                                    \
	STROBE_SUM("loads", STROBE_NUMBER), STROBE_SUM("load_misses", STROBE_NUMBER),              \
	        STROBE_SUM("stores", STROBE_NUMBER), STROBE_SUM("store_misses", STROBE_NUMBER),    \
	        STROBE_SUM("l2_misses", STROBE_NUMBER)
STROBE_TABLE(cache_functions, "data cache by function", STROBE_KEY("function", STROBE_FUNCTION),
             COLUMNS);
STROBE_TABLE(cache_lines, "data cache by line", STROBE_KEY("line", STROBE_LINE), COLUMNS);
STROBE_TABLE(cache, "data cache in all", STROBE_KEY("kind", STROBE_TEXT),
             STROBE_SUM("accesses", STROBE_NUMBER), STROBE_SUM("misses", STROBE_NUMBER),
             STROBE_SUM("l2_misses", STROBE_NUMBER));

/* A level; lines are told by their first bytes' addresses. Of each set the one that was used last,
 * and the `others`, the most recently used first. */
struct level {
	uint64_t *newest, *lines, mask, others;
};
/* Effects of the accesses of one instruction besides counts. */
struct place {
	uint64_t misses, l2_misses;
	uint64_t instruction;
	uint32_t last; /* bytes from the first to the last */
	uint8_t kind, writes;
};
enum { NEW, FIXED, VARIES };
/* The places by site; of each, in arrays of their own because every access needs them and a cache
 * holds little: how often it accessed, and its room. An access whose first byte lies less than that
 * behind a line's first is within the line; 0: this site is not so simple. */
struct state {
	struct level l1, l2;
	uint64_t *accesses;
	uint16_t *room;
	struct place *places;
	uint64_t n_places;
	int used; /* by a thread that lives */
	struct state *next;
};

static uint64_t line_bits, size, ways, l2_size, l2_ways;
static struct state *states;
static uint32_t lock;

static void consume(strobe_thread *t, const strobe_rows *rows);
enum { INSTRUCTION, WRITES, ADDRESS, BYTES };
STROBE_STREAM(accesses, "memory accesses", consume, STROBE_COLUMN("instruction", STROBE_ADDRESS),
              STROBE_COLUMN("writes", STROBE_NUMBER), STROBE_COLUMN("address", STROBE_HEX),
              STROBE_COLUMN("bytes", STROBE_NUMBER));

/* A line that is not the newest of its set becomes that; 1 when it was not there and another has
 * gone.
 */
static inline int
moves_in(const struct level *l, uint64_t line, uint64_t bits)
{
	uint64_t set = line >> bits & l->mask, moved = l->newest[set];
	uint64_t *other = l->lines + set * l->others, *end = other + l->others;
	l->newest[set] = line;
	for (; other < end; other++) {
		uint64_t was = *other;
		*other = moved;
		if (was == line)
			return 0;
		moved = was;
	}
	return 1;
}

static inline int
misses(const struct level *l, uint64_t line, uint64_t bits)
{
	return l->newest[line >> bits & l->mask] != line && moves_in(l, line, bits);
}

/* An access that misses in several lines is one miss. */
static void
touch(const struct state *s, uint64_t site, uint64_t first, uint64_t last)
{
	int miss = 0, l2_miss = 0;
	for (uint64_t n = first >> line_bits; n <= last >> line_bits; n++)
		if (misses(&s->l1, n << line_bits, line_bits)) {
			miss = 1;
			if (s->l2.lines)
				l2_miss |= misses(&s->l2, n << line_bits, line_bits);
		}
	s->accesses[site]++;
	s->places[site].misses += (uint64_t)miss;
	s->places[site].l2_misses += (uint64_t)l2_miss;
}

/* A string instruction: an access for each line. */
static void
touch_each(const struct state *s, uint64_t site, uint64_t address, uint64_t bytes)
{
	for (uint64_t n = address >> line_bits; bytes && n <= (address + bytes - 1) >> line_bits;
	     n++)
		touch(s, site, n << line_bits, n << line_bits);
}

static struct level
new_level(uint64_t bytes, uint64_t n_ways)
{
	uint64_t sets = 1;
	while (sets * 2 * n_ways << line_bits <= bytes)
		sets *= 2;
	struct level l = {strobe_allocate(sets * sizeof(uint64_t)),
	                  strobe_allocate(sets * n_ways * sizeof(uint64_t)), sets - 1, n_ways - 1};
	if (!l.newest)
		l.lines = NULL;
	return l;
}

static struct state *
new_state(void)
{
	struct state *s = strobe_allocate(sizeof *s);
	if (!s)
		return NULL;
	s->l1 = new_level(size, ways);
	s->l2 = l2_size ? new_level(l2_size, l2_ways) : (struct level){0};
	s->next = states;
	states = s;
	return s;
}

static void
clear(const struct level *l)
{
	for (uint64_t i = 0; l->lines && i <= l->mask; i++)
		l->newest[i] = 0;
	for (uint64_t i = 0; l->lines && i < (l->mask + 1) * l->others; i++)
		l->lines[i] = 0;
}

/* One that has ended leaves its memory to the next. */
static struct state *
state_of(strobe_thread *t)
{
	struct state **mine = strobe_state(t);
	if (!mine || *mine)
		return mine ? *mine : NULL;
	strobe_lock(&lock);
	struct state *s = states;
	while (s && s->used)
		s = s->next;
	if (!s)
		s = new_state();
	if (s)
		s->used = 1;
	strobe_unlock(&lock);
	if (s) {
		clear(&s->l1);
		clear(&s->l2);
	}
	*mine = s;
	return s;
}

/* Room for the site. 0, or -1: no memory. */
static int
grow(struct state *s, uint64_t site)
{
	uint64_t n = 4 * site + (64 << 10); /* what is not used needs no memory */
	struct place *places = strobe_allocate(n * sizeof *places);
	uint64_t *counts = strobe_allocate(n * sizeof *counts);
	uint16_t *room = strobe_allocate(n * sizeof *room);
	if (!places || !counts || !room)
		return -1;
	for (uint64_t i = 0; i < s->n_places; i++) {
		places[i] = s->places[i];
		counts[i] = s->accesses[i];
		room[i] = s->room[i];
	}
	s->places = places;
	s->accesses = counts;
	s->room = room;
	s->n_places = n;
	return 0;
}

/* A site whose first row this is. */
static void
meet(struct state *s, const strobe_rows *rows, uint64_t site)
{
	struct place *p = &s->places[site];
	const strobe_site *what = &rows->sites[site];
	p->instruction = what->constant[INSTRUCTION];
	p->writes = (uint8_t)what->constant[WRITES];
	p->kind = what->where[BYTES] < 0 ? FIXED : VARIES;
	if (p->kind == VARIES)
		return;
	uint64_t bytes = what->constant[BYTES]; /* 0: not known, but for its address */
	p->last = bytes ? (uint32_t)bytes - 1 : 0;
	uint64_t room = p->last >> line_bits ? 0 : (1ull << line_bits) - p->last;
	s->room[site] = (uint16_t)(room < UINT16_MAX ? room : UINT16_MAX);
}

/* A row of any kind. 0, or -1: no memory. */
static int
consume_row(struct state *s, const strobe_rows *rows, const strobe_row *r)
{
	uint64_t site = r->tag >> 4, address = r->value[0];
	if (site >= s->n_places && grow(s, site))
		return -1;
	struct place *p = &s->places[site];
	if (p->kind == NEW)
		meet(s, rows, site);
	if (p->kind == VARIES)
		touch_each(s, site, address, r->value[1]);
	else
		touch(s, site, address, address + p->last);
	return 0;
}

/* A line of the first level that is not its set's newest. */
static inline void
search(const struct state *s, uint64_t site, uint64_t line, uint64_t bits)
{
	if (!moves_in(&s->l1, line, bits))
		return;
	s->places[site].misses++;
	if (s->l2.lines)
		s->places[site].l2_misses += (uint64_t)misses(&s->l2, line, bits);
}

/* Accesses within one line, up to the first that is not. One comparison tells that it is such an
 * access, and that the line is the newest of its set. */
static inline __attribute__((always_inline)) const strobe_row *
consume_simple(const struct state *s, const strobe_row *r, const strobe_row *end, uint64_t bits)
{
	const uint64_t most = (1ull << bits) - 1, n = s->n_places;
	const uint64_t *newest = s->l1.newest, mask = s->l1.mask;
	const uint16_t *rooms = s->room;
	uint64_t *counts = s->accesses;
	for (; r < end; r = (const strobe_row *)&r->value[1]) {
		uint64_t site = r->tag >> 4, address = r->value[0];
		if (site >= n)
			break;
		uint64_t room = rooms[site];
		if (address - newest[address >> bits & mask] >= room) {
			if ((address & most) >= room)
				break;
			search(s, site, address & ~most, bits);
		}
		counts[site]++;
	}
	return r;
}

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	enum { USUAL = 6 }; /* bits that most processors have; known when this is compiled */
	struct state *s = state_of(t);
	if (!s || !s->l1.lines)
		return;
	for (const strobe_row *r = rows->first;; r = strobe_next_row(r)) {
		r = line_bits == USUAL ? consume_simple(s, r, rows->end, USUAL)
		                       : consume_simple(s, r, rows->end, line_bits);
		if (r >= rows->end || consume_row(s, rows, r))
			return;
	}
}

static void
on_access(strobe_access *a)
{
	/* One that reads and writes is a load: after it the store cannot miss. */
	int writes = strobe_access_writes(a) && !strobe_access_reads(a);
	strobe_record(strobe_at(a), &accesses, strobe_constant(strobe_access_insn(a)),
	              strobe_constant((uint64_t)writes), strobe_access_address(a),
	              strobe_access_size(a));
}

static void
add(strobe_table *table, const struct place *p, uint64_t times)
{
	unsigned column = p->writes ? STORES : LOADS;
	strobe_cell_add(strobe_cell_of(table, column, p->instruction), times);
	strobe_cell_add(strobe_cell_of(table, column + 1, p->instruction), p->misses);
	strobe_cell_add(strobe_cell_of(table, L2_MISSES, p->instruction), p->l2_misses);
}

static void
add_total(const char *kind, unsigned column, uint64_t amount)
{
	strobe_cell_add(strobe_cell_of(&cache, column, strobe_text(kind)), amount);
}

/* Adds the counts of the thread to the results. */
static void
add_all(struct state *s)
{
	uint64_t total[2][3] = {{0}};
	for (uint64_t i = 0; i < s->n_places; i++) {
		struct place *p = &s->places[i];
		uint64_t times = s->accesses[i];
		if (!times)
			continue;
		add(&cache_functions, p, times);
		add(&cache_lines, p, times);
		total[p->writes][0] += times;
		total[p->writes][1] += p->misses;
		total[p->writes][2] += p->l2_misses;
		s->accesses[i] = p->misses = p->l2_misses = 0;
	}
	for (unsigned i = 0; i < 3; i++) {
		add_total("load", 1 + i, total[0][i]);
		add_total("store", 1 + i, total[1][i]);
	}
}

static void
thread_end(strobe_thread *t)
{
	struct state **mine = strobe_state(t);
	if (!mine || !*mine)
		return;
	add_all(*mine);
	strobe_lock(&lock);
	(*mine)->used = 0;
	strobe_unlock(&lock);
	*mine = NULL;
}

/* Threads that did not end before the program. */
static void
end(strobe_thread *t)
{
	(void)t;
	for (struct state *s = states; s; s = s->next)
		if (s->used)
			add_all(s);
}

static void
begin(void)
{
	states = NULL;
	lock = 0;
	line_bits = 0;
	while (line_bits < 31 && 2ull << line_bits <= strobe_option_number("line"))
		line_bits++;
	size = strobe_option_number("size");
	ways = strobe_option_number("ways");
	l2_size = strobe_option_number("l2");
	l2_ways = strobe_option_number("l2ways");
	add_total("load", 1, 0); /* the first table */
}

STROBE_TOOL(dcache, .help = "simulate a data cache: misses by function and line",
            .access = on_access, .begin = begin, .thread_end = thread_end, .end = end,
            .state = sizeof(struct state *),
            .options = {{"size", "32k", "size of the first level in bytes"},
                        {"line", "64", "size of a line in bytes, a power of two"},
                        {"ways", "8", "lines in a set of the first level"},
                        {"l2", "1M", "size of the second level in bytes; 0: none"},
                        {"l2ways", "16", "lines in a set of the second level"}},
            .limits = {{"size", 1, MOST_BYTES},
                       {"line", 1, MOST_BYTES},
                       {"ways", 1, MOST_WAYS},
                       {"l2", 0, MOST_BYTES},
                       {"l2ways", 1, MOST_WAYS}});
