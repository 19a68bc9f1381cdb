/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tune/limit.h"

#include <stdlib.h>

static int
limit_value_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

struct st_quality
st_quality_of(double *values, size_t n, double threshold, bool lower)
{
	struct st_quality q = {.readings = n};
	if (!n)
		return q;
	qsort(values, n, sizeof *values, limit_value_order);
	for (size_t i = 0; i < n; i++)
		q.kept += lower ? values[i] <= threshold : values[i] >= threshold;
	q.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
	/* So many may miss it. */
	size_t beyond = n - (size_t)(ST_LIMIT_KEPT * (double)n + 1 - 1e-9);
	q.worst = values[lower ? n - 1 - beyond : beyond];
	return q;
}

void
st_quality_add(struct st_quality *sum, const struct st_quality *one, bool lower)
{
	if (!one->readings)
		return;
	double before = (double)sum->readings, n = (double)one->readings;
	if (!sum->readings || (lower ? one->worst > sum->worst : one->worst < sum->worst))
		sum->worst = one->worst;
	sum->median = (sum->median * before + one->median * n) / (before + n);
	sum->readings += one->readings;
	sum->kept += one->kept;
}

bool
st_quality_holds(const struct st_quality *q)
{
	return q->readings && (double)q->kept >= ST_LIMIT_KEPT * (double)q->readings - 1e-9;
}

int
st_limit_search(int n, int (*test)(void *arg, int i), void *arg)
{
	int holds = 0, fails = n + 1, i = n;
	do {
		int result = test(arg, i);
		if (result < 0)
			return -1;
		if (result)
			holds = i;
		else
			fails = i;
		i = holds + (fails - holds) / 2;
	} while (fails - holds > 1);
	return holds;
}

size_t
st_limit_runs_to(const struct st_limit *l, double share)
{
	for (size_t i = 0; i < l->n_runs; i++)
		if ((double)l->covered[i] >= share * (double)l->instructions)
			return i + 1;
	return 0;
}

double
st_limit_level(const struct st_limit *l, int i)
{
	double part = (double)i / ST_LIMIT_LEVELS;
	return l->of_threshold ? l->threshold + (l->native.worst - l->threshold) * part : part;
}
