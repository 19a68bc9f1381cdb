/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end that encodes. What it costs is branches, and stores: a processor foretells a program's
 * data no better than we do. So rows of one value are only looked at first, without a branch that
 * asks for the value; what was strange about them is told later, for some hundred of them together.
 */
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "rows/rowmemory.h"

/* So many rows are settled together: what is noted of them should stay in the first cache. */
enum { BATCH = 512 };

/* Where strange values are told. */
struct told {
	unsigned char *how, *values;
};

/* Rows being encoded. */
struct pen {
	struct st_codec *c;
	uint32_t before;      /* the last row's site */
	uint32_t rows, begun; /* begun: number of rows before the current run */
	unsigned char *runs;
	struct told told;
	unsigned char *strange; /* up to the rows that are not settled */
	uint32_t n;             /* of these */
	/* The growth of these rows; before them, that of the previous row. */
	uint64_t growth[BATCH + 1];
	/* By place, what the last value there had grown by. */
	uint64_t moved[ST_MEMORY_VALUES];
};

static bool
rowencode_make_room(struct st_codec *c, size_t n)
{
	enum { MORE = 64 }; /* what is written at a time, and some */
	if (c->room && n <= c->room)
		return true;
	n += !n; /* bytes that are no row */
	free(c->strange);
	free(c->how);
	c->strange = malloc(n + MORE);
	c->how = malloc(n + MORE);
	c->room = c->strange && c->how ? n : 0;
	return c->room;
}

/* A strange value, by what it has grown and by what the one before did. The sign is in the lowest
 * bit, so that what is small is short. */
static inline struct told
rowencode_tell(struct told at, uint64_t growth, uint64_t before)
{
	/* By the number's bits how it is told: 1, 2, 3, 4, 6 or 8 bytes. */
	static const unsigned char hows[65] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
	                                       3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5,
	                                       5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6,
	                                       6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
	uint64_t value = st_zigzag((int64_t)growth);
	unsigned how = hows[64 - __builtin_clzll(value | 1)];
	how &= (unsigned)(growth == before) - 1; /* ST_AS_BEFORE */
	memcpy(at.values, &value, sizeof value);
	*at.how = (unsigned char)how;
	return (struct told){at.how + 1, at.values + st_told_bytes[how]};
}

/* ---- rows of one value ---- */

/* Which of 64 bytes are not 0. */
static uint64_t
not_zero(const unsigned char *bytes)
{
	const __m128i zero = _mm_setzero_si128();
	uint64_t set = 0;
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i is = _mm_loadu_si128((const __m128i *)(bytes + i));
		set |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(is, zero)) << i;
	}
	return ~set;
}

/* Writes the differences of the rows up to here. */
static void
rowencode_settle(struct pen *p)
{
	struct told at = p->told;
	memset(p->strange + p->n, 0, 64);
	for (uint32_t from = 0; from < p->n; from += 64)
		for (uint64_t set = not_zero(p->strange + from); set; set &= set - 1) {
			const uint64_t *growth = &p->growth[from + (unsigned)__builtin_ctzll(set)];
			at = rowencode_tell(at, growth[1], growth[0]);
		}
	p->told = at;
	p->growth[0] = p->growth[p->n];
	p->strange += p->n;
	p->n = 0;
}

static inline void
rowencode_look_at(struct st_value *v, uint64_t *growth, unsigned char *strange, uint64_t value)
{
	uint64_t grown = value - v->last;
	*strange = grown != v->expected;
	*v = (struct st_value){value, grown, v->grown};
	*growth = grown;
}

/* Rows of one value, as long as their sites come as foretold: nearly all. Returns what follows. */
static const uint64_t *
look_at_run(struct pen *p, const uint64_t *in, const uint64_t *end, uint64_t n_sites)
{
	size_t most = (size_t)(end - in) / 2, room = BATCH - p->n;
	const uint64_t *begin = in, *stop = in + 2 * (most < room ? most : room);
	struct st_trail *trails = p->c->trails, *trail = trails + p->before;
	uint64_t *growth = &p->growth[p->n];
	unsigned char *strange = p->strange + p->n;
	const uint64_t limit = n_sites << 4;
	for (; in < stop; in += 2) {
		uint64_t tag = *in;
		if (tag >= limit || trail->next != tag)
			break;
		trail = st_trail_of(trails, tag);
		rowencode_look_at(&trail->one, ++growth, strange++, in[1]);
	}
	p->rows += (uint32_t)(in - begin) / 2;
	p->n += (uint32_t)(in - begin) / 2;
	p->before = (uint32_t)(trail - trails);
	return in;
}

/* ---- any rows ---- */

static void
begin_run(struct pen *p, uint64_t tag)
{
	uint32_t self = (uint32_t)(tag >> 4) + 1;
	if (p->rows)
		p->runs = st_varint_put(p->runs, p->rows - p->begun);
	p->begun = p->rows;
	p->runs = st_varint_put(p->runs, p->c->memories[p->before].second == self ? 0 : self);
	st_lead_to(p->c, p->before, st_name_of(tag));
}

static void
encode_values(struct pen *p, struct st_value *v, const uint64_t *in, uint64_t n)
{
	rowencode_settle(p);
	p->moved[0] = p->growth[0];
	for (uint64_t i = 0; i < n; i++) {
		uint64_t value = in[i], growth = value - v[i].last;
		bool strange = growth != v[i].expected;
		if (strange)
			p->told = rowencode_tell(p->told, growth, p->moved[i]);
		*p->strange++ = strange;
		v[i] = (struct st_value){value, growth, v[i].grown};
		p->moved[i] = growth;
	}
	p->growth[0] = p->moved[0];
}

/* A row of any kind. Returns what follows; NULL: it is none. The program may change it meanwhile.
 */
static __attribute__((noinline)) const uint64_t *
encode_row(struct pen *p, const uint64_t *in, const uint64_t *end, const strobe_site *sites,
           uint64_t n_sites)
{
	struct st_codec *c = p->c;
	uint64_t tag = *in++, n = tag & 15;
	uint32_t self = 0;
	if (tag >> 4 < n_sites && n <= (uint64_t)(end - in))
		self = st_recall(c, tag, sites);
	if (!self)
		return NULL;
	if (c->trails[p->before].next != st_name_of(tag))
		begin_run(p, tag);
	p->before = self;
	p->rows++;
	if (n == 1) {
		rowencode_look_at(&c->trails[self].one, &p->growth[p->n + 1], &p->strange[p->n],
		                  *in);
		p->n++;
	} else {
		encode_values(p, &c->values[c->memories[self].many], in, n);
	}
	return in + n;
}

/* A bit for each of n bytes, eight in a byte. */
static unsigned char *
put_bits(unsigned char *at, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 64) {
		uint64_t set = not_zero(bytes + i);
		memcpy(at + i / 8, &set, sizeof set);
	}
	return at + (n + 7) / 8;
}

/* Four bits for each of n bytes, two in a byte. */
static unsigned char *
put_halves(unsigned char *at, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		at[i / 2] = (unsigned char)(bytes[i] | bytes[i + 1] << 4);
	return at + (n + 1) / 2;
}

void
st_codec_encode(struct st_codec *c, const void *rows, size_t bytes, const strobe_site *sites,
                uint32_t n_sites, struct st_encoded *out)
{
	const uint64_t *in = rows, *end = in + bytes / sizeof *in, *next;
	out->n_rows = 0;
	out->whole = st_know_sites(c, n_sites) && rowencode_make_room(c, bytes / sizeof *in);
	if (!out->whole)
		return;
	st_begin_rows(c);
	struct pen p = {.c = c,
	                .runs = out->at[ST_CODEC_RUNS],
	                .told = {c->how, out->at[ST_CODEC_VALUES]},
	                .strange = c->strange};
	while (in < end && (next = encode_row(&p, in, end, sites, n_sites))) {
		in = look_at_run(&p, next, end, n_sites);
		if (p.n >= BATCH)
			rowencode_settle(&p);
	}
	rowencode_settle(&p);
	if (p.rows)
		p.runs = st_varint_put(p.runs, p.rows - p.begun);
	out->n_rows = p.rows;
	out->whole = in == end;
	out->at[ST_CODEC_RUNS] = p.runs;
	out->at[ST_CODEC_VALUES] = p.told.values;
	out->at[ST_CODEC_STRANGE] =
	        put_bits(out->at[ST_CODEC_STRANGE], c->strange, (size_t)(p.strange - c->strange));
	*p.told.how = 0; /* the second of the last two */
	out->at[ST_CODEC_HOW] =
	        put_halves(out->at[ST_CODEC_HOW], c->how, (size_t)(p.told.how - c->how));
}
