/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/order.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Sorts by one digit, from `from` into `to`. */
static void
by_digit(const struct st_keyed *from, struct st_keyed *to, size_t n, int shift)
{
	size_t places[DIGITS] = {0}, place = 0;
	for (size_t i = 0; i < n; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = places[digit];
		places[digit] = place;
		place += here;
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

st_status
st_order_keys(struct st_keyed *v, size_t n)
{
	uint64_t differ = 0;
	size_t ordered = 1;
	for (size_t i = 1; i < n; i++) {
		differ |= v[i].key ^ v[0].key;
		ordered += v[i].key >= v[i - 1].key;
	}
	if (ordered >= n)
		return 0;
	struct st_keyed *other = calloc(n, sizeof *other), *from = v, *to = other;
	if (!other)
		return -1;
	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		by_digit(from, to, n, shift);
		struct st_keyed *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(other);
	return 0;
}
