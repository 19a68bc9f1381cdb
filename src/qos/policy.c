/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/policy.h"

#include <math.h>

bool
st_qos_is_kept(const struct st_qos_goal *g, double value)
{
	return g->lower ? value <= g->threshold : value >= g->threshold;
}

static double
policy_at_most(double value, double most)
{
	return value < most ? value : most;
}

double
st_qos_function(const struct st_qos_goal *g, double value)
{
	if (!st_qos_is_kept(g, value))
		return 0;
	double slack = fabs(value - g->threshold) / (value + g->threshold);
	return policy_at_most(slack * g->period, g->most);
}

/* How many times better than the threshold a value is, limited to 0.001 to 1000. */
static double
times_better(const struct st_qos_goal *g, double value)
{
	const double least = 1e-3, most = 1e3;
	double times = g->lower ? g->threshold / fmax(value, 1e-300) : value / g->threshold;
	return fmin(fmax(times, least), most);
}

/*
 * How far above the threshold the goal is: by what the metric varies from reading to reading, three
 * times, and more for a while after the threshold was missed. Of readings that vary at random the
 * mean difference of two is 1.13 of their deviation: one in 3000 would be below the threshold, with
 * twice that one in 80.
 */
static double
margin_of(struct st_qos_hold *h, double quality, bool kept)
{
	const double least = 0.02, most = 0.3, forget = 0.1, penalty = 0.03, ease = 0.99;
	if (h->quality > 0)
		h->jitter += forget * (fabs(log(quality / h->quality)) - h->jitter);
	h->quality = quality;
	h->penalty = kept ? h->penalty * ease : h->penalty + (h->effort > 0 ? penalty : 0);
	return fmin(least + 3 * h->jitter + h->penalty, most);
}

/*
 * A program that is measured for the share b of its time does 1 - b of its work, if it has no other
 * reserve. So with the effort e = -log(1 - b) the metric's logarithm falls by e, whatever the
 * native value is, and a step by a part of the distance to the goal, in logarithms, converges.
 * Where the metric is more sensitive, parts of up to twice the inverse of that still do.
 */
double
st_qos_hold(struct st_qos_hold *h, const struct st_qos_goal *g, double value)
{
	const double up = 0.25, down = 0.7, longest = 0.5; /* parts of the distance; a step */
	const double whole = 0.99;                         /* of a period: its effort is finite */
	double most_effort = -log(1 - policy_at_most(g->most / g->period, whole));
	bool kept = st_qos_is_kept(g, value);
	double quality = times_better(g, value);
	double distance = log(quality / (1 + margin_of(h, quality, kept)));
	h->effort += distance > 0 ? fmin(up * distance, longest) : down * distance;
	if (!kept) /* at once, and altogether when that is not enough */
		h->effort = h->missed ? 0 : h->effort / 2;
	h->effort = fmin(fmax(h->effort, 0), most_effort);
	h->missed = !kept;
	return policy_at_most((1 - exp(-h->effort)) * g->period, g->most);
}
