/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that are written one part after another, and read back with every length checked. */
#ifndef STROBE_STORE_BYTES_H
#define STROBE_STORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"

struct st_bytes {
	unsigned char *v;
	size_t n, cap;
	bool failed; /* memory was exhausted: what is there is not all */
};

/* Space for n more bytes at the end; NULL: memory is exhausted. */
static inline unsigned char *
st_bytes_room(struct st_bytes *b, size_t n)
{
	if (b->cap - b->n < n) {
		size_t want = b->cap * 2 > b->n + n ? b->cap * 2 : b->n + n + 256;
		unsigned char *grown = realloc(b->v, want);
		if (!grown) {
			b->failed = true;
			return NULL;
		}
		b->v = grown;
		b->cap = want;
	}
	return b->v + b->n;
}

static inline void
st_bytes_add(struct st_bytes *b, const void *bytes, size_t n)
{
	unsigned char *at = st_bytes_room(b, n);
	if (at && n)
		memcpy(at, bytes, n);
	b->n += at ? n : 0;
}

static inline void
st_bytes_number(struct st_bytes *b, uint64_t n)
{
	unsigned char *at = st_bytes_room(b, ST_VARINT_MOST);
	if (at)
		b->n = (size_t)(st_varint_put(at, n) - b->v);
}

/* A length and that many bytes. */
static inline void
st_bytes_piece(struct st_bytes *b, const void *bytes, size_t n)
{
	st_bytes_number(b, n);
	st_bytes_add(b, bytes, n);
}

static inline void
st_bytes_free(struct st_bytes *b)
{
	free(b->v);
	*b = (struct st_bytes){0};
}

/* Reading: from `at` to `end`; bad once something did not fit. */
struct st_cut {
	const unsigned char *at, *end;
	bool bad;
};

static inline struct st_cut
st_cut_of(const void *bytes, size_t n)
{
	return (struct st_cut){bytes, (const unsigned char *)bytes + n, false};
}

static inline uint64_t
st_cut_number(struct st_cut *c)
{
	uint64_t n = 0;
	if (!c->bad && !st_varint_take(&c->at, c->end, 64, &n))
		c->bad = true;
	return c->bad ? 0 : n;
}

/* The next n bytes; NULL: there are fewer. */
static inline const unsigned char *
st_cut_take(struct st_cut *c, uint64_t n)
{
	if (c->bad || (uint64_t)(c->end - c->at) < n) {
		c->bad = true;
		return NULL;
	}
	const unsigned char *taken = c->at;
	c->at += n;
	return taken;
}

/* Reads what st_bytes_piece wrote. */
static inline struct st_cut
st_cut_piece(struct st_cut *c)
{
	uint64_t n = st_cut_number(c);
	const unsigned char *at = st_cut_take(c, n);
	return at ? st_cut_of(at, n) : (struct st_cut){.bad = true};
}

/* The same as text, malloc'ed; NULL: it did not fit, or memory is exhausted. */
static inline char *
st_cut_text(struct st_cut *c)
{
	struct st_cut piece = st_cut_piece(c);
	return piece.bad ? NULL : strndup((const char *)piece.at, (size_t)(piece.end - piece.at));
}

#endif
