/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/rowcodec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SITES = 1 << 24, MOST_VALUES = STROBE_MOST_COLUMNS };

#define NOBODY UINT32_MAX
/* In a site's name: its rows have not just one value. No tag of a row is so large. */
#define MANY (1ull << 63)
#define NONE UINT64_MAX

struct value {
	uint64_t last, stride;
};

/* What is remembered of a site and needed for each row. The first of them is for what is before the
 * first row. */
struct trail {
	uint64_t next;    /* name of the site that followed last, or NONE */
	struct value one; /* if it has just one */
};
/* And what is needed now and then. */
struct memory {
	uint64_t key; /* its name, and the epoch above; of another epoch: nothing is remembered */
	uint32_t second; /* the last other than `next` that followed, counted from 1 */
	uint32_t many;   /* index of its values, if it has not just one */
};

struct st_codec {
	uint64_t epoch;
	struct trail *trails;
	struct memory *memories;
	uint32_t n_sites;     /* that there is room for, and one more */
	struct value *values; /* of this epoch */
	uint32_t n_values, room_values;
	/* For the rows at hand. */
	unsigned char *pairs;
	uint64_t *differences;
	size_t room;
};

struct st_codec *
st_codec_new(void)
{
	struct st_codec *c = calloc(1, sizeof *c);
	if (c)
		st_codec_reset(c);
	return c;
}

void
st_codec_free(struct st_codec *c)
{
	if (!c)
		return;
	free(c->trails);
	free(c->memories);
	free(c->values);
	free(c->pairs);
	free(c->differences);
	free(c);
}

void
st_codec_reset(struct st_codec *c)
{
	c->epoch += 1ull << 32;
	c->n_values = 0;
}

/* So that there is a memory for each of the sites. */
static bool
know_sites(struct st_codec *c, uint32_t n)
{
	if (n < c->n_sites)
		return true;
	if (n > MOST_SITES)
		return false;
	uint32_t room = n + n / 2 + 1024;
	struct trail *trails = reallocarray(c->trails, room, sizeof *trails);
	if (trails)
		c->trails = trails;
	struct memory *memories = reallocarray(c->memories, room, sizeof *memories);
	if (memories)
		c->memories = memories;
	if (!trails || !memories)
		return false;
	memset(memories + c->n_sites, 0, (room - c->n_sites) * sizeof *memories);
	c->n_sites = room;
	return true;
}

static bool
add_values(struct st_codec *c, struct memory *m, uint32_t n)
{
	if (!n)
		return true;
	if (c->n_values + n > c->room_values) {
		uint32_t room = c->room_values ? 2 * c->room_values : 4096;
		struct value *values = reallocarray(c->values, room, sizeof *values);
		if (!values)
			return false;
		c->values = values;
		c->room_values = room;
	}
	m->many = c->n_values;
	memset(&c->values[c->n_values], 0, n * sizeof *c->values);
	c->n_values += n;
	return true;
}

static uint64_t
name_of(uint64_t tag)
{
	return tag | ((tag & 15) == 1 ? 0 : MANY);
}

static uint32_t
site_named(uint64_t name)
{
	return (uint32_t)((name & ~MANY) >> 4) + 1;
}

/* Recalls a site, or begins to remember it. Returns its number, counted from 1. 0: there is no such
 * site with so many values, or no memory left. */
static uint32_t
recall(struct st_codec *c, uint64_t tag, const strobe_site *sites)
{
	uint32_t n = (uint32_t)tag & 15, self = (uint32_t)(tag >> 4) + 1;
	struct memory *m = &c->memories[self];
	uint64_t key = c->epoch | name_of(tag);
	if (m->key == key)
		return self;
	if (sites[tag >> 4].n_values != n || n > MOST_VALUES || (n != 1 && !add_values(c, m, n)))
		return 0;
	m->key = key;
	m->second = 0;
	c->trails[self] = (struct trail){.next = NONE};
	return self;
}

/* Nothing is before the first row. */
static void
begin_rows(struct st_codec *c)
{
	c->trails[0].next = NONE;
	c->memories[0].second = 0;
}

/* Another site follows than last. */
static void
lead_to(struct st_codec *c, uint32_t before, uint64_t name)
{
	uint64_t last = c->trails[before].next;
	c->memories[before].second = last == NONE ? 0 : site_named(last);
	c->trails[before].next = name;
}

static struct value *
values_of(struct st_codec *c, uint32_t site, uint32_t n)
{
	return n == 1 ? &c->trails[site].one : &c->values[c->memories[site].many];
}

/* ---- encoding ---- */

static bool
make_room(struct st_codec *c, size_t n)
{
	if (n <= c->room)
		return true;
	free(c->pairs);
	free(c->differences);
	c->pairs = malloc(n + 8);
	c->differences = reallocarray(NULL, n, sizeof *c->differences);
	c->room = c->pairs && c->differences ? n : 0;
	return c->room;
}

/* Seven bits in a byte, the lowest first; the last byte is less than 128. */
static unsigned char *
put_number(unsigned char *at, uint32_t n)
{
	for (; n > 127; n >>= 7)
		*at++ = (unsigned char)(n | 128);
	*at++ = (unsigned char)n;
	return at;
}

/* Four pairs of bits in a byte, from n bytes with one each, of which there are eight more. */
static unsigned char *
put_pairs(unsigned char *at, unsigned char *pairs, size_t n)
{
	memset(pairs + n, 0, 8);
	for (size_t i = 0; i < n; i += 8) {
		uint64_t eight;
		memcpy(&eight, pairs + i, sizeof eight);
		eight = (eight | eight >> 6) & 0x000f000f000f000f;
		eight |= eight >> 12;
		at[i / 4] = (unsigned char)eight;
		at[i / 4 + 1] = (unsigned char)(eight >> 32);
	}
	return at + (n + 3) / 4;
}

static const unsigned char length[4] = {1, 2, 3, 8};

/* Differences, the sign in the lowest bit so that small ones are short. */
static void
put_differences(struct st_codec *c, size_t n, struct st_encoded *out)
{
	unsigned char *at = out->at[ST_CODEC_VALUES];
	for (size_t i = 0; i < n; i++) {
		uint64_t d = c->differences[i], value = d << 1 ^ (0 - (d >> 63));
		unsigned how = (value > 0xff) + (value > 0xffff) + (value > 0xffffff);
		memcpy(at, &value, sizeof value);
		at += length[how];
		c->pairs[i] = (unsigned char)how;
	}
	out->at[ST_CODEC_VALUES] = at;
	out->at[ST_CODEC_LENGTHS] = put_pairs(out->at[ST_CODEC_LENGTHS], c->pairs, n);
}

/* Rows being encoded. */
struct pen {
	struct st_codec *c;
	struct trail *before;
	unsigned char *runs, *control;
	uint64_t *difference; /* of values that are not foretold */
	uint32_t rows, begun; /* begun: so many were before the run at hand */
	uint64_t moved[MOST_VALUES];
};

/* Without a branch: what a program's data do next cannot be foretold by a processor. */
static inline void
encode_value(struct pen *p, struct value *v, uint64_t *moved, uint64_t value)
{
	uint64_t difference = value - v->last;
	unsigned strange = difference != v->stride, other = difference != *moved;
	other &= strange;
	v->last = value;
	v->stride = *moved = difference;
	*p->difference = difference;
	p->difference += other;
	*p->control++ = (unsigned char)(strange + other);
}

static void
begin_run(struct pen *p, uint64_t tag)
{
	struct st_codec *c = p->c;
	uint32_t before = (uint32_t)(p->before - c->trails), self = site_named(tag);
	if (p->rows)
		p->runs = put_number(p->runs, p->rows - p->begun);
	p->begun = p->rows;
	p->runs = put_number(p->runs, c->memories[before].second == self ? 0 : self);
	lead_to(c, before, name_of(tag));
}

/* A row of any kind. Returns what follows; NULL: it is none. The program may change it meanwhile.
 */
static __attribute__((noinline)) const uint64_t *
encode_row(struct pen *p, const uint64_t *in, const uint64_t *end, const strobe_site *sites,
           uint64_t n_sites)
{
	uint64_t tag = *in++, n = tag & 15;
	uint32_t self = 0;
	if (tag >> 4 < n_sites && n <= (uint64_t)(end - in))
		self = recall(p->c, tag, sites);
	if (!self)
		return NULL;
	if (p->before->next != name_of(tag))
		begin_run(p, tag);
	p->before = &p->c->trails[self];
	p->rows++;
	struct value *v = values_of(p->c, self, (uint32_t)n);
	for (uint64_t i = 0; i < n; i++)
		encode_value(p, &v[i], &p->moved[i], *in++);
	return in;
}

/* Rows of one value, as long as their sites come as foretold: nearly all. Returns what follows. */
static const uint64_t *
encode_run(struct pen *shared, const uint64_t *in, const uint64_t *end, uint64_t n_sites)
{
	struct pen p = *shared; /* in registers */
	uint64_t moved = p.moved[0];
	struct trail *trails = p.c->trails;
	const uint64_t limit = n_sites << 4;
	for (; end - in >= 2; in += 2) {
		uint64_t tag = *in;
		if (tag >= limit || p.before->next != tag)
			break;
		p.before = &trails[(tag >> 4) + 1];
		encode_value(&p, &p.before->one, &moved, in[1]);
	}
	p.rows += (uint32_t)(p.control - shared->control);
	p.moved[0] = moved;
	*shared = p;
	return in;
}

void
st_codec_encode(struct st_codec *c, const void *rows, size_t bytes, const strobe_site *sites,
                uint32_t n_sites, struct st_encoded *out)
{
	const uint64_t *in = rows, *end = in + bytes / sizeof *in, *next;
	out->n_rows = 0;
	out->whole = know_sites(c, n_sites) && make_room(c, bytes / sizeof *in);
	if (!out->whole)
		return;
	begin_rows(c);
	struct pen p = {.c = c,
	                .before = c->trails,
	                .runs = out->at[ST_CODEC_RUNS],
	                .control = c->pairs,
	                .difference = c->differences};
	while (in < end && (next = encode_row(&p, in, end, sites, n_sites)))
		in = encode_run(&p, next, end, n_sites);
	if (p.rows)
		p.runs = put_number(p.runs, p.rows - p.begun);
	out->n_rows = p.rows;
	out->whole = in == end;
	out->at[ST_CODEC_RUNS] = p.runs;
	out->at[ST_CODEC_CONTROLS] =
	        put_pairs(out->at[ST_CODEC_CONTROLS], c->pairs, (size_t)(p.control - c->pairs));
	put_differences(c, (size_t)(p.difference - c->differences), out);
}

/* ---- the other end ---- */

static const unsigned char *
take(struct st_decoding *in, enum st_codec_column column, size_t n)
{
	const unsigned char *at = in->at[column];
	if ((size_t)(in->end[column] - at) < n)
		return NULL;
	in->at[column] = at + n;
	return at;
}

static bool
take_number(struct st_decoding *in, uint32_t *n)
{
	const unsigned char *at;
	*n = 0;
	for (unsigned shift = 0; shift < 32; shift += 7) {
		if (!(at = take(in, ST_CODEC_RUNS, 1)))
			return false;
		*n |= (uint32_t)(*at & 127) << shift;
		if (*at < 128)
			return true;
	}
	return false;
}

static bool
take_pair(struct st_decoding *in, enum st_codec_column column, struct st_codec_pairs *p,
          unsigned *pair)
{
	if (!p->left) {
		const unsigned char *at = take(in, column, 1);
		if (!at)
			return false;
		*p = (struct st_codec_pairs){*at, 4};
	}
	*pair = p->bits & 3;
	p->bits >>= 2;
	p->left--;
	return true;
}

static bool
take_difference(struct st_decoding *in, uint64_t *difference)
{
	unsigned how;
	uint64_t value = 0;
	if (!take_pair(in, ST_CODEC_LENGTHS, &in->lengths, &how))
		return false;
	const unsigned char *at = take(in, ST_CODEC_VALUES, length[how]);
	if (!at)
		return false;
	memcpy(&value, at, length[how]);
	*difference = value >> 1 ^ -(value & 1);
	return true;
}

static bool
decode_value(struct st_decoding *in, struct value *v, uint64_t *moved)
{
	unsigned control;
	uint64_t difference = v->stride;
	if (!take_pair(in, ST_CODEC_CONTROLS, &in->controls, &control))
		return false;
	if (control == 1)
		difference = *moved;
	else if (control && !take_difference(in, &difference))
		return false;
	v->last += difference;
	v->stride = *moved = difference;
	return true;
}

/* The site that follows, and its values' number. */
static bool
next_site(struct st_codec *c, struct st_decoding *in, uint32_t *site, uint32_t *n)
{
	uint32_t before = in->last == NOBODY ? 0 : in->last + 1, number;
	if (!before)
		begin_rows(c);
	if (in->run) {
		number = c->trails[before].next == NONE ? 0 : site_named(c->trails[before].next);
	} else {
		if (!take_number(in, &number) || !take_number(in, &in->run) || !in->run)
			return false;
		number = number ? number : c->memories[before].second;
	}
	bool told = number && number <= in->n_sites;
	*site = number - 1;
	*n = told ? in->sites[*site].n_values : UINT32_MAX;
	if (*n > MOST_VALUES)
		return false;
	uint64_t name = name_of((uint64_t)*site << 4 | *n);
	if (c->trails[before].next != name)
		lead_to(c, before, name);
	in->run--;
	return true;
}

void
st_codec_begin(struct st_decoding *in, uint32_t n_rows)
{
	in->rows = n_rows;
	in->run = 0;
	in->last = NOBODY;
	in->controls = in->lengths = (struct st_codec_pairs){0, 0};
	memset(in->moved, 0, sizeof in->moved);
}

int
st_codec_decode(struct st_codec *c, struct st_decoding *in, uint32_t *site,
                uint64_t values[STROBE_MOST_COLUMNS])
{
	if (!in->rows)
		return 0;
	in->rows--;
	uint32_t n, self;
	if (!know_sites(c, in->n_sites) || !next_site(c, in, site, &n) ||
	    !(self = recall(c, (uint64_t)*site << 4 | n, in->sites)))
		return -1;
	in->last = *site;
	struct value *v = values_of(c, self, n);
	for (uint32_t i = 0; i < n; i++) {
		if (!decode_value(in, &v[i], &in->moved[i]))
			return -1;
		values[i] = v[i].last;
	}
	return 1;
}
