/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end that decodes. The bytes may come from anyone. */
#include <string.h>

#include "base/varint.h"
#include "rows/rowmemory.h"

static const unsigned char *
rowdecode_take(struct st_decoding *in, enum st_codec_column column, size_t n)
{
	const unsigned char *at = in->at[column];
	if ((size_t)(in->end[column] - at) < n)
		return NULL;
	in->at[column] = at + n;
	return at;
}

static bool
rowdecode_take_number(struct st_decoding *in, uint32_t *n)
{
	uint64_t number;
	if (!st_varint_take(&in->at[ST_CODEC_RUNS], in->end[ST_CODEC_RUNS], 32, &number))
		return false;
	*n = (uint32_t)number;
	return true;
}

/* Returns the next 1, 2 or 4 bits of a column, from the lowest of each byte on. */
static bool
take_bits(struct st_decoding *in, enum st_codec_column column, struct st_codec_bits *b, unsigned n,
          unsigned *bits)
{
	if (!b->left) {
		const unsigned char *at = rowdecode_take(in, column, 1);
		if (!at)
			return false;
		*b = (struct st_codec_bits){*at, 8};
	}
	*bits = b->bits & ((1u << n) - 1);
	b->bits >>= n;
	b->left -= n;
	return true;
}

static bool
take_growth(struct st_decoding *in, size_t bytes, uint64_t *growth)
{
	uint64_t value = 0;
	const unsigned char *at = rowdecode_take(in, ST_CODEC_VALUES, bytes);
	if (!at)
		return false;
	memcpy(&value, at, bytes);
	*growth = (uint64_t)st_unzigzag(value);
	return true;
}

/* The growth of a value. */
static bool
next_growth(struct st_decoding *in, const struct st_value *v, uint64_t moved, uint64_t *growth)
{
	unsigned strange, how;
	if (!take_bits(in, ST_CODEC_STRANGE, &in->strange, 1, &strange))
		return false;
	*growth = v->expected;
	if (!strange)
		return true;
	if (!take_bits(in, ST_CODEC_HOW, &in->how, 4, &how) || how >= sizeof st_told_bytes)
		return false;
	*growth = moved;
	return how == ST_AS_BEFORE || take_growth(in, st_told_bytes[how], growth);
}

/* Version 2: controls and lengths in place of what is strange, and how. */
static bool
next_growth_2(struct st_decoding *in, const struct st_value *v, uint64_t moved, uint64_t *growth)
{
	enum { AS_LAST, AS_BEFORE };
	static const unsigned char bytes[4] = {1, 2, 3, 8};
	unsigned control, length;
	if (!take_bits(in, ST_CODEC_STRANGE, &in->strange, 2, &control))
		return false;
	*growth = control == AS_LAST ? v->grown : moved;
	if (control == AS_LAST || control == AS_BEFORE)
		return true;
	return take_bits(in, ST_CODEC_HOW, &in->how, 2, &length) &&
	       take_growth(in, bytes[length], growth);
}

static bool
decode_value(struct st_decoding *in, struct st_value *v, uint64_t *moved)
{
	uint64_t growth = 0;
	if (!(in->version == 2 ? next_growth_2 : next_growth)(in, v, *moved, &growth))
		return false;
	*v = (struct st_value){v->last + growth, growth, v->grown};
	*moved = growth;
	return true;
}

/* The site that follows, and its values' number. */
static bool
next_site(struct st_codec *c, struct st_decoding *in, uint32_t *site, uint32_t *n)
{
	uint32_t before = in->last == UINT32_MAX ? 0 : in->last + 1, number;
	if (!before)
		st_begin_rows(c);
	if (in->run) {
		uint64_t next = c->trails[before].next;
		number = next == ST_NOBODY ? 0 : st_site_named(next);
	} else {
		if (!rowdecode_take_number(in, &number) || !rowdecode_take_number(in, &in->run) ||
		    !in->run)
			return false;
		number = number ? number : c->memories[before].second;
	}
	bool told = number && number <= in->n_sites;
	*site = number - 1;
	*n = told ? in->sites[*site].n_values : UINT32_MAX;
	if (*n > ST_MEMORY_VALUES)
		return false;
	uint64_t name = st_name_of((uint64_t)*site << 4 | *n);
	if (c->trails[before].next != name)
		st_lead_to(c, before, name);
	in->run--;
	return true;
}

void
st_codec_begin(struct st_decoding *in, uint32_t n_rows)
{
	in->rows = n_rows;
	in->run = 0;
	in->last = UINT32_MAX;
	in->strange = in->how = (struct st_codec_bits){0, 0};
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
	if (!st_know_sites(c, in->n_sites) || !next_site(c, in, site, &n) ||
	    !(self = st_recall(c, (uint64_t)*site << 4 | n, in->sites)))
		return -1;
	in->last = *site;
	struct st_value *v = n == 1 ? &c->trails[self].one : &c->values[c->memories[self].many];
	for (uint32_t i = 0; i < n; i++) {
		if (!decode_value(in, &v[i], &in->moved[i]))
			return -1;
		values[i] = v[i].last;
	}
	return 1;
}
