/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/overhead.h"

#include <math.h>

#include "blow/campaign.h"
#include "stats/least_squares.h"

/* The n-th run without noise and without a fault; NULL: there is none. */
static const struct st_blow_run *
nth_quiet_run(const struct st_blow *b, size_t n)
{
	for (size_t i = 0; i < b->runs.n; i++)
		if (st_blow_is_quiet(&b->runs.v[i]) && !n--)
			return &b->runs.v[i];
	return NULL;
}

/* The logarithm of the ratio of a pair; NAN: one of its runs has failed. */
static double
log_of_pair(const struct st_blow *b, size_t n)
{
	const struct st_blow_run *quiet = nth_quiet_run(b, n);
	const uint64_t plain = b->plain.v[n].total_ns;
	return quiet && quiet->total_ns && plain ? log((double)quiet->total_ns / (double)plain)
	                                         : NAN;
}

struct st_blow_overhead
st_blow_overhead_of(const struct st_blow *b)
{
	struct st_blow_overhead o = {0, NAN, NAN, NAN};
	double sum = 0, squares = 0;
	for (size_t i = 0; i < b->plain.n; i++) {
		const double l = log_of_pair(b, i);
		if (isnan(l))
			continue;
		o.pairs++;
		sum += l;
	}
	if (!o.pairs)
		return o;
	const double n = (double)o.pairs, mean = sum / n;
	o.at = expm1(mean);
	for (size_t i = 0; i < b->plain.n; i++) {
		const double l = log_of_pair(b, i);
		squares += isnan(l) ? 0 : (l - mean) * (l - mean);
	}
	if (o.pairs > 1) {
		const double half = st_student(0.95, n - 1) * sqrt(squares / (n - 1) / n);
		o.low = expm1(mean - half);
		o.high = expm1(mean + half);
	}
	return o;
}

bool
st_blow_is_plain_next(size_t quiet, size_t plain, size_t quiet_wanted, size_t plain_wanted)
{
	const size_t most = plain_wanted < quiet_wanted ? plain_wanted : quiet_wanted;
	if (plain >= most)
		return false;
	return plain < quiet || (plain == quiet && plain & 1);
}
