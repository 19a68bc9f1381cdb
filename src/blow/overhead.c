/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/overhead.h"

#include <math.h>

#include "blow/campaign.h"
#include "stats/least_squares.h"

/* Half of a 95 % interval, of the logarithm: of a wider one, the ends are less than half and more
 * than twice the estimate. */
static const double widest = M_LN2;

/* The next run without noise and without a fault, from number *at on; NULL: there is none. */
static const struct st_blow_run *
next_quiet_run(const struct st_blow *b, size_t *at)
{
	while (*at < b->runs.n && !st_blow_is_quiet(&b->runs.v[*at]))
		++*at;
	return *at < b->runs.n ? &b->runs.v[(*at)++] : NULL;
}

/* The logarithm of the ratio of a pair; NAN: one of its runs has failed. */
static double
log_of_pair(const struct st_blow_run *quiet, const struct st_blow_plain_run *plain, bool cpu)
{
	const uint64_t before = cpu ? plain->cpu_ns : plain->total_ns,
	               after = !quiet ? 0
	                       : cpu  ? quiet->cpu_ns
	                              : quiet->total_ns;
	return plain->total_ns && before && after ? log((double)after / (double)before) : NAN;
}

static struct st_blow_increase
increase_by_probes(const struct st_blow *b, bool cpu, size_t *pairs)
{
	struct st_blow_increase out = {NAN, NAN, NAN, false};
	double mean = 0, squares = 0, n = 0; /* of the logarithms */
	size_t at = 0;
	for (size_t i = 0; i < b->plain.n; i++) {
		const double l = log_of_pair(next_quiet_run(b, &at), &b->plain.v[i], cpu),
		             off = l - mean;
		if (isnan(l))
			continue;
		mean += off / ++n;
		squares += off * (l - mean);
	}
	*pairs = (size_t)n;
	const double half = n > 1 ? st_student(0.95, n - 1) * sqrt(squares / (n - 1) / n) : NAN;
	out.unclear = half > widest;
	if (!*pairs || out.unclear)
		return out;
	out.at = expm1(mean);
	out.low = expm1(mean - half);
	out.high = expm1(mean + half);
	return out;
}

struct st_blow_overhead
st_blow_overhead_of(const struct st_blow *b)
{
	struct st_blow_overhead o = {0};
	size_t with_cpu;
	o.run = increase_by_probes(b, false, &o.pairs);
	o.cpu = increase_by_probes(b, true, &with_cpu);
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
