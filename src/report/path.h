/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The executed path, for people and for other programs. */
#ifndef STROBE_REPORT_PATH_H
#define STROBE_REPORT_PATH_H

#include <stdio.h>

#include "base/status.h"
#include "reconstruct/walk.h"
#include "report/text.h"

struct st_path_report {
	const struct st_walk *walk;
	const struct st_profile *profile; /* of the run; NULL: unknown */
	bool gaps;                        /* nothing but gaps */
	bool blocks;                      /* a line for each block */
	size_t top;                       /* lines of each window; 0: all */
};

/* The common part of the gaps of all threads. */
struct st_path_sums {
	uint64_t windows, blocks; /* executed in them */
	uint64_t gaps, with_facts, exact;
	uint64_t ran; /* blocks that are certain, added up over the gaps */
};
struct st_path_sums st_path_add_up(const struct st_walk *w);

/* The executed code of the thread's process; NULL: unknown. */
const char *st_path_command(const struct st_path_report *r, const struct st_path_thread *t);

void st_path_print(const struct st_path_report *r, FILE *out);
/* All of it as JSON, to a stream. 0, or -1 when memory is exhausted. */
st_status st_path_json(const struct st_path_report *r, FILE *out);

/* "between", "entered", "left"; "last", "gap", "signal", "break". */
const char *st_path_fact_name(enum st_fact_kind kind);
const char *st_path_end_name(enum st_window_end end);

#endif
