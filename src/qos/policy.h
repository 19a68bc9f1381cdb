/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the quality of a service to the budget of a period. Nothing here knows of clocks. */
#ifndef STROBE_QOS_POLICY_H
#define STROBE_QOS_POLICY_H

#include <stdbool.h>

/* ST_QOS_POLICY(identifier, "name"); the first is the default. WATCH: the budget stays as it is. */
#define ST_QOS_POLICIES(ST_QOS_POLICY)                                                             \
	ST_QOS_POLICY(HOLD, "hold")                                                                \
	ST_QOS_POLICY(FUNCTION, "function")                                                        \
	ST_QOS_POLICY(WATCH, "watch")

enum st_qos_policy {
#define ST_QOS_POLICY(id, name) ST_QOS_##id,
	ST_QOS_POLICIES(ST_QOS_POLICY)
#undef ST_QOS_POLICY
};

struct st_qos_goal {
	double threshold; /* greater than 0 */
	bool lower;       /* the metric must not be above it, else not below */
	enum st_qos_policy policy;
	/* Seconds: of a period, the most of it that a budget may be, and the least as long as the
	 * metric is known, also where the threshold is missed. */
	double period, most, least;
	double start; /* the budget until the metric is known for the first time, for a while */
};

/* The state of the controller that holds the metric. All zero at first. */
struct st_qos_hold {
	double effort;  /* -log(1 - budget / period) */
	double quality; /* the last one, as a factor over the threshold */
	double jitter;  /* by what it changes from reading to reading, in logarithms */
	double penalty; /* because the threshold was missed */
	bool missed;    /* by the last value */
};

/* Is the threshold kept? */
bool st_qos_is_kept(const struct st_qos_goal *g, double value);
/*
 * (q - X) / (q + X) of the period for the value q and the threshold X, where lower is better (X -
 * q) / (X + q), at most g->most; 0 where the threshold is missed. Seconds.
 */
double st_qos_function(const struct st_qos_goal *g, double value);
/* The next budget, such that the metric comes to lie just on the right side of the threshold. */
double st_qos_hold(struct st_qos_hold *h, const struct st_qos_goal *g, double value);

#endif
