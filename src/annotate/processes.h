/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Differences between the processes that were recorded. The records of one process have its
 * addresses and its share of the caches in common, so that more records of it do not tell how much
 * the next process differs.
 */
#ifndef STROBE_ANNOTATE_PROCESSES_H
#define STROBE_ANNOTATE_PROCESSES_H

#include "annotate/annotation.h"
#include "annotate/formulate.h"
#include "annotate/records.h"

/* The processor had another speed if it took this multiple of the time for a fixed loop. */
#define ST_ANN_PACE_MARGIN 1.1

/* Marks the processes during which the processor was slower than during the fastest one, unless
 * fewer than two others remain. slow: of each process, false on entry; the first element is not
 * used. Returns their number. */
size_t st_ann_mark_slow_processes(const struct st_ann_records *r, bool *slow);

/* Returns the mean time that the processes took for a fixed loop, in ns; 0: not known. slow:
 * processes that are left out; NULL: none is. */
double st_ann_pace(const struct st_ann_records *r, const bool *slow);

/* Sets a->processes and a->between from the rows that the annotation was made of. Fails when memory
 * is exhausted. */
st_status st_ann_find_processes(struct st_ann_annotation *a, const struct st_ann_records *r,
                                size_t metric, struct st_ann_rows rows);

#endif
