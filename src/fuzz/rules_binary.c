/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for bytes, and for the tags of XML. */
#include <string.h>

#include "base/random.h"
#include "fuzz/rules.h"

static st_status
remove_zero(struct st_fuzz_bytes *b, uint64_t *random)
{
	size_t zeros = 0, wanted;
	for (size_t i = 0; i < b->n; i++)
		zeros += b->v[i] == 0;
	if (!zeros)
		return ST_OK;
	wanted = st_random_below(random, zeros);
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i] == 0 && wanted-- == 0)
			return st_fuzz_bytes_splice(b, i, 1, NULL, 0);
	return ST_OK;
}

static void
swap_bytes(struct st_fuzz_bytes *b, uint64_t *random)
{
	size_t i = st_random_below(random, b->n), k = st_random_below(random, b->n);
	uint8_t byte = b->v[i];
	b->v[i] = b->v[k];
	b->v[k] = byte;
}

st_status
st_rule_binary(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	uint8_t byte = 0;
	if (rule == ST_RULE_INSERT_BYTE)
		byte = (uint8_t)st_random_below(random, 256);
	if (rule == ST_RULE_INSERT_BYTE || rule == ST_RULE_INSERT_ZERO)
		return st_fuzz_bytes_splice(b, st_random_below(random, b->n + 1), 0, &byte, 1);
	if (!b->n)
		return ST_OK;
	switch (rule) {
	case ST_RULE_REMOVE_ZERO:
		return remove_zero(b, random);
	case ST_RULE_REMOVE_BYTE:
		return st_fuzz_bytes_splice(b, st_random_below(random, b->n), 1, NULL, 0);
	case ST_RULE_SWAP_BYTES:
		swap_bytes(b, random);
		return ST_OK;
	default: { /* ST_RULE_FLIP_BIT */
		size_t bit = st_random_below(random, b->n * 8);
		b->v[bit / 8] ^= (uint8_t)(1u << bit % 8);
		return ST_OK;
	}
	}
}

/* ---- tags ---- */

/* [from, to) of the input; of an attribute, the value with its quotes begins at `value`. */
struct span {
	size_t from, to, value;
};

/* The next tag from `at` on: from its < to behind its >. */
static bool
next_tag(const struct st_fuzz_bytes *b, size_t at, struct span *tag)
{
	const uint8_t *open = at < b->n ? memchr(b->v + at, '<', b->n - at) : NULL;
	const uint8_t *close = open ? memchr(open, '>', (size_t)(b->v + b->n - open)) : NULL;
	if (!close)
		return false;
	*tag = (struct span){(size_t)(open - b->v), (size_t)(close - b->v) + 1, 0};
	return true;
}

/* The next NAME="VALUE", with the blank before it, in a tag. */
static bool
next_attribute(const struct st_fuzz_bytes *b, size_t at, size_t end, struct span *attribute)
{
	for (size_t i = at; i + 1 < end; i++) {
		if (b->v[i] != '=' || (b->v[i + 1] != '"' && b->v[i + 1] != '\''))
			continue;
		const uint8_t *close = memchr(b->v + i + 2, b->v[i + 1], end - i - 2);
		size_t from = i;
		while (from > at && !strchr(" \t\r\n<", b->v[from - 1]))
			from--;
		if (!close || from == i)
			continue;
		*attribute = (struct span){from, (size_t)(close - b->v) + 1, i + 1};
		return true;
	}
	return false;
}

/* Of all that there are, the one with that number; *n counts them. */
static bool
find_span(const struct st_fuzz_bytes *b, bool attributes, size_t wanted, struct span *out,
          size_t *n)
{
	struct span tag, attribute;
	*n = 0;
	for (size_t at = 0; next_tag(b, at, &tag); at = tag.to) {
		if (!attributes && (*n)++ == wanted) {
			*out = tag;
			return true;
		}
		for (size_t in = tag.from; attributes && next_attribute(b, in, tag.to, &attribute);
		     in = attribute.to)
			if ((*n)++ == wanted) {
				*out = attribute;
				return true;
			}
	}
	return false;
}

st_status
st_rule_xml(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	const bool attributes = rule != ST_RULE_REMOVE_TAG;
	struct span span;
	size_t n;
	find_span(b, attributes, SIZE_MAX, &span, &n);
	if (!n || !find_span(b, attributes, st_random_below(random, n), &span, &n))
		return ST_OK;
	if (rule == ST_RULE_REMOVE_ATTRIBUTE_NAME)
		return st_fuzz_bytes_splice(b, span.from, span.value - 1 - span.from, NULL, 0);
	if (rule == ST_RULE_REMOVE_ATTRIBUTE_VALUE)
		return st_fuzz_bytes_splice(b, span.value + 1, span.to - span.value - 2, NULL, 0);
	if (rule == ST_RULE_REMOVE_ATTRIBUTE && span.from && strchr(" \t\r\n", b->v[span.from - 1]))
		span.from--;
	return st_fuzz_bytes_splice(b, span.from, span.to - span.from, NULL, 0);
}
