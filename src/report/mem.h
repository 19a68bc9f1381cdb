/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations as tables for people, and as JSON. */
#ifndef STROBE_REPORT_MEM_H
#define STROBE_REPORT_MEM_H

#include <jansson.h>
#include <stdio.h>

#include "mem/mem.h"

/* Metrics by which sites are sorted and exported. M(identifier, word, description) */
#define ST_MEM_METRICS(M)                                                                          \
	M(PEAK, "peak", "bytes live at the peak")                                                  \
	M(LIVE, "live", "bytes never freed")                                                       \
	M(TOTAL, "total", "bytes allocated")                                                       \
	M(CALLS, "calls", "allocations")
enum st_mem_metric {
#define M(id, word, help) ST_MEM_##id,
	ST_MEM_METRICS(M)
#undef M
};
/* Its word, and what it is of a context. */
const char *st_mem_metric_name(enum st_mem_metric metric);
bool st_mem_metric_named(const char *name, enum st_mem_metric *metric);
/* The metric for who does not name one: of strobe mem the peak, of the tool alloc the calls. */
enum st_mem_metric st_mem_usual_metric(const struct st_profile *p);
uint64_t st_mem_value(const struct st_mem_context *c, enum st_mem_metric metric);

struct st_mem_view {
	enum st_mem_metric metric;
	size_t top;   /* rows; 0: all */
	bool callers; /* each site's paths, too */
};

/* The totals, the sites of most, and what has to be known of the numbers. */
void st_mem_text(const struct st_mem *m, const struct st_mem_view *view, FILE *out);
/* The tree of calls that led to allocations, the `top` nodes with the most of them (0: all).
 * callers: from the allocation functions to their callers. */
st_status st_mem_tree_text(const struct st_mem *m, bool callers, size_t top, FILE *out,
                           struct st_error *e);
/* The same for the page, where nodes that there is no room for are one node "(other)" of their
 * parent. NULL: no memory. */
json_t *st_mem_tree_json(const struct st_mem *m, bool callers);
/* As docs/mem.md has it. NULL: no memory. */
json_t *st_mem_object(const struct st_mem *m, const struct st_profile *p);
/* The same as text. -1 with *e: memory is exhausted. */
st_status st_mem_json(const struct st_mem *m, const struct st_profile *p, FILE *out,
                      struct st_error *e);

#endif
