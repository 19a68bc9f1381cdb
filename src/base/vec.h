/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays for hosted code: struct { T *v; size_t n, cap; } and ST_PUSH. */
#ifndef STROBE_BASE_VEC_H
#define STROBE_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ST_VEC(type)                                                                               \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* Long arrays in large pages, where the kernel leaves that to programs: for millions of contexts it
 * spent more time on small ones than we did on the contexts. For arrays that stay where they are:
 * to move large pages is slow. What cannot be done costs nothing. */
static inline void
st_prefer_large_pages(void *v, size_t bytes)
{
	enum { LONG = 4 << 20, PAGE = 4096 };
	const uintptr_t page = ~(uintptr_t)(PAGE - 1), from = (uintptr_t)v & page;
	if (v && bytes >= LONG)
		madvise((void *)from, (((uintptr_t)v + bytes + PAGE - 1) & page) - from,
		        MADV_HUGEPAGE);
}

/* Makes room for element n and zeroes it. Returns the array, or NULL when memory is exhausted. */
static inline void *
st_vec_grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n >= *cap) {
		size_t want = *cap ? *cap * 2 : 16;
		void *grown = reallocarray(v, want, size);
		if (!grown)
			return NULL;
		v = grown;
		*cap = want;
	}
	memset((char *)v + n * size, 0, size);
	return v;
}

/* Makes room for that many elements in total. Returns the array, or NULL when memory is exhausted.
 */
static inline void *
st_vec_reserve(void *v, size_t n, size_t *cap, size_t size)
{
	if (n <= *cap)
		return v;
	void *grown = reallocarray(v, n, size);
	if (grown) {
		st_prefer_large_pages(grown, n * size);
		*cap = n;
	}
	return grown;
}

/* A new zeroed element at the end of the array, or NULL when memory is exhausted. */
#define ST_PUSH(vec)                                                                               \
	({                                                                                         \
		void *grown_ = st_vec_grow((vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v);     \
		if (grown_)                                                                        \
			(vec)->v = grown_;                                                         \
		grown_ ? &(vec)->v[(vec)->n++] : NULL;                                             \
	})

/* Makes room for that many more elements; false: memory is exhausted. */
#define ST_RESERVE(vec, more)                                                                      \
	({                                                                                         \
		void *grown_ = st_vec_reserve((vec)->v, (vec)->n + (more), &(vec)->cap,            \
		                              sizeof *(vec)->v);                                   \
		if (grown_)                                                                        \
			(vec)->v = grown_;                                                         \
		grown_ != NULL;                                                                    \
	})

#endif
