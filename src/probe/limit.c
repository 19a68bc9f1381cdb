/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/limit.h"

#include <math.h>
#include <stdlib.h>

/* Timed calls may be so much more or fewer than the threshold before `every` changes. */
static const double slack = 0.1;

static int
most_called_first(const void *a, const void *b)
{
	const struct st_limited *const *x = a, *const *y = b;
	return ((*x)->calls < (*y)->calls) - ((*x)->calls > (*y)->calls);
}

static bool
may_be_limited(const struct st_limited *f)
{
	return !f->gone && !f->drops;
}

/* The cost if no call is timed. */
static double
cost_of_counting(const struct st_limited *functions, size_t n, const struct st_limit_costs *costs)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += may_be_limited(&functions[i]) ? (double)functions[i].calls * costs->counted
		                                     : 0;
	return sum;
}

static st_status
drop_most_called(struct st_limited *functions, size_t n, const struct st_limit_costs *costs,
                 double allowed)
{
	double sum = cost_of_counting(functions, n, costs);
	if (sum <= allowed)
		return ST_OK;
	struct st_limited **order = calloc(n, sizeof(struct st_limited *));
	if (!order)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		order[i] = &functions[i];
	qsort(order, n, sizeof *order, most_called_first);
	for (size_t i = 0; i < n && sum > allowed; i++) {
		if (order[i]->gone)
			continue;
		order[i]->drops = true;
		sum -= (double)order[i]->calls * costs->counted;
	}
	free(order);
	return ST_OK;
}

/* The least N, of N calls one being timed, that gives at most `threshold` timed calls. */
static double
every_at(const struct st_limited *f, double threshold)
{
	const double wanted = (double)f->calls / threshold;
	const double least = fmax(f->least, 1);
	return fmin(fmax(wanted, least), ST_LIMIT_MOST_EVERY);
}

static double
cost_at(const struct st_limited *functions, size_t n, const struct st_limit_costs *costs,
        double threshold)
{
	double sum = cost_of_counting(functions, n, costs);
	for (size_t i = 0; i < n; i++)
		if (may_be_limited(&functions[i]) && functions[i].every)
			sum += (double)functions[i].calls / every_at(&functions[i], threshold) *
			       (costs->timed - costs->counted);
	return sum;
}

/* The most timed calls that a function may have; infinite: all may be timed. */
static double
threshold_for(const struct st_limited *functions, size_t n, const struct st_limit_costs *costs,
              double allowed)
{
	double low = 1e-6, high = 1;
	for (size_t i = 0; i < n; i++)
		high = fmax(high, (double)functions[i].calls);
	if (cost_at(functions, n, costs, high) <= allowed)
		return INFINITY;
	for (int i = 0; i < 100; i++) {
		const double middle = sqrt(low * high);
		if (cost_at(functions, n, costs, middle) <= allowed)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A function that is called less often for a while may be called as often again: `every` falls to
 * no less than half at a time. */
static void
settle_every(struct st_limited *f, double threshold)
{
	const double timed = (double)f->calls / f->every;
	if (f->every > 1 && isfinite(threshold) && fabs(timed - threshold) <= slack * threshold)
		return;
	const uint32_t half = f->every / 2;
	f->every = (uint32_t)fmax(ceil(every_at(f, threshold)), half);
}

st_status
st_limit(struct st_limited *functions, size_t n, const struct st_limit_costs *costs, double allowed,
         double counting)
{
	if (drop_most_called(functions, n, costs, counting))
		return ST_FAILED;
	const double threshold = threshold_for(functions, n, costs, allowed);
	for (size_t i = 0; i < n; i++)
		if (may_be_limited(&functions[i]) && functions[i].every)
			settle_every(&functions[i], threshold);
	return ST_OK;
}
