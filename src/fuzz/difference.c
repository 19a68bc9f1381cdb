/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest common subsequence by Hirschberg's method, of bytes or of lines. */
#include "fuzz/difference.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "fuzz/family.h"

/* Pairs of units that are compared at most: some tenths of a second. */
static const double most_pairs = 1 << 27;
enum { SHOWN_ENDS = 32 };

const char *
st_difference_unit_name(enum st_difference_unit unit)
{
	static const char *const names[] = {"bytes", "lines", "ends"};
	return names[unit];
}

void
st_fuzz_difference_free(struct st_fuzz_difference *d)
{
	free(d->list.v);
	*d = (struct st_fuzz_difference){0};
}

/* ---- units ---- */

/* Bytes or lines as numbers that are equal where these are. */
struct units {
	uint32_t *v;
	bool *kept;
	size_t *at; /* of each unit, and of the end, in bytes */
	size_t n;
};

static void
units_free(struct units *u)
{
	free(u->v);
	free(u->kept);
	free(u->at);
}

static st_status
units_make(struct units *u, size_t n)
{
	u->v = calloc(n + 1, sizeof *u->v);
	u->kept = calloc(n + 1, sizeof *u->kept);
	u->at = calloc(n + 1, sizeof *u->at);
	u->n = n;
	return u->v && u->kept && u->at ? ST_OK : ST_FAILED;
}

static st_status
units_of_bytes(struct units *u, const struct st_fuzz_bytes *b)
{
	if (units_make(u, b->n))
		return ST_FAILED;
	for (size_t i = 0; i < b->n; i++) {
		u->v[i] = b->v[i];
		u->at[i] = i;
	}
	u->at[b->n] = b->n;
	return ST_OK;
}

/* The end of the line that begins at `at`, behind its newline. */
static size_t
line_end(const struct st_fuzz_bytes *b, size_t at)
{
	const uint8_t *newline = at < b->n ? memchr(b->v + at, '\n', b->n - at) : NULL;
	return newline ? (size_t)(newline - b->v) + 1 : b->n;
}

static size_t
count_lines(const struct st_fuzz_bytes *b)
{
	size_t n = 0;
	for (size_t at = 0; at < b->n; at = line_end(b, at))
		n++;
	return n;
}

/* Different lines, by number. */
struct known_line {
	const uint8_t *v;
	size_t n;
};

struct known_lines {
	ST_VEC(struct known_line) list;
	struct st_hashmap map;
};

static st_status
number_of_line(struct known_lines *known, const uint8_t *v, size_t n, uint32_t *number)
{
	const uint32_t hash = st_hash_bytes(v, n);
	*number = ST_HASHMAP_FIND(&known->map, hash, i,
	                          known->list.v[i].n == n && !memcmp(known->list.v[i].v, v, n));
	if (*number != ST_HASHMAP_NONE)
		return ST_OK;
	struct known_line *new = ST_PUSH(&known->list);
	if (!new)
		return ST_FAILED;
	*new = (struct known_line){v, n};
	*number = (uint32_t)(known->list.n - 1);
	return st_hashmap_add(&known->map, hash, *number);
}

static st_status
units_of_lines(struct units *u, struct known_lines *known, const struct st_fuzz_bytes *b)
{
	if (units_make(u, count_lines(b)))
		return ST_FAILED;
	size_t at = 0;
	for (size_t i = 0; i < u->n; i++) {
		const size_t end = line_end(b, at);
		if (number_of_line(known, b->v + at, end - at, &u->v[i]))
			return ST_FAILED;
		u->at[i] = at;
		at = end;
	}
	u->at[u->n] = b->n;
	return ST_OK;
}

/* ---- the longest common subsequence ---- */

/* [from, to) of the units of each. */
struct range {
	size_t from, to;
};

static struct range
keep_ends(struct units *a, struct units *b, struct range x, struct range *y)
{
	while (x.from < x.to && y->from < y->to && a->v[x.from] == b->v[y->from])
		a->kept[x.from++] = b->kept[y->from++] = true;
	while (x.from < x.to && y->from < y->to && a->v[x.to - 1] == b->v[y->to - 1])
		a->kept[--x.to] = b->kept[--y->to] = true;
	return x;
}

/* row[k]: the length for all of x and the first k of y; the last k, if it is backward. */
static void
fill_row(const struct units *a, const struct units *b, struct range x, struct range y,
         bool backward, uint32_t *row)
{
	const size_t n = x.to - x.from, m = y.to - y.from;
	memset(row, 0, (m + 1) * sizeof *row);
	for (size_t i = 0; i < n; i++) {
		const uint32_t unit = a->v[backward ? x.to - 1 - i : x.from + i];
		uint32_t diagonal = 0;
		for (size_t k = 1; k <= m; k++) {
			const uint32_t above = row[k];
			if (unit == b->v[backward ? y.to - k : y.from + k - 1])
				row[k] = diagonal + 1;
			else if (row[k] < row[k - 1])
				row[k] = row[k - 1];
			diagonal = above;
		}
	}
}

/* Where y is divided when x is divided in its middle. */
static st_status
divide_units(const struct units *a, const struct units *b, struct range x, struct range y,
             size_t *middle_of_y)
{
	const size_t m = y.to - y.from, middle = x.from + (x.to - x.from) / 2;
	uint32_t *before = malloc(2 * (m + 1) * sizeof *before), most = 0;
	if (!before)
		return ST_FAILED;
	uint32_t *behind = before + m + 1;
	fill_row(a, b, (struct range){x.from, middle}, y, false, before);
	fill_row(a, b, (struct range){middle, x.to}, y, true, behind);
	*middle_of_y = y.from;
	for (size_t k = 0; k <= m; k++)
		if (before[k] + behind[m - k] > most) {
			most = before[k] + behind[m - k];
			*middle_of_y = y.from + k;
		}
	free(before);
	return ST_OK;
}

static st_status
keep_common(struct units *a, struct units *b, struct range x, struct range y)
{
	x = keep_ends(a, b, x, &y);
	if (x.from == x.to || y.from == y.to)
		return ST_OK;
	if (x.to - x.from == 1) {
		size_t k = y.from;
		while (k < y.to && b->v[k] != a->v[x.from])
			k++;
		if (k < y.to)
			a->kept[x.from] = b->kept[k] = true;
		return ST_OK;
	}
	const size_t middle = x.from + (x.to - x.from) / 2;
	size_t of_y;
	if (divide_units(a, b, x, y, &of_y) ||
	    keep_common(a, b, (struct range){x.from, middle}, (struct range){y.from, of_y}))
		return ST_FAILED;
	return keep_common(a, b, (struct range){middle, x.to}, (struct range){of_y, y.to});
}

/* ---- changes ---- */

static st_status
append_change(struct st_fuzz_difference *d, struct st_fuzz_change change, size_t joined)
{
	struct st_fuzz_change *last = d->list.n ? &d->list.v[d->list.n - 1] : NULL;
	if (last && change.from - (last->from + last->n_removed) < joined) {
		last->n_removed = change.from + change.n_removed - last->from;
		last->n_inserted = change.to + change.n_inserted - last->to;
		return ST_OK;
	}
	struct st_fuzz_change *new = ST_PUSH(&d->list);
	if (!new)
		return ST_FAILED;
	*new = change;
	return ST_OK;
}

static st_status
list_changes(struct st_fuzz_difference *d, const struct units *a, const struct units *b,
             size_t joined)
{
	size_t i = 0, k = 0;
	while (i < a->n || k < b->n) {
		const size_t from = i, to = k;
		while (i < a->n && !a->kept[i])
			i++;
		while (k < b->n && !b->kept[k])
			k++;
		if ((i > from || k > to) &&
		    append_change(d,
		                  (struct st_fuzz_change){a->at[from], a->at[i] - a->at[from],
		                                          b->at[to], b->at[k] - b->at[to]},
		                  joined))
			return ST_FAILED;
		while (i < a->n && k < b->n && a->kept[i] && b->kept[k]) {
			i++;
			k++;
		}
	}
	return ST_OK;
}

static st_status
compare_units(struct st_fuzz_difference *d, struct units *a, struct units *b, size_t joined)
{
	struct range x = {0, a->n}, y = {0, b->n};
	if (d->unit == ST_DIFFERENCE_ENDS)
		keep_ends(a, b, x, &y);
	else if (keep_common(a, b, x, y))
		return ST_FAILED;
	return list_changes(d, a, b, joined);
}

/* Of lines that differ, bytes at both ends may be the same. */
static void
trim_change(struct st_fuzz_change *c, const struct st_fuzz_bytes *seed,
            const struct st_fuzz_bytes *witness)
{
	while (c->n_removed && c->n_inserted && seed->v[c->from] == witness->v[c->to]) {
		c->from++;
		c->to++;
		c->n_removed--;
		c->n_inserted--;
	}
	while (c->n_removed && c->n_inserted &&
	       seed->v[c->from + c->n_removed - 1] == witness->v[c->to + c->n_inserted - 1]) {
		c->n_removed--;
		c->n_inserted--;
	}
}

static void
trim_changes(struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
             const struct st_fuzz_bytes *witness)
{
	d->kept = d->seed_bytes;
	for (size_t i = 0; i < d->list.n; i++) {
		trim_change(&d->list.v[i], seed, witness);
		d->kept -= d->list.v[i].n_removed;
	}
}

/* The unit that both are small enough for. */
static enum st_difference_unit
choose_unit(const struct st_fuzz_bytes *seed, const struct st_fuzz_bytes *witness)
{
	if ((double)seed->n * (double)witness->n <= most_pairs)
		return ST_DIFFERENCE_BYTES;
	if ((double)count_lines(seed) * (double)count_lines(witness) <= most_pairs)
		return ST_DIFFERENCE_LINES;
	return ST_DIFFERENCE_ENDS;
}

st_status
st_fuzz_difference_find(struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                        const struct st_fuzz_bytes *witness, size_t joined)
{
	struct units a = {0}, b = {0};
	struct known_lines known = {0};
	st_status status;
	*d = (struct st_fuzz_difference){.unit = choose_unit(seed, witness),
	                                 .seed_bytes = seed->n,
	                                 .witness_bytes = witness->n};
	if (d->unit == ST_DIFFERENCE_LINES)
		status = units_of_lines(&a, &known, seed) || units_of_lines(&b, &known, witness)
		                 ? ST_FAILED
		                 : ST_OK;
	else
		status =
		        units_of_bytes(&a, seed) || units_of_bytes(&b, witness) ? ST_FAILED : ST_OK;
	if (!status)
		status = compare_units(d, &a, &b, joined);
	if (!status)
		trim_changes(d, seed, witness);
	units_free(&a);
	units_free(&b);
	free(known.list.v);
	st_hashmap_free(&known.map);
	return status;
}

/* ---- printing ---- */

static void
take_difference_part(char kind, const struct st_fuzz_bytes *b, size_t at, size_t n,
                     void (*take)(void *arg, const struct st_fuzz_part *part), void *arg)
{
	if (!n)
		return;
	const bool whole = n <= 2 * SHOWN_ENDS;
	const struct st_fuzz_part part = {.kind = kind,
	                                  .n = n,
	                                  .first = {.v = b->v + at, .n = whole ? n : SHOWN_ENDS},
	                                  .last = {.v = b->v + at + n - (whole ? 0 : SHOWN_ENDS),
	                                           .n = whole ? 0 : SHOWN_ENDS}};
	take(arg, &part);
}

void
st_fuzz_difference_parts(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                         const struct st_fuzz_bytes *witness,
                         void (*take)(void *arg, const struct st_fuzz_part *part), void *arg)
{
	size_t at = 0;
	for (size_t i = 0; i < d->list.n; i++) {
		const struct st_fuzz_change *c = &d->list.v[i];
		take_difference_part(' ', seed, at, c->from - at, take, arg);
		take_difference_part('-', seed, c->from, c->n_removed, take, arg);
		take_difference_part('+', witness, c->to, c->n_inserted, take, arg);
		at = c->from + c->n_removed;
	}
	take_difference_part(' ', seed, at, seed->n - at, take, arg);
}

static void
print_part(void *arg, const struct st_fuzz_part *part)
{
	FILE *out = arg;
	fprintf(out, "%c %zu '", part->kind, part->n);
	st_fuzz_bytes_print_escaped(&part->first, part->first.n, out);
	if (part->last.n) {
		fputs("' ... '", out);
		st_fuzz_bytes_print_escaped(&part->last, part->last.n, out);
	}
	fputs("'\n", out);
}

void
st_fuzz_difference_print(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                         const struct st_fuzz_bytes *witness, FILE *out)
{
	st_fuzz_difference_parts(d, seed, witness, print_part, out);
}
