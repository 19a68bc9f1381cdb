/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays for hosted code: struct { T *v; size_t n, cap; } and ST_PUSH. */
#ifndef STROBE_PROFILE_VEC_H
#define STROBE_PROFILE_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ST_VEC(type)                                                                               \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
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

/* A new zeroed element at the end of the array, or NULL when memory is exhausted. */
#define ST_PUSH(vec)                                                                               \
	({                                                                                         \
		void *grown_ = st_vec_grow((vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v);     \
		if (grown_)                                                                        \
			(vec)->v = grown_;                                                         \
		grown_ ? &(vec)->v[(vec)->n++] : NULL;                                             \
	})

#endif
