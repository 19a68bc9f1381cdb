/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "rows/rowmemory.h"

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
	free(c->strange);
	free(c->how);
	free(c);
}

void
st_codec_reset(struct st_codec *c)
{
	c->epoch += 1ull << 32;
	c->n_values = 0;
}

/* Makes an array longer; false: no memory. */
static bool
lengthen(void *array, size_t n, size_t each)
{
	void **at = array, *longer = reallocarray(*at, n, each);
	if (longer)
		*at = longer;
	return longer;
}

bool
st_know_sites(struct st_codec *c, uint32_t n)
{
	if (n < c->n_sites)
		return true;
	if (n > ST_MEMORY_SITES)
		return false;
	uint32_t room = n + n / 2 + 1024;
	if (!lengthen(&c->trails, room, sizeof *c->trails) ||
	    !lengthen(&c->memories, room, sizeof *c->memories))
		return false;
	memset(c->memories + c->n_sites, 0, (room - c->n_sites) * sizeof *c->memories);
	c->n_sites = room;
	return true;
}

static bool
add_values(struct st_codec *c, struct st_memory *m, uint32_t n)
{
	if (!n)
		return true;
	if (c->n_values + n > c->room_values) {
		uint32_t room = c->room_values ? 2 * c->room_values : 4096;
		if (!lengthen(&c->values, room, sizeof *c->values))
			return false;
		c->room_values = room;
	}
	m->many = c->n_values;
	memset(&c->values[c->n_values], 0, n * sizeof *c->values);
	c->n_values += n;
	return true;
}

uint32_t
st_recall(struct st_codec *c, uint64_t tag, const strobe_site *sites)
{
	uint32_t n = (uint32_t)tag & 15, self = (uint32_t)(tag >> 4) + 1;
	struct st_memory *m = &c->memories[self];
	uint64_t key = c->epoch | st_name_of(tag);
	if (m->key == key)
		return self;
	if (sites[tag >> 4].n_values != n || n > ST_MEMORY_VALUES ||
	    (n != 1 && !add_values(c, m, n)))
		return 0;
	m->key = key;
	m->second = 0;
	c->trails[self] = (struct st_trail){.next = ST_NOBODY};
	return self;
}

void
st_begin_rows(struct st_codec *c)
{
	c->trails[0].next = ST_NOBODY;
	c->memories[0].second = 0;
}

void
st_lead_to(struct st_codec *c, uint32_t before, uint64_t name)
{
	uint64_t last = c->trails[before].next;
	c->memories[before].second = last == ST_NOBODY ? 0 : st_site_named(last);
	c->trails[before].next = name;
}
