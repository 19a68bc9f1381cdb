/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the index of a commit: "pidx", the version and the number of entries, then for each entry
 * the time, the SHA-1 and the name, which ends with a zero. In version 2, texts follow, each after
 * its length. Releases of Perun that write version 2 differ in the number of texts: each number is
 * tried, and the right one is that with which the last entry ends at the end of the file.
 */
#include <stdlib.h>
#include <string.h>

#include "import/perun_store.h"

enum { HEADER = 12, SIMPLE = 1, WITH_TEXTS = 2, FEWEST_TEXTS = 5, MOST_TEXTS = 7 };

/* The rest of the file. */
struct index_cut {
	const unsigned char *at;
	size_t n;
};

bool
st_perun_is_index(const void *bytes, size_t n)
{
	return n >= HEADER && !memcmp(bytes, "pidx", 4);
}

static uint32_t
index_number(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* n bytes; NULL: there are fewer. */
static const unsigned char *
index_take(struct index_cut *c, size_t n)
{
	if (n > c->n)
		return NULL;
	const unsigned char *at = c->at;
	c->at += n;
	c->n -= n;
	return at;
}

static bool
index_skip_texts(struct index_cut *c, int texts)
{
	for (int i = 0; i < texts; i++) {
		const unsigned char *length = index_take(c, 4);
		if (!length || !index_take(c, index_number(length)))
			return false;
	}
	return true;
}

/* Reads an entry. *good false: the file has no entry of this form here. -1: memory is exhausted. */
static st_status
index_entry(struct index_cut *c, int texts, struct st_perun_index *out, bool *good)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *time = index_take(c, 4), *sha = index_take(c, ST_SHA1_BYTES);
	const unsigned char *end = sha ? memchr(c->at, 0, c->n) : NULL;
	const char *name = (const char *)c->at;
	*good = end && index_take(c, (size_t)(end - c->at) + 1) && index_skip_texts(c, texts);
	if (!*good)
		return ST_OK;
	struct st_perun_entry *e = ST_PUSH(&out->v);
	if (!e)
		return ST_FAILED;
	*e = (struct st_perun_entry){.name = strdup(name), .time = index_number(time)};
	for (size_t i = 0; i < ST_SHA1_BYTES; i++) {
		e->object[2 * i] = digits[sha[i] >> 4];
		e->object[2 * i + 1] = digits[sha[i] & 15];
	}
	return e->name ? ST_OK : ST_FAILED;
}

static st_status
index_entries(struct index_cut c, uint32_t n, int texts, struct st_perun_index *out, bool *good)
{
	*good = true;
	for (uint32_t i = 0; i < n && *good; i++)
		if (index_entry(&c, texts, out, good))
			return ST_FAILED;
	*good = *good && !c.n;
	if (!*good)
		st_perun_index_free(out);
	return ST_OK;
}

st_status
st_perun_index_read(struct st_perun_index *out, const void *bytes, size_t n, struct st_error *e)
{
	struct index_cut c = {bytes, n};
	*out = (struct st_perun_index){0};
	if (!st_perun_is_index(bytes, n))
		return st_fail(e, ST_EXIT_FAILED, "it is not an index of Perun");
	const unsigned char *header = index_take(&c, HEADER);
	uint32_t version = index_number(header + 4), entries = index_number(header + 8);
	if (version < SIMPLE || version > WITH_TEXTS)
		return st_fail(e, ST_EXIT_FAILED,
		               "its version is %u; strobe reads versions 1 and 2", version);
	bool good = false;
	int from = version == SIMPLE ? 0 : FEWEST_TEXTS, to = version == SIMPLE ? 0 : MOST_TEXTS;
	for (int texts = from; texts <= to && !good; texts++)
		if (index_entries(c, entries, texts, out, &good))
			return st_fail(e, ST_EXIT_FAILED, "no memory left");
	return good ? ST_OK
	            : st_fail(e, ST_EXIT_FAILED, "its %u entries do not end at the end of the file",
	                      entries);
}

void
st_perun_index_free(struct st_perun_index *index)
{
	for (size_t i = 0; i < index->v.n; i++)
		free(index->v.v[i].name);
	free(index->v.v);
	*index = (struct st_perun_index){0};
}
