/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/anova.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* The experiment, and the means of its parts. */
struct design {
	const struct st_anova_point *points;
	size_t n, first, second, block; /* levels */
	double mean;
	double *of_first, *of_second, *of_block, *of_cell; /* cell: first * levels + second */
	size_t *counts;                                    /* of each combination of all three */
};

static void
anova_release(struct design *d)
{
	free(d->of_first);
	free(d->of_second);
	free(d->of_block);
	free(d->of_cell);
	free(d->counts);
}

static st_status
anova_allocate(struct design *d, struct st_error *e)
{
	d->of_first = calloc(d->first, sizeof *d->of_first);
	d->of_second = calloc(d->second, sizeof *d->of_second);
	d->of_block = calloc(d->block, sizeof *d->of_block);
	d->of_cell = calloc(d->first * d->second, sizeof *d->of_cell);
	d->counts = calloc(d->first * d->second * d->block, sizeof *d->counts);
	return d->of_first && d->of_second && d->of_block && d->of_cell && d->counts
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED, "out of memory");
}

static size_t
cell_of(const struct design *d, const struct st_anova_point *p)
{
	return p->first * d->second + p->second;
}

/* Checks the assumptions of closed sums of squares. */
static st_status
check_balance(struct design *d, struct st_error *e)
{
	size_t cells = d->first * d->second * d->block;
	for (size_t i = 0; i < d->n; i++) {
		const struct st_anova_point *p = &d->points[i];
		if (p->first >= d->first || p->second >= d->second || p->block >= d->block ||
		    !isfinite(p->y))
			return st_fail(e, ST_EXIT_FAILED,
			               "a point of the experiment is no number, or at no level");
		d->counts[cell_of(d, p) * d->block + p->block]++;
	}
	for (size_t i = 0; i < cells; i++)
		if (!d->counts[i] || d->counts[i] != d->counts[0])
			return st_fail(e, ST_EXIT_FAILED,
			               "the combinations of the factors' levels have not been "
			               "measured equally often");
	return 0;
}

/* Sums, then means: the deviations of the points from `from` are what is added, so that the means
 * of many nearly equal numbers lose nothing. */
static void
add_means(struct design *d, double from)
{
	double n = (double)d->n;
	for (size_t i = 0; i < d->n; i++) {
		const struct st_anova_point *p = &d->points[i];
		double deviation = p->y - from;
		d->of_first[p->first] += deviation * (double)d->first / n;
		d->of_second[p->second] += deviation * (double)d->second / n;
		d->of_block[p->block] += deviation * (double)d->block / n;
		d->of_cell[cell_of(d, p)] += deviation * (double)(d->first * d->second) / n;
	}
}

static double
square(double x)
{
	return x * x;
}

static double
sum_of_squares(const double *deviations, size_t n, double weight)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += square(deviations[i]);
	return weight * sum;
}

static double
of_interaction(const struct design *d)
{
	double sum = 0;
	for (size_t i = 0; i < d->first; i++)
		for (size_t k = 0; k < d->second; k++)
			sum += square(d->of_cell[i * d->second + k] - d->of_first[i] -
			              d->of_second[k]);
	return sum * (double)d->n / (double)(d->first * d->second);
}

/* All that are around 0: of_* are deviations from the mean. */
static double
of_residuals(const struct design *d)
{
	double sum = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct st_anova_point *p = &d->points[i];
		sum += square(p->y - d->mean - d->of_cell[cell_of(d, p)] - d->of_block[p->block]);
	}
	return sum;
}

/* The sum of squares that rounding alone gives equal points. */
static double
rounding(const struct design *d)
{
	double most = 0;
	for (size_t i = 0; i < d->n; i++)
		most = fmax(most, fabs(d->points[i].y));
	return (double)d->n * square(16 * DBL_EPSILON * most);
}

static void
anova_fill_row(struct st_anova_row *row, size_t df, double ss, double least)
{
	*row = (struct st_anova_row){.df = df};
	if (!df || ss <= least)
		return;
	row->ss = ss;
	row->ms = ss / (double)df;
}

static void
test_row(struct st_anova_row *row, const struct st_anova_row *residuals)
{
	if (!row->df)
		return;
	row->p = 1;
	if (!(row->ms > 0))
		return;
	row->f = residuals->ms > 0 ? row->ms / residuals->ms : INFINITY;
	row->p =
	        isinf(row->f) ? 0 : gsl_cdf_fdist_Q(row->f, (double)row->df, (double)residuals->df);
}

static void
anova_fill(const struct design *d, struct st_anova *out)
{
	struct st_anova_row *rows = out->rows;
	size_t a = d->first - 1, b = d->second - 1, block = d->block - 1;
	double n = (double)d->n, least = rounding(d);
	anova_fill_row(&rows[ST_ANOVA_FIRST], a,
	               sum_of_squares(d->of_first, d->first, n / (double)d->first), least);
	anova_fill_row(&rows[ST_ANOVA_SECOND], b,
	               sum_of_squares(d->of_second, d->second, n / (double)d->second), least);
	anova_fill_row(&rows[ST_ANOVA_BLOCK], block,
	               sum_of_squares(d->of_block, d->block, n / (double)d->block), least);
	anova_fill_row(&rows[ST_ANOVA_INTERACTION], a * b, of_interaction(d), least);
	anova_fill_row(&rows[ST_ANOVA_RESIDUALS], d->n - 1 - a - b - block - a * b, of_residuals(d),
	               least);
	out->total = 0;
	for (unsigned i = 0; i < ST_ANOVA_SOURCES; i++)
		out->total += rows[i].ss;
	for (unsigned i = 0; i < ST_ANOVA_RESIDUALS; i++)
		test_row(&rows[i], &rows[ST_ANOVA_RESIDUALS]);
}

st_status
st_anova(const struct st_anova_point *points, size_t n, const size_t levels[3],
         struct st_anova *out, struct st_error *e)
{
	struct design d = {points, n,    levels[0], levels[1], levels[2], 0,
	                   NULL,   NULL, NULL,      NULL,      NULL};
	if (!n || !d.first || !d.second || !d.block)
		return st_fail(e, ST_EXIT_FAILED,
		               "an experiment without points cannot be analysed");
	/* One for the mean, the cells' others, the blocks' others: and something must be left. */
	if (n <= d.first * d.second + d.block - 1)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "too few runs for an analysis of variance: measure with more repetitions");
	int status = anova_allocate(&d, e) || check_balance(&d, e) ? -1 : 0;
	if (!status) {
		for (size_t i = 0; i < n; i++)
			d.mean += (points[i].y - d.mean) / (double)(i + 1);
		add_means(&d, d.mean);
		anova_fill(&d, out);
	}
	anova_release(&d);
	return status;
}
