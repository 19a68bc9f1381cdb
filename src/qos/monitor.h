/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns readings of the metric into changes of the budget, and keeps a record of them. */
#ifndef STROBE_QOS_MONITOR_H
#define STROBE_QOS_MONITOR_H

#include <stddef.h>

#include "qos/policy.h"

/* ST_QOS_STATE(identifier, "name"): before the first value; the threshold is kept, is missed; the
 * source fails; it has said nothing for too long. */
#define ST_QOS_STATES(ST_QOS_STATE)                                                                \
	ST_QOS_STATE(WAITING, "waiting")                                                           \
	ST_QOS_STATE(KEPT, "kept")                                                                 \
	ST_QOS_STATE(MISSED, "missed")                                                             \
	ST_QOS_STATE(FAILED, "failed")                                                             \
	ST_QOS_STATE(SILENT, "silent")

enum st_qos_state {
#define ST_QOS_STATE(id, name) ST_QOS_##id,
	ST_QOS_STATES(ST_QOS_STATE)
#undef ST_QOS_STATE
	        ST_QOS_N_STATES
};

/* A reading, or a change of the state. */
struct st_qos_row {
	double time;   /* seconds since the beginning */
	double value;  /* of the metric; valid when it is kept or missed */
	double budget; /* seconds of a period from here on */
	enum st_qos_state state;
};

/* A message of a source. */
enum st_qos_got { ST_QOS_NOTHING, ST_QOS_VALUE, ST_QOS_FAILURE };

struct st_qos_monitor {
	struct st_qos_goal goal;
	struct st_qos_hold hold;
	double patience; /* seconds without a value */
	double heard;    /* when the last one came */
	double budget;
	double window; /* seconds until a value tells all of a change; 0: at once */
	double raised; /* when the budget was; 0: never */
	enum st_qos_state state;
	struct st_qos_row *rows;
	size_t n, room;
};

enum { ST_QOS_MOST_ROWS = 1 << 20 }; /* kept */
/* Seconds that a source may take for its first value, or the program to end when it is asked to, if
 * there is a budget meanwhile. */
enum { ST_QOS_LONGEST_START = 10 };

/* Seconds of a period while nothing is known of the metric: `otherwise`, unless the budget does not
 * follow it. */
double st_qos_blind_budget(const struct st_qos_goal *goal, double otherwise);

/* Takes a reading of the source at a time: the budget follows. */
void st_qos_monitor_take(struct st_qos_monitor *m, double time, enum st_qos_got got, double value);

#endif
