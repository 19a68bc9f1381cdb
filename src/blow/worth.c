/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which virtual speed-up decides most about the order of the functions. */
#include <math.h>
#include <stdlib.h>

#include "blow/pick.h"

double
st_blow_speedup_worth(const struct st_blow_tried_gain *gains, size_t n, uint64_t percent)
{
	double most = INFINITY;
	for (size_t i = 0; i < n; i++) {
		const struct st_blow_gain *g = &gains[i].gain;
		if (gains[i].percent == percent) /* NAN: no experiment was without a fault */
			return isnan(g->high) ? 0 : (g->high - g->low) * fmax(g->high, 0);
		if (gains[i].percent < percent || isnan(g->high))
			continue;
		const double high = fmax(g->high, 0);
		/* A function that is less faster does not bring more. */
		most = fmin(most, high);
	}
	return most * most;
}

static int
percent_order(const void *a, const void *b)
{
	const struct st_blow_tried_gain *x = a, *y = b;
	return (x->percent > y->percent) - (x->percent < y->percent);
}

st_status
st_blow_worths(const struct st_blow *b, struct st_blow_try *try)
{
	const size_t most = try->noises.list.n;
	struct st_blow_tried_gain *gains = calloc(most + 1, sizeof *gains);
	st_status status = gains ? ST_OK : ST_FAILED;
	size_t n = 0;
	for (size_t i = 0; i < most && !status; i++) {
		const uint64_t percent = try->noises.list.v[i].strength;
		gains[n].percent = percent;
		status = try->done[i]
		                 ? st_blow_estimate_gain(b, st_blow_point_at(b, 0), try->function,
		                                         percent, &gains[n].gain)
		                 : ST_OK;
		n += try->done[i] > 0;
	}
	if (n)
		qsort(gains, n, sizeof *gains, percent_order);
	for (size_t i = 0; i < most && !status; i++)
		try->worths[i] = st_blow_speedup_worth(gains, n, try->noises.list.v[i].strength);
	free(gains);
	return status;
}
