/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for a range of the bytes of an input. */
#include <stdlib.h>

#include "base/random.h"
#include "fuzz/rules.h"

enum { MOST_DOUBLINGS = 6, LARGEST_SHIFT = 5 };

/* [from, to), with at least one byte. */
struct range {
	size_t from, to;
};

/* A range with a random end; all bytes; or, more often than by chance, few bytes. The input has at
 * least one byte. */
static struct range
random_range(const struct st_fuzz_bytes *b, uint64_t *random)
{
	size_t from, length, most = b->n;
	switch (st_random_below(random, 4)) {
	case 0:
		return (struct range){0, 1 + st_random_below(random, b->n)};
	case 1:
		return (struct range){st_random_below(random, b->n), b->n};
	case 2:
		return (struct range){0, b->n};
	default:
		for (size_t halvings = st_random_below(random, 20); halvings && most > 8;
		     halvings--)
			most /= 2;
		length = 1 + st_random_below(random, most);
		from = st_random_below(random, b->n - length + 1);
		return (struct range){from, from + length};
	}
}

/* Doubles the range 1 to 6 times, until the input is as large as it may be. */
static st_status
repeat_bytes(struct st_fuzz_bytes *b, struct range r, uint64_t *random)
{
	size_t doublings = 1 + st_random_below(random, MOST_DOUBLINGS);
	for (size_t n = r.to - r.from; doublings && !(b->most && b->n >= b->most); doublings--) {
		if (st_fuzz_bytes_splice(b, r.from, 0, b->v + r.from, n))
			return ST_FAILED;
		n *= 2;
	}
	return ST_OK;
}

static void
reverse_bytes(struct st_fuzz_bytes *b, struct range r)
{
	for (size_t i = r.from, k = r.to - 1; i < k; i++, k--) {
		const uint8_t byte = b->v[i];
		b->v[i] = b->v[k];
		b->v[k] = byte;
	}
}

static int
range_by_value(const void *x, const void *y)
{
	const uint8_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/* Adds 1, 2, 4, 8 or 16 to each byte, or subtracts it. */
static void
add_to_bytes(struct st_fuzz_bytes *b, struct range r, uint64_t *random)
{
	const unsigned what = 1u << st_random_below(random, LARGEST_SHIFT);
	const bool subtract = st_random_below(random, 2);
	for (size_t i = r.from; i < r.to; i++)
		b->v[i] = (uint8_t)(subtract ? b->v[i] - what : b->v[i] + what);
}

st_status
st_rule_range(enum st_fuzz_rule rule, struct st_fuzz_bytes *b, uint64_t *random)
{
	if (!b->n)
		return ST_OK;
	const struct range r = random_range(b, random);
	switch (rule) {
	case ST_RULE_REPEAT_BYTES:
		return repeat_bytes(b, r, random);
	case ST_RULE_ADD_TO_BYTES:
		add_to_bytes(b, r, random);
		return ST_OK;
	case ST_RULE_REVERSE_BYTES:
		reverse_bytes(b, r);
		return ST_OK;
	default: /* ST_RULE_SORT_BYTES, ST_RULE_SORT_BYTES_DESCENDING */
		qsort(b->v + r.from, r.to - r.from, 1, range_by_value);
		if (rule == ST_RULE_SORT_BYTES_DESCENDING)
			reverse_bytes(b, r);
		return ST_OK;
	}
}
