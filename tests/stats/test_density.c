/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests densities, clusters, distributions, and least squares by columns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/columns.h"
#include "stats/density.h"
#include "stats/distributions.h"
#include "stats/robust.h"

enum { N = 2000 };
static uint64_t random_state = 1;

static double
uniform(void)
{
	return ((double)(st_random_next(&random_state) >> 11) + 1) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double
integral(const struct st_density *d)
{
	double sum = 0;
	for (size_t i = 0; i < ST_DENSITY_POINTS; i++)
		sum += d->at[i] * (d->high - d->low) / (ST_DENSITY_POINTS - 1);
	return sum;
}

static void
test_density(void **state)
{
	(void)state;
	double v[N];
	struct st_density d, again;
	for (size_t i = 0; i < N; i++)
		v[i] = 50 + 3 * normal();
	assert_false(st_density_find(v, N, &d));
	assert_true(fabs(integral(&d) - 1) < 1e-9);
	/* It differs from the normal density by less than 15 % of the peak everywhere. */
	const double peak = 1 / (3 * sqrt(2 * M_PI));
	for (size_t i = 0; i < ST_DENSITY_POINTS; i++) {
		const double y = d.low + (d.high - d.low) * (double)i / (ST_DENSITY_POINTS - 1);
		assert_true(fabs(d.at[i] - peak * exp(-(y - 50) * (y - 50) / 18)) < 0.15 * peak);
	}
	assert_false(st_density_find(v, N, &again));
	assert_memory_equal(d.at, again.at, ST_DENSITY_POINTS * sizeof *d.at);
	st_density_free(&d);
	st_density_free(&again);
}

/* Sorts values and divides them into clusters; the caller frees. */
static struct st_clusters
clusters_of(double *v, size_t n, size_t least)
{
	struct st_clusters c;
	st_sort_values(v, n);
	assert_false(st_clusters_find(v, n, least, &c));
	size_t sum = 0;
	for (size_t i = 0; i < c.list.n; i++) {
		sum += c.list.v[i].n;
		assert_true(i ? c.list.v[i].above == c.list.v[i - 1].to
		              : c.list.v[i].above == -INFINITY);
	}
	assert_true(c.list.v[c.list.n - 1].to == INFINITY);
	assert_int_equal(sum, n);
	return c;
}

static void
test_clusters(void **state)
{
	(void)state;
	double v[N];
	for (size_t i = 0; i < N; i++)
		v[i] = normal();
	struct st_clusters c = clusters_of(v, N, N / 50);
	assert_int_equal(c.list.n, 1);
	st_clusters_free(&c);
	for (size_t i = 0; i < N; i++)
		v[i] = (i % 10 < 3 ? 300 : i % 10 < 7 ? 600 : 900) + 10 * normal();
	c = clusters_of(v, N, N / 50);
	assert_int_equal(c.list.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(c.list.v[i].n, i == 1 ? N * 4 / 10 : N * 3 / 10);
		assert_true(fabs(c.list.v[i].centre - 300 * (double)(i + 1)) < 10);
	}
	st_clusters_free(&c);
	/* Few different values are clusters. */
	for (size_t i = 0; i < N; i++)
		v[i] = (double)(i % 4) * 8;
	c = clusters_of(v, N, N / 50);
	assert_int_equal(c.list.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(c.list.v[i].centre == 8 * (double)i && c.list.v[i].n == N / 4);
	st_clusters_free(&c);
	/* A value that occurs fewer than six times belongs to the nearer one of its neighbours. */
	for (size_t i = 0; i < N; i++)
		v[i] = i < 2 ? 300 : i < 8 ? 500 : i % 2 ? 100 : 200;
	c = clusters_of(v, N, N / 50);
	assert_int_equal(c.list.n, 3);
	assert_true(c.list.v[0].centre == 100 && c.list.v[0].n == (N - 8) / 2);
	assert_true(c.list.v[1].centre == 200 && c.list.v[1].n == (N - 8) / 2 + 2);
	assert_true(c.list.v[2].centre == 500 && c.list.v[2].n == 6);
	st_clusters_free(&c);
	/* One value that repeats, and too few values, are one cluster. */
	for (size_t i = 0; i < 8; i++)
		v[i] = 5;
	c = clusters_of(v, 8, 6);
	assert_int_equal(c.list.n, 1);
	st_clusters_free(&c);
	v[0] = 1e300;
	c = clusters_of(v, 3, 6);
	assert_int_equal(c.list.n, 1);
	st_clusters_free(&c);
}

/* The p-value of the true family is uniform: about one in ten of 200 samples is below 0.1. */
static void
test_fit(void **state)
{
	(void)state;
	enum { SAMPLES = 200, EACH = 100 };
	for (int family = 0; family < 2; family++) {
		size_t below = 0;
		for (int s = 0; s < SAMPLES; s++) {
			double v[EACH];
			struct st_family_fit f;
			for (size_t i = 0; i < EACH; i++)
				v[i] = family ? -7 * log(uniform()) : -40 + 2 * normal();
			assert_false(st_family_find(v, EACH, 0, &f));
			below += f.p < 0.1;
		}
		/* 20 are expected, with a standard deviation of 4.2. */
		assert_in_range(below, 6, 40);
	}
	/* Two modes fit no family. */
	double v[N];
	struct st_family_fit f;
	for (size_t i = 0; i < N; i++)
		v[i] = (i % 2 ? 10 : 20) + normal();
	assert_false(st_family_find(v, N, 0, &f));
	assert_true(f.p < 1e-6);
}

static void
test_distributions(void **state)
{
	(void)state;
	assert_true(fabs(st_family_cdf(ST_FAMILY_NORMAL, 1, 2, 1 + 2 * 1.959963984540054) - 0.975) <
	            1e-12);
	assert_true(st_family_cdf(ST_FAMILY_NORMAL, 5, 0, 4.9) == 0);
	assert_true(st_family_cdf(ST_FAMILY_NORMAL, 5, 0, 5.1) == 1);
	assert_true(fabs(st_family_cdf(ST_FAMILY_EXPONENTIAL, 4, 0, 4) - (1 - exp(-1))) < 1e-15);
	assert_true(fabs(st_family_cdf(ST_FAMILY_BINOMIAL, 4, 0.5, 1) - 5.0 / 16) < 1e-12);
	assert_true(st_family_cdf(ST_FAMILY_BINOMIAL, 4, 0.5, -1) == 0);
	assert_true(st_family_cdf(ST_FAMILY_BINOMIAL, 4, 0.5, 4) == 1);
	assert_true(fabs(st_family_log_density(ST_FAMILY_BINOMIAL, 4, 0.5, 2) - log(6.0 / 16)) <
	            1e-12);
	assert_true(fabs(st_family_log_density(ST_FAMILY_LOGNORMAL, 0, 1, 1) + log(2 * M_PI) / 2) <
	            1e-12);
	assert_true(st_family_log_density(ST_FAMILY_EXPONENTIAL, 4, 0, -1) == -INFINITY);
	assert_true(fabs(st_family_sd(ST_FAMILY_BINOMIAL, 20, 0.25) - sqrt(3.75)) < 1e-12);
	/* Kolmogorov: evenly spaced values fit, and those of one half do not. The limit of
	 * P(sqrt(n) D > 1.358) is 0.05. */
	double u[N];
	for (size_t i = 0; i < N; i++)
		u[i] = ((double)i + 0.5) / N;
	assert_true(st_uniform_p(u, N) == 1);
	for (size_t i = 0; i < N; i++)
		u[i] = ((double)i + 0.5) / N / 2;
	assert_true(st_uniform_p(u, N) < 1e-9);
	for (size_t i = 0; i < N; i++)
		u[i] = fmin(1, (double)i / N + 1.358 / sqrt(N));
	assert_true(fabs(st_uniform_p(u, N) - 0.05) < 0.003);
}

/* A fit of chosen columns is that of the points; a weight counts like repeated points. */
static void
test_columns(void **state)
{
	(void)state;
	enum { POINTS = 60, COLUMNS = 5 };
	struct st_columns c;
	struct st_ls_rows rows;
	struct st_ls fit, truth;
	static const size_t chosen[] = {0, 3, 1};
	assert_false(st_columns_begin(&c, COLUMNS));
	st_ls_begin(&rows, 3);
	for (int i = 0; i < POINTS; i++) {
		const double t = i + uniform(), x[COLUMNS] = {1, t, t * t, sin(t), uniform()};
		const double own[3] = {x[0], x[3], x[1]}, y = 3 - 2 * t + 5 * sin(t) + normal();
		const int weight = 1 + i % 3;
		st_columns_add(&c, x, y, weight);
		for (int k = 0; k < weight; k++)
			st_ls_add(&rows, own, y);
	}
	assert_false(st_columns_solve(&c, chosen, 3, &fit, NULL));
	assert_false(st_ls_solve(&rows, &truth, NULL));
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(fit.b[i] - truth.b[i]) < 1e-12 * fabs(truth.b[i]));
	assert_true(fabs(fit.sse - truth.sse) < 1e-12 * truth.sse);
	assert_true(fabs(fit.tss - truth.tss) < 1e-12 * truth.tss);
	assert_int_equal(fit.n, POINTS);
	/* The same column twice determines nothing. */
	static const size_t twice[] = {0, 1, 1};
	assert_true(st_columns_solve(&c, twice, 3, &fit, NULL));
	st_columns_free(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_density), cmocka_unit_test(test_clusters),
	        cmocka_unit_test(test_fit),     cmocka_unit_test(test_distributions),
	        cmocka_unit_test(test_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
