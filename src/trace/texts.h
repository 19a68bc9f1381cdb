/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, each kept once. */
#ifndef STROBE_TRACE_TEXTS_H
#define STROBE_TRACE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/vec.h"

struct st_trace_texts {
	ST_VEC(char *) v;
	struct st_hashmap index;
};

/* The number of the text, the same each time; UINT32_MAX: memory is exhausted. */
uint32_t st_trace_intern(struct st_trace_texts *t, const char *text, size_t n);
void st_trace_texts_free(struct st_trace_texts *t);

#endif
