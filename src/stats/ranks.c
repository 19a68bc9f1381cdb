/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/ranks.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct ranked {
	double value;
	bool second;
};

static int
compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* b's sum of ranks; *ties: the sum of t^3 - t over the groups of t equal values. */
static double
sum_ranks(struct ranked *v, size_t n, double *ties)
{
	double sum = 0;
	*ties = 0;
	qsort(v, n, sizeof *v, compare_ranked);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].value == v[i].value;)
			end++;
		const double t = (double)(end - i), rank = ((double)i + 1 + (double)end) / 2;
		*ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			sum += v[k].second ? rank : 0;
	}
	return sum;
}

/* The probability that U is at most u: counts of U grow by one value after the other. */
static st_status
exact_rank_p(size_t n_a, size_t n_b, double u, double *p)
{
	const size_t most = n_a * n_b;
	double *ways = calloc((n_b + 1) * (most + 1), sizeof *ways), below = 0, all = 0;
	if (!ways)
		return ST_FAILED;
	ways[0] = 1; /* [b's taken so far][U] */
	for (size_t rank = 1; rank <= n_a + n_b; rank++)
		for (size_t k = rank < n_b ? rank : n_b; k >= 1; k--) {
			const size_t add = rank - k; /* a's below the k-th of b */
			for (size_t s = most + 1; add <= n_a && s-- > add;)
				ways[k * (most + 1) + s] += ways[(k - 1) * (most + 1) + s - add];
		}
	for (size_t s = 0; s <= most; s++) {
		all += ways[n_b * (most + 1) + s];
		below += (double)s <= u ? ways[n_b * (most + 1) + s] : 0;
	}
	*p = below / all;
	free(ways);
	return ST_OK;
}

static double
normal_rank_p(double n_a, double n_b, double u, double ties)
{
	const double n = n_a + n_b;
	const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
	const double z = fmax(fabs(u - n_a * n_b / 2) - 0.5, 0) / sqrt(variance);
	return variance > 0 ? fmin(1, 2 * gsl_cdf_ugaussian_Q(z)) : 1;
}

st_status
st_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b, struct st_rank_test *out)
{
	struct ranked *v = n_a && n_b ? malloc((n_a + n_b) * sizeof *v) : NULL;
	double ties;
	*out = (struct st_rank_test){0};
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < n_a; i++)
		v[i] = (struct ranked){a[i], false};
	for (size_t i = 0; i < n_b; i++)
		v[n_a + i] = (struct ranked){b[i], true};
	out->u = sum_ranks(v, n_a + n_b, &ties) - (double)n_b * (double)(n_b + 1) / 2;
	free(v);
	out->superior = out->u / ((double)n_a * (double)n_b);
	out->exact = ties == 0 && n_a <= ST_RANKS_EXACT && n_b <= ST_RANKS_EXACT;
	if (!out->exact) {
		out->p = normal_rank_p((double)n_a, (double)n_b, out->u, ties);
		return ST_OK;
	}
	const double other = (double)n_a * (double)n_b - out->u;
	if (exact_rank_p(n_a, n_b, fmin(out->u, other), &out->p))
		return ST_FAILED;
	out->p = fmin(1, 2 * out->p);
	return ST_OK;
}

/* n over k, or more than `most`. */
static double
divisions(size_t n, size_t k, double most)
{
	double count = 1;
	for (size_t i = 1; i <= k && count <= most; i++)
		count = count * (double)(n - k + i) / (double)i;
	return round(count);
}

struct permutation {
	double *v;
	size_t n, n_b;
	double sum, least; /* of all values; the distance from the expected sum of b that counts */
};

static bool
is_hit(const struct permutation *p, double sum_of_b)
{
	const double expected = p->sum * (double)p->n_b / (double)p->n;
	return fabs(sum_of_b - expected) >= p->least;
}

/* Each choice of n_b of the n values, in lexicographic order. */
static st_status
try_all_divisions(const struct permutation *p, double *share)
{
	size_t *chosen = malloc((p->n_b + 1) * sizeof *chosen), i;
	double hits = 0, all = 0;
	if (!chosen)
		return ST_FAILED;
	for (i = 0; i < p->n_b; i++)
		chosen[i] = i;
	for (;;) {
		double sum = 0;
		for (size_t k = 0; k < p->n_b; k++)
			sum += p->v[chosen[k]];
		hits += is_hit(p, sum);
		all++;
		for (i = p->n_b; i && chosen[i - 1] == p->n - p->n_b + i - 1;)
			i--;
		if (!i)
			break;
		chosen[i - 1]++;
		for (; i < p->n_b; i++)
			chosen[i] = chosen[i - 1] + 1;
	}
	free(chosen);
	*share = hits / all;
	return ST_OK;
}

static double
try_some_divisions(const struct permutation *p, size_t rounds, uint64_t seed)
{
	double hits = 0;
	for (size_t round = 0; round < rounds; round++) {
		double sum = 0;
		for (size_t k = 0; k < p->n_b && k < p->n; k++) {
			const size_t other = k + st_random_below(&seed, p->n - k);
			const double moved = p->v[k];
			p->v[k] = p->v[other];
			p->v[other] = moved;
			sum += p->v[k];
		}
		hits += is_hit(p, sum);
	}
	return (hits + 1) / ((double)rounds + 1);
}

st_status
st_permutation_test(const double *a, size_t n_a, const double *b, size_t n_b, size_t rounds,
                    uint64_t seed, struct st_permutation_test *out)
{
	struct permutation p = {.n = n_a + n_b, .n_b = n_b};
	double sum_b = 0, size = 0;
	*out = (struct st_permutation_test){0};
	p.v = n_a && n_b ? malloc(p.n * sizeof *p.v) : NULL;
	if (!p.v)
		return ST_FAILED;
	memcpy(p.v, a, n_a * sizeof *a);
	memcpy(p.v + n_a, b, n_b * sizeof *b);
	for (size_t i = 0; i < p.n; i++) {
		p.sum += p.v[i];
		size += fabs(p.v[i]);
		sum_b += i >= n_a ? p.v[i] : 0;
	}
	out->difference = sum_b / (double)n_b - (p.sum - sum_b) / (double)n_a;
	/* Sums of the same values in another order are the same but for rounding. */
	p.least = fabs(sum_b - p.sum * (double)n_b / (double)p.n) - 1e-12 * size;
	out->exact = divisions(p.n, n_b, (double)rounds) <= (double)rounds;
	st_status status = ST_OK;
	if (out->exact)
		status = try_all_divisions(&p, &out->p);
	else
		out->p = try_some_divisions(&p, rounds, seed);
	free(p.v);
	return status;
}

struct indexed {
	double p;
	size_t at;
};

static int
compare_p(const void *a, const void *b)
{
	const struct indexed *x = a, *y = b;
	return (x->p > y->p) - (x->p < y->p);
}

/* The tests by their P; NANs are left out. */
static struct indexed *
order_p(const double *p, size_t n, size_t *tests)
{
	struct indexed *v = malloc((n + 1) * sizeof *v);
	*tests = 0;
	for (size_t i = 0; v && i < n; i++)
		if (!isnan(p[i]))
			v[(*tests)++] = (struct indexed){p[i], i};
	if (v)
		qsort(v, *tests, sizeof *v, compare_p);
	return v;
}

st_status
st_holm(const double *p, size_t n, double *out)
{
	size_t tests;
	struct indexed *v = order_p(p, n, &tests);
	double most = 0;
	if (!v)
		return ST_FAILED;
	if (out != p)
		memcpy(out, p, n * sizeof *p);
	for (size_t i = 0; i < tests; i++) {
		most = fmax(most, fmin(1, v[i].p * (double)(tests - i)));
		out[v[i].at] = most;
	}
	free(v);
	return ST_OK;
}

st_status
st_benjamini_hochberg(const double *p, size_t n, double *out)
{
	size_t tests;
	struct indexed *v = order_p(p, n, &tests);
	double least = 1;
	if (!v)
		return ST_FAILED;
	if (out != p)
		memcpy(out, p, n * sizeof *p);
	for (size_t i = tests; i-- > 0;) {
		least = fmin(least, v[i].p * (double)tests / (double)(i + 1));
		out[v[i].at] = least;
	}
	free(v);
	return ST_OK;
}
