/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quality of service of a run: the source is watched without a goal. */
#include <stdlib.h>

#include "base/number.h"
#include "tune/run.h"

st_status
st_tune_watch(struct st_qos **q, const struct st_tune_asked *asked, struct st_error *e)
{
	/* The size of the budget does not matter here. */
	struct st_run_options o = {
	        .budget = {.period_ns = (uint64_t)(asked->period * 1e9), .ticks_per_second = 1}};
	struct st_qos_choice watched = *asked->qos;
	watched.policy = ST_QOS_WATCH;
	int status = st_qos_apply(&watched, &o, e);
	*q = o.qos;
	return status;
}

static st_status
too_few(const struct st_qos *q, size_t n, struct st_error *e)
{
	const char *trouble = st_qos_trouble(q);
	return st_fail(e, ST_EXIT_FAILED, "%s gave %s in a run, and a search needs at least %d: %s",
	               st_qos_source(q), ST_COUNT(n, "reading", "readings"), ST_LIMIT_READINGS,
	               trouble ? trouble
	                       : "let the program run longer (a greater --for, or more work)");
}

st_status
st_tune_quality(const struct st_qos *q, struct st_quality *out, struct st_error *e)
{
	size_t n, read = 0;
	const struct st_qos_row *rows = st_qos_rows(q, &n);
	const struct st_qos_goal *goal = st_qos_goal(q);
	double *values = calloc(n + 1, sizeof *values);
	if (!values)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (rows[i].state == ST_QOS_KEPT || rows[i].state == ST_QOS_MISSED)
			values[read++] = rows[i].value;
	*out = st_quality_of(values, read, goal->threshold, goal->lower);
	free(values);
	return read >= ST_LIMIT_READINGS ? 0 : too_few(q, read, e);
}
