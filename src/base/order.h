/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting what is often in order already. Hosted code only. */
#ifndef STROBE_BASE_ORDER_H
#define STROBE_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/status.h"

/* qsort, but for a vector that may be empty, and one look at each element when all are in order. */
static inline void
st_order(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	size_t i = 1;
	for (const char *at = v; i < n && compare(at, at + size) <= 0; at += size)
		i++;
	if (i < n)
		qsort(v, n, size, compare);
}

struct st_keyed {
	uint64_t key;
	uint64_t value;
};

/*
 * Sorts by key, digit by digit (radix sort), in a time that grows with n only; elements of one key
 * keep their order. For vectors of 100,000 and more; needs room for another one. -1: out of memory,
 * the vector is as it was.
 */
st_status st_order_keys(struct st_keyed *v, size_t n);

#endif
