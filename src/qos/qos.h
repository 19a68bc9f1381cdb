/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quality of service: a metric of the program is watched, and the budget of each period follows it.
 * A thread polls the source, so that nothing else waits for it.
 */
#ifndef STROBE_QOS_QOS_H
#define STROBE_QOS_QOS_H

#include <stddef.h>

#include "base/error.h"
#include "qos/monitor.h"

struct st_qos;

/* The form of source i, "cmd:COMMAND"; NULL: there are no more. */
const char *st_qos_form(size_t i);
/* source: "NAME:..". NULL with *e when it is none or cannot be had. */
struct st_qos *st_qos_open(const char *source, const struct st_qos_goal *goal, struct st_error *e);
const char *st_qos_source(const struct st_qos *q);
const struct st_qos_goal *st_qos_goal(const struct st_qos *q);
/* The program runs from now on. */
void st_qos_start(struct st_qos *q);
/* Seconds of a period now; as if nothing were known also when the source keeps the thread for too
 * long. Says once on standard error when nothing is known of the metric. */
double st_qos_budget(struct st_qos *q);
/* The last reading; value is not a number when there has been none. */
struct st_qos_row st_qos_last(struct st_qos *q);
/* The program has been asked to end: a source that it would wait for lets go of it, for a moment,
 * and for a while the budget is at least that of the start. */
void st_qos_disconnect(struct st_qos *q);
/* The program has ended. */
void st_qos_stop(struct st_qos *q);
/* The readings and the changes of the state, after the monitor has stopped. */
const struct st_qos_row *st_qos_rows(const struct st_qos *q, size_t *n);
/* The first failure, a sentence; NULL: there was none. */
const char *st_qos_trouble(const struct st_qos *q);
void st_qos_free(struct st_qos *q);

const char *st_qos_policy_name(enum st_qos_policy policy);
const char *st_qos_state_name(enum st_qos_state state);

#endif
