/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules are in distribution.h. */
#include "check/distribution.h"

#include <math.h>
#include <stdlib.h>

#include "stats/ranks.h"

enum { MOST_RUNS = 1000 };

double
st_distribution_least_p(size_t n_from, size_t n_to)
{
	double divisions = 1;
	for (size_t i = 1; i <= n_to && divisions < 1e300; i++)
		divisions *= (double)(n_from + i) / (double)i;
	return fmin(1, 2 / divisions);
}

size_t
st_distribution_runs_needed(size_t tests, double alpha)
{
	size_t n = 1;
	while (n < MOST_RUNS && st_distribution_least_p(n, n) * (double)tests > alpha)
		n++;
	return n;
}

static bool
all_equal(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return false;
	return true;
}

static bool
is_too_small(const struct st_sample_pair *s, double smallest)
{
	const double n = (double)(s->n_from + s->n_to);
	const double sum = (s->n_from ? st_mean(s->from, s->n_from) * (double)s->n_from : 0) +
	                   (s->n_to ? st_mean(s->to, s->n_to) * (double)s->n_to : 0);
	return fabs(sum) / n < smallest * (fabs(s->whole_from) + fabs(s->whole_to)) / 4;
}

struct ranked_value {
	double value;
	size_t at;
};

static int
compare_ranked_values(const void *a, const void *b)
{
	const struct ranked_value *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* The ranks of all values, those of `from` first; equal values have the mean of their ranks. */
static double *
mean_ranks(const struct st_sample_pair *s)
{
	const size_t n = s->n_from + s->n_to;
	struct ranked_value *v = malloc(n * sizeof *v);
	double *ranks = malloc(n * sizeof *ranks);
	for (size_t i = 0; v && i < n; i++)
		v[i] = (struct ranked_value){i < s->n_from ? s->from[i] : s->to[i - s->n_from], i};
	if (v)
		qsort(v, n, sizeof *v, compare_ranked_values);
	for (size_t i = 0, end; v && ranks && i < n; i = end) {
		for (end = i + 1; end < n && v[end].value == v[i].value;)
			end++;
		for (size_t k = i; k < end; k++)
			ranks[v[k].at] = ((double)i + 1 + (double)end) / 2;
	}
	free(v);
	if (!v) {
		free(ranks);
		return NULL;
	}
	return ranks;
}

/* Without ties, or with many values, the distribution of the ranks is known. */
static st_status
test_ranks(const struct st_sample_pair *s, const struct st_distribution_choice *how, double *p)
{
	struct st_rank_test by_rank;
	struct st_permutation_test by_division;
	if (st_mann_whitney(s->from, s->n_from, s->to, s->n_to, &by_rank))
		return ST_FAILED;
	*p = by_rank.p;
	if (by_rank.exact || (s->n_from > ST_RANKS_EXACT && s->n_to > ST_RANKS_EXACT))
		return ST_OK;
	double *ranks = mean_ranks(s);
	const st_status status =
	        ranks ? st_permutation_test(ranks, s->n_from, ranks + s->n_from, s->n_to,
	                                    how->rounds, how->seed, &by_division)
	              : ST_FAILED;
	if (!status)
		*p = by_division.p;
	free(ranks);
	return status;
}

static st_status
measure_pair(const struct st_sample_pair *s, const struct st_distribution_choice *how,
             struct st_distribution *d)
{
	*d = (struct st_distribution){.kind = ST_FINDING_UNKNOWN,
	                              .evidence = ST_EVIDENCE_FEW,
	                              .from = s->n_from ? st_median(s->from, s->n_from) : NAN,
	                              .to = s->n_to ? st_median(s->to, s->n_to) : NAN,
	                              .shift = {NAN, NAN, NAN},
	                              .p = NAN,
	                              .q = NAN,
	                              .least_p = st_distribution_least_p(s->n_from, s->n_to)};
	if (!s->n_from || !s->n_to)
		return ST_OK;
	if (s->counts && all_equal(s->from, s->n_from) && all_equal(s->to, s->n_to)) {
		const double shift = s->to[0] - s->from[0];
		d->evidence = ST_EVIDENCE_COUNT;
		d->shift = (struct st_interval){shift, shift, shift};
		return ST_OK;
	}
	if (st_shift(s->from, s->n_from, s->to, s->n_to, how->level, &d->shift))
		return ST_FAILED;
	if (d->least_p > 1 - how->level)
		d->shift.low = d->shift.high = NAN;
	if (is_too_small(s, how->smallest))
		d->evidence = ST_EVIDENCE_SMALL;
	else if (d->least_p <= how->alpha)
		d->evidence = ST_EVIDENCE_TEST;
	return d->evidence == ST_EVIDENCE_TEST ? test_ranks(s, how, &d->p) : ST_OK;
}

/* The kind of a significant shift upwards. */
static enum st_finding_kind
judge_told_shift(double at, double near, double far, double least)
{
	if (at < least)
		return far >= least ? ST_FINDING_MAYBE_DEGRADATION : ST_FINDING_NO_CHANGE;
	return near >= ST_DISTRIBUTION_SEVERE * least ? ST_FINDING_SEVERE_DEGRADATION
	                                              : ST_FINDING_DEGRADATION;
}

static void
judge_pair(const struct st_sample_pair *s, const struct st_distribution_choice *how,
           struct st_distribution *d)
{
	const double least = how->smallest * fabs(s->whole_from);
	const struct st_interval *shift = &d->shift;
	const bool up = shift->at > 0;
	if (d->evidence == ST_EVIDENCE_FEW)
		return;
	const bool told =
	        shift->at != 0 && (d->evidence == ST_EVIDENCE_COUNT || d->q <= how->alpha);
	if (d->evidence != ST_EVIDENCE_SMALL && told) {
		d->kind = judge_told_shift(fabs(shift->at), up ? shift->low : -shift->high,
		                           up ? shift->high : -shift->low, least);
		if (!up)
			d->kind = st_finding_mirror(d->kind);
	} else if (d->evidence == ST_EVIDENCE_SMALL ||
	           (shift->low >= -least && shift->high <= least)) {
		d->kind = ST_FINDING_NO_CHANGE;
	}
}

st_status
st_distribution_compare(const struct st_sample_pair *pairs, size_t n,
                        const struct st_distribution_choice *how, struct st_distribution *out)
{
	double *p = malloc((n + 1) * sizeof *p);
	st_status status = p ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && !status; i++) {
		status = measure_pair(&pairs[i], how, &out[i]);
		p[i] = out[i].p;
	}
	if (!status)
		status = st_benjamini_hochberg(p, n, p);
	for (size_t i = 0; i < n && !status; i++) {
		out[i].q = p[i];
		judge_pair(&pairs[i], how, &out[i]);
	}
	free(p);
	return status;
}
