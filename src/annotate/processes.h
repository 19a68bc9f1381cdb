/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Differences between the processes that were recorded. The records of one process have its
 * addresses and its share of the caches in common, so that more records of it do not tell how much
 * the next process differs.
 */
#ifndef STROBE_ANNOTATE_PROCESSES_H
#define STROBE_ANNOTATE_PROCESSES_H

#include "annotate/annotation.h"
#include "annotate/records.h"

/* Sets a->processes and a->between from the records that the annotation was made of. Fails when
 * memory is exhausted. */
st_status st_ann_find_processes(struct st_ann_annotation *a, const struct st_ann_records *r,
                                size_t metric);

#endif
