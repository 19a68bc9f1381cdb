/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From program addresses to the mappings of a process. */
#ifndef STROBE_COLLECT_SPANS_H
#define STROBE_COLLECT_SPANS_H

#include "collect/view.h"

/* Mappings ordered by start, each with the greatest end up to it, so that a search knows when to
 * stop. */
struct st_span {
	uint64_t start, end, reach;
	uint32_t map;
};

/* n_maps of them, which the caller frees. NULL: no memory. */
struct st_span *st_spans_new(const struct st_view *v);

/* The mapping that holds the address: of several one after the other the one still there, or else
 * the latest. -1: none. */
int64_t st_spans_find(const struct st_view *v, const struct st_span *spans, uint64_t address);

#endif
