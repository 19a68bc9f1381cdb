/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The costs of a function's callees as metrics of the function, in the file of records. */
#ifndef STROBE_RECORDING_CALLEES_H
#define STROBE_RECORDING_CALLEES_H

#include <stdio.h>

#include "recording/targets.h"

/* A cost of one callee: a column of the file. */
struct st_callee_column {
	char *name;         /* an identifier */
	const char *callee; /* its full name; "": all callees that are not told apart */
	bool calls;         /* the number of calls; otherwise: */
	unsigned metric;    /* enum st_record_metric */
	uint32_t at;        /* offset / 8 in a row */
};

struct st_callee_columns {
	ST_VEC(struct st_callee_column) list;
};

/* Finds the columns of a function: none unless callees are recorded. Fails when memory is
 * exhausted. The caller frees in both cases. */
st_status st_callee_columns_find(const struct st_recording_targets *t, const struct st_recorded *f,
                                 struct st_callee_columns *out);
void st_callee_columns_free(struct st_callee_columns *c);

#endif
