/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the threads of a program waited for each other, as a timeline: a lane for each thread, with
 * the life of the thread in its first row and its waits in the second. From the rows that the tool
 * locks records with its option `times`. */
#ifndef STROBE_TRACE_WAITS_H
#define STROBE_TRACE_WAITS_H

#include "rows/rowfile.h"
#include "trace/lanes.h"

/* What a slice is: the `function` of struct st_lane_slice is the index. */
struct st_waits_label {
	char *text;           /* that is shown */
	const char *kind;     /* of the lock; NULL: the slice is the life of a thread */
	const char *function; /* that waits; both texts are of the reader of rows */
	uint64_t holder;      /* the thread that is waited for; 0: it is not known */
};

struct st_waits {
	struct st_lanes lanes;
	struct st_hashmap index; /* of labels */
	ST_VEC(struct st_waits_label) labels;
	struct st_error damage; /* why the rows end too early; the text is empty if they do not */
};

/* Whether the profile has such rows; they are of the stream ST_WAITS_STREAM. */
#define ST_WAITS_STREAM "lock_times"
bool st_waits_recorded(const struct st_profile *p);
/* About `most` slices, as struct st_lanes has them. 0, or -1 with *e: the rows are those of another
 * tool, or memory is exhausted. The caller frees in both cases. */
st_status st_waits_read(struct st_waits *w, const struct st_profile *p, struct st_row_reader *rows,
                        size_t most, struct st_error *e);
void st_waits_free(struct st_waits *w);

#endif
