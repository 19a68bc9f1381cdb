/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of all calls from those of some. */
#include "trace/estimate.h"

#include <stdlib.h>

/* The estimate of a function from its pairs. */
struct sums {
	double inclusive, outermost; /* over its callers */
	double callees;              /* inclusive, over these */
	uint64_t calls;
};

static double
mean_of_times(const struct st_trace_function *f)
{
	const uint64_t timed = f->calls - f->counted;
	return timed ? (double)f->inclusive_ns / (double)timed : 0;
}

static uint64_t
rounded(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

static void
estimate_pair(const struct st_trace *t, struct st_trace_pair *pair)
{
	const struct st_trace_earlier *earlier = &pair->earlier;
	const uint64_t calls = pair->calls - earlier->calls,
	               timed = calls - (pair->counted - earlier->counted);
	if (!pair->counted && !earlier->calls)
		return;
	const double all = (double)calls, scale = timed ? all / (double)timed : 0,
	             unseen = timed ? 0 : all * mean_of_times(&t->functions.v[pair->callee]);
	pair->inclusive_ns =
	        rounded(earlier->inclusive_ns + (double)pair->inclusive_ns * scale + unseen);
	pair->outermost_ns = rounded(earlier->outermost_ns + (double)pair->outermost_ns * scale +
	                             (pair->caller == pair->callee ? 0 : unseen));
}

static void
estimate_function(struct st_trace_function *f, const struct sums *s)
{
	if (f->counted) {
		/* Calls that found no room for their pair. */
		const double others =
		        f->calls > s->calls ? (double)(f->calls - s->calls) * mean_of_times(f) : 0;
		f->inclusive_ns = rounded(s->inclusive + others);
		f->outermost_ns = rounded(s->outermost + others);
	}
	f->exclusive_ns = rounded((double)f->inclusive_ns - s->callees);
}

st_status
st_trace_estimate(struct st_trace *t, size_t function, size_t pair)
{
	struct sums *sums = calloc(t->functions.n - function + 1, sizeof *sums);
	if (!sums)
		return ST_FAILED;
	for (size_t i = pair; i < t->pairs.n; i++) {
		struct st_trace_pair *p = &t->pairs.v[i];
		struct sums *callee = &sums[p->callee - function];
		estimate_pair(t, p);
		callee->inclusive += (double)p->inclusive_ns;
		callee->outermost += (double)p->outermost_ns;
		callee->calls += p->calls;
		if (p->caller != ST_TRACE_NOBODY)
			sums[p->caller - function].callees += (double)p->inclusive_ns;
	}
	for (size_t i = function; i < t->functions.n; i++)
		estimate_function(&t->functions.v[i], &sums[i - function]);
	free(sums);
	return ST_OK;
}
