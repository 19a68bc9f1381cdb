/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/rowcodec.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_SITE = 1 << 24, MOST_VALUES = STROBE_MOST_COLUMNS };

struct value {
	uint64_t last, stride;
};

/* What is remembered of a site. */
struct memory {
	uint32_t epoch;  /* of another epoch: nothing is */
	uint32_t next;   /* the site that followed */
	uint32_t values; /* index of its values */
	uint32_t n;      /* how many there is room for; 0: none yet */
};

struct st_codec {
	uint32_t epoch;
	struct memory *sites;
	uint32_t n_sites;
	struct value *values;
	uint32_t n_values, room_values;
};

struct st_codec *
st_codec_new(void)
{
	struct st_codec *c = calloc(1, sizeof *c);
	if (c)
		c->epoch = 1;
	return c;
}

void
st_codec_free(struct st_codec *c)
{
	if (!c)
		return;
	free(c->sites);
	free(c->values);
	free(c);
}

void
st_codec_reset(struct st_codec *c)
{
	c->epoch++;
}

static int
grow_sites(struct st_codec *c, uint32_t site)
{
	uint32_t n = c->n_sites ? c->n_sites : 1024;
	while (n <= site)
		n *= 2;
	struct memory *sites = reallocarray(c->sites, n, sizeof *sites);
	if (!sites)
		return -1;
	memset(sites + c->n_sites, 0, (n - c->n_sites) * sizeof *sites);
	c->sites = sites;
	c->n_sites = n;
	return 0;
}

static int
add_values(struct st_codec *c, struct memory *m, uint32_t n)
{
	if (c->n_values + n > c->room_values) {
		uint32_t room = c->room_values ? 2 * c->room_values : 4096;
		struct value *values = reallocarray(c->values, room, sizeof *values);
		if (!values)
			return -1;
		c->values = values;
		c->room_values = room;
	}
	m->values = c->n_values;
	m->n = n;
	c->n_values += n;
	return 0;
}

/* The memory of a site that this epoch has not met. NULL: there is no such site with n values, or
 * no memory left. */
static __attribute__((noinline)) struct memory *
meet(struct st_codec *c, uint32_t site, uint32_t n, const strobe_site *sites)
{
	if (site >= c->n_sites && (site > LARGEST_SITE || grow_sites(c, site)))
		return NULL;
	struct memory *m = &c->sites[site];
	if (m->epoch == c->epoch || sites[site].n_values != n || n > MOST_VALUES ||
	    (m->n != n && add_values(c, m, n)))
		return NULL;
	m->epoch = c->epoch;
	m->next = UINT32_MAX;
	if (n)
		memset(&c->values[m->values], 0, n * sizeof *c->values);
	return m;
}

static inline struct memory *
recall(struct st_codec *c, uint32_t site, uint32_t n, const strobe_site *sites)
{
	if (__builtin_expect(site < c->n_sites, 1)) {
		struct memory *m = &c->sites[site];
		if (__builtin_expect(m->epoch == c->epoch && m->n == n, 1))
			return m;
	}
	return meet(c, site, n, sites);
}

static inline unsigned char *
put(unsigned char *at, const void *from, size_t n)
{
	memcpy(at, from, n);
	return at + n;
}

/* Returns how the value is written. */
static inline unsigned
encode_value(struct value *v, uint64_t value, unsigned char **data)
{
	uint64_t difference = value - v->last;
	v->last = value;
	if (__builtin_expect(difference == v->stride, 1))
		return 0;
	v->stride = difference;
	int8_t small = (int8_t)difference;
	int32_t medium = (int32_t)difference;
	if ((uint64_t)(int64_t)small == difference) {
		*data = put(*data, &small, sizeof small);
		return 1;
	}
	if ((uint64_t)(int64_t)medium == difference) {
		*data = put(*data, &medium, sizeof medium);
		return 2;
	}
	*data = put(*data, &value, sizeof value);
	return 3;
}

/* Whether the site is the one that followed the last time; it is now. */
static inline bool
follow(struct st_codec *c, uint32_t last, uint32_t site)
{
	if (last == UINT32_MAX)
		return false;
	bool same = c->sites[last].next == site;
	c->sites[last].next = site;
	return same;
}

void
st_codec_encode(struct st_codec *c, const void *rows, size_t bytes, const strobe_site *sites,
                uint32_t n_sites, struct st_encoded *out)
{
	const uint64_t *in = rows, *end = in + bytes / sizeof *in;
	unsigned char *control = out->control, *data = out->data;
	uint32_t last = UINT32_MAX;
	out->n_rows = 0;
	while (in < end) {
		uint64_t tag = *in;
		uint32_t site = (uint32_t)(tag >> 4), n = (uint32_t)tag & 15;
		if (tag >> 4 >= n_sites || (size_t)(end - in) <= n)
			break;
		struct memory *m = recall(c, site, n, sites);
		if (!m)
			break;
		unsigned bits = !follow(c, last, site), shift = 1;
		last = site;
		if (bits)
			data = put(data, &site, sizeof site);
		struct value *values = &c->values[m->values];
		in++;
		for (uint32_t i = 0; i < n; i++, shift += 2) {
			if (shift > 6) {
				*control++ = (unsigned char)bits;
				bits = shift = 0;
			}
			bits |= encode_value(&values[i], *in++, &data) << shift;
		}
		*control++ = (unsigned char)bits;
		out->n_rows++;
	}
	out->n_control = (size_t)(control - out->control);
	out->n_data = (size_t)(data - out->data);
	out->whole = in == end;
}

/* ---- the other end ---- */

static bool
take(struct st_decoding *in, void *to, size_t n)
{
	if (in->n_data < n)
		return false;
	memcpy(to, in->data, n);
	in->data += n;
	in->n_data -= n;
	return true;
}

static bool
take_control(struct st_decoding *in, unsigned *bits)
{
	if (!in->n_control)
		return false;
	*bits = *in->control++;
	in->n_control--;
	return true;
}

static bool
decode_value(struct st_decoding *in, struct value *v, unsigned how)
{
	int8_t small;
	int32_t medium;
	uint64_t value;
	switch (how) {
	case 0:
		value = v->last + v->stride;
		break;
	case 1:
		if (!take(in, &small, sizeof small))
			return false;
		value = v->last + (uint64_t)(int64_t)small;
		break;
	case 2:
		if (!take(in, &medium, sizeof medium))
			return false;
		value = v->last + (uint64_t)(int64_t)medium;
		break;
	default:
		if (!take(in, &value, sizeof value))
			return false;
	}
	v->stride = value - v->last;
	v->last = value;
	return true;
}

int
st_codec_decode(struct st_codec *c, struct st_decoding *in, uint32_t *site,
                uint64_t values[STROBE_MOST_COLUMNS])
{
	unsigned bits, shift = 1;
	if (!in->n_control)
		return 0;
	take_control(in, &bits);
	/* The row before has made sure that its site's memory is there. */
	if (!(bits & 1))
		*site = in->last == UINT32_MAX ? UINT32_MAX : c->sites[in->last].next;
	else if (!take(in, site, sizeof *site))
		return -1;
	if (*site >= in->n_sites)
		return -1;
	uint32_t n = in->sites[*site].n_values;
	struct memory *m = recall(c, *site, n, in->sites);
	if (!m)
		return -1;
	follow(c, in->last, *site);
	in->last = *site;
	for (uint32_t i = 0; i < n; i++, shift += 2) {
		struct value *v = &c->values[m->values + i];
		if (shift > 6) {
			shift = 0;
			if (!take_control(in, &bits))
				return -1;
		}
		if (!decode_value(in, v, bits >> shift & 3))
			return -1;
		values[i] = v->last;
	}
	return 1;
}
