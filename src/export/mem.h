/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations in the formats of contexts: a path is worth what it has of one metric. */
#ifndef STROBE_EXPORT_MEM_H
#define STROBE_EXPORT_MEM_H

#include "export/contexts.h"
#include "report/mem.h"

/* Makes contexts of allocations. lines: calls from several lines of a function are several
 * contexts. -1 with *e: memory is exhausted. The caller frees in both cases; m and p have to
 * outlive it. */
st_status st_mem_contexts_make(struct st_contexts *c, const struct st_mem *m,
                               const struct st_profile *p, enum st_mem_metric metric, bool lines,
                               struct st_error *e);
/* -1 with *e: memory is exhausted. */
st_status st_mem_write_contexts(const struct st_mem *m, const struct st_profile *p,
                                enum st_mem_metric metric, const struct st_context_format *format,
                                FILE *out, struct st_error *e);

#endif
