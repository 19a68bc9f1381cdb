/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates terms and fits, cross-validates fits, and models the spread of residuals. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "annotate/formulate.h"
#include "base/random.h"

enum { FOLDS = 10 };
/* Relative resolution of measured times; residuals of exact counts are smaller. */
static const double relative_floor = 1e-9;
/* Relative rounding error of sums. */
static const double rounding = 1e-14;

const char *st_ann_class_name(enum st_ann_class class)
{
	static const char *const names[] = {
#define C(id, name, shapes) name,
	        ST_ANN_CLASSES(C)
#undef C
	};
	return names[class];
}

double
st_ann_shape_at(enum st_ann_shape shape, double x)
{
	switch (shape) {
	case ST_ANN_LOG_X:
		return log2(x);
	case ST_ANN_SQRT_X:
		return sqrt(x);
	case ST_ANN_X_LOG_X:
		return x > 0 ? x * log2(x) : 0;
	case ST_ANN_X_SQUARED:
		return x * x;
	case ST_ANN_X_CUBED:
		return x * x * x;
	default:
		return x;
	}
}

double
st_ann_term_at(const struct st_ann_problem *p, const struct st_ann_term *t, uint32_t row)
{
	const struct st_ann_feature *f = p->records->features.v;
	const double a = st_ann_shape_at(t->shape_a, f[t->a].v[row]);
	return t->b == ST_ANN_NO_FEATURE ? a : a * st_ann_shape_at(t->shape_b, f[t->b].v[row]);
}

double
st_ann_fit_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row)
{
	double y = f->b[0];
	for (size_t i = 0; i < f->n_terms; i++)
		y += f->b[i + 1] * st_ann_term_at(p, &f->terms[i], row);
	return y;
}

double
st_ann_fit_sd_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row)
{
	return f->grows ? f->sd[0] + f->sd[1] * fabs(st_ann_term_at(p, &f->sd_by, row)) : f->s;
}

double
st_ann_variance_floor(const struct st_ann_problem *p, struct st_ann_rows rows)
{
	double squares = 0, mean = 0, most = 0;
	for (size_t i = 0; i < rows.n; i++) {
		mean += p->y[rows.v[i]] / (double)rows.n;
		most = fmax(most, fabs(p->y[rows.v[i]]));
	}
	for (size_t i = 0; i < rows.n; i++)
		squares += (p->y[rows.v[i]] - mean) * (p->y[rows.v[i]] - mean);
	const double floor = relative_floor * sqrt(squares / (double)rows.n) + rounding * most;
	return floor > 0 ? floor * floor : 1e-300;
}

bool
st_ann_fits_closely(const struct st_ann_problem *p, struct st_ann_rows rows,
                    const struct st_ann_fit *f)
{
	static const double closely = 1e-3;
	double squares = 0;
	for (size_t i = 0; i < rows.n; i++)
		squares += p->y[rows.v[i]] * p->y[rows.v[i]];
	return f->rss <= closely * closely * squares ||
	       f->rss / (double)rows.n <= st_ann_variance_floor(p, rows);
}

double
st_ann_bic(double n, double rss, double parameters, double floor)
{
	return n * log(2 * M_PI) + n * log(fmax(rss / n, floor)) + n + (parameters + 1) * log(n);
}

/* Adds a record to the columns 1, terms[0], terms[1], ..., which are divided by their scales. */
static void
ann_add_terms(struct st_columns *c, const struct st_ann_problem *p, const struct st_ann_fit *f,
              const double *scale, uint32_t row)
{
	double x[ST_LS_MOST] = {1};
	for (size_t i = 0; i < f->n_terms; i++)
		x[i + 1] = st_ann_term_at(p, &f->terms[i], row) / scale[i + 1];
	st_columns_add(c, x, p->y[row], 1);
}

static st_status
ann_solve_terms(const struct st_columns *c, const double *scale, struct st_ann_fit *f)
{
	size_t all[ST_LS_MOST];
	struct st_ls ls;
	for (size_t i = 0; i <= f->n_terms; i++)
		all[i] = i;
	if (st_columns_solve(c, all, f->n_terms + 1, &ls, NULL))
		return ST_FAILED;
	for (size_t i = 0; i <= f->n_terms; i++) {
		f->b[i] = ls.b[i] / scale[i];
		f->se[i] = ls.se[i] / scale[i];
	}
	f->n = ls.n;
	f->rss = ls.sse;
	f->tss = ls.tss;
	f->s = ls.s;
	f->r2 = ls.tss > 0 ? 1 - ls.sse / ls.tss : NAN;
	return ST_OK;
}

/* Shuffles the rows by the seed; fold k has those with i % FOLDS == k. */
static uint32_t *
ann_shuffled(struct st_ann_rows rows, uint64_t seed)
{
	uint32_t *v = malloc(rows.n * sizeof *v);
	uint64_t state = seed;
	for (size_t i = 0; v && i < rows.n; i++)
		v[i] = rows.v[i];
	for (size_t i = rows.n; v && i > 1; i--) {
		const size_t k = st_random_below(&state, i);
		const uint32_t other = v[k];
		v[k] = v[i - 1];
		v[i - 1] = other;
	}
	return v;
}

/* Finds the largest value of each term, so that squares of very large or small ones are numbers. */
static void
ann_term_scales(const struct st_ann_problem *p, struct st_ann_rows rows, const struct st_ann_fit *f,
                double *scale)
{
	for (size_t k = 0; k < ST_LS_MOST; k++)
		scale[k] = 1;
	for (size_t k = 0; k < f->n_terms; k++) {
		double most = 0;
		for (size_t i = 0; i < rows.n; i++)
			most = fmax(most, fabs(st_ann_term_at(p, &f->terms[k], rows.v[i])));
		scale[k + 1] = isnormal(most) ? most : scale[k + 1];
	}
}

/* Adds the squares of one fold's residuals about the fit, and about the mean, of the others. */
static st_status
ann_judge_fold(const struct st_ann_problem *p, const uint32_t *v, size_t n, size_t fold,
               const double *scale, struct st_ann_fit *f, double *rss, double *tss)
{
	struct st_columns c;
	st_status status = st_columns_begin(&c, f->n_terms + 1);
	for (size_t i = 0; i < n && !status; i++)
		if (i % FOLDS != fold)
			ann_add_terms(&c, p, f, scale, v[i]);
	const double mean = (double)c.mean;
	status = status || ann_solve_terms(&c, scale, f) ? ST_FAILED : ST_OK;
	st_columns_free(&c);
	for (size_t i = fold; i < n && !status; i += FOLDS) {
		const double y = p->y[v[i]], r = y - st_ann_fit_at(p, f, v[i]);
		*rss += r * r;
		*tss += (y - mean) * (y - mean);
	}
	return status;
}

double
st_ann_cross_validate(const struct st_ann_problem *p, struct st_ann_rows rows,
                      const struct st_ann_fit *f)
{
	double rss = 0, tss = 0, scale[ST_LS_MOST];
	if (rows.n < 2 * FOLDS || rows.n < 2 * (f->n_terms + 1))
		return NAN;
	ann_term_scales(p, rows, f, scale);
	uint32_t *v = ann_shuffled(rows, p->options.seed);
	st_status status = v ? ST_OK : ST_FAILED;
	for (size_t fold = 0; fold < FOLDS && !status; fold++) {
		struct st_ann_fit of_others = *f;
		status = ann_judge_fold(p, v, rows.n, fold, scale, &of_others, &rss, &tss);
	}
	free(v);
	return status || !(tss > 0) ? NAN : 1 - rss / tss;
}

/* Returns the index of the term that contributes most over the rows. */
static size_t
ann_largest_term(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *f)
{
	size_t largest = 0;
	double most = -1;
	for (size_t k = 0; k < f->n_terms; k++) {
		double sum = 0;
		for (size_t i = 0; i < rows.n; i++)
			sum += fabs(st_ann_term_at(p, &f->terms[k], rows.v[i]));
		if (sum * fabs(f->b[k + 1]) > most) {
			most = sum * fabs(f->b[k + 1]);
			largest = k;
		}
	}
	return largest;
}

/*
 * Breusch and Pagan's test in Koenker's form: n r^2 of the squares of the residuals on the term is
 * chi square with one degree of freedom where they do not depend on it. The standard deviation is
 * then a line through the residuals' absolute values, which are sqrt(2 / pi) of it.
 */
void
st_ann_find_spread(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_fit *f)
{
	enum { LEAST = 20 };
	const double level = 1e-4, n = (double)rows.n, floor = st_ann_variance_floor(p, rows);
	double t1 = 0, t2 = 0, q1 = 0, q2 = 0, tq = 0, a1 = 0, ta = 0, least = INFINITY, most = 0;
	f->grows = false;
	if (!f->n_terms || rows.n < LEAST || f->rss / n <= floor)
		return;
	f->sd_by = f->terms[ann_largest_term(p, rows, f)];
	for (size_t i = 0; i < rows.n; i++) {
		const double t = fabs(st_ann_term_at(p, &f->sd_by, rows.v[i]));
		const double r = p->y[rows.v[i]] - st_ann_fit_at(p, f, rows.v[i]), q = r * r;
		const double a = fabs(r) * sqrt(M_PI / 2);
		t1 += t, t2 += t * t, q1 += q, q2 += q * q, tq += t * q, a1 += a, ta += t * a;
		least = fmin(least, t);
		most = fmax(most, t);
	}
	const double stt = t2 - t1 * t1 / n, sqq = q2 - q1 * q1 / n, stq = tq - t1 * q1 / n;
	if (!(stt > 0) || !(sqq > 0) || stq <= 0 ||
	    gsl_cdf_chisq_Q(n * stq * stq / (stt * sqq), 1) > level)
		return;
	f->sd[1] = (ta - t1 * a1 / n) / stt;
	f->sd[0] = (a1 - f->sd[1] * t1) / n;
	if (f->sd[0] < 0) { /* fitted again through the origin */
		f->sd[0] = 0;
		f->sd[1] = ta / t2;
	}
	const double low = f->sd[0] + f->sd[1] * least, high = f->sd[0] + f->sd[1] * most;
	f->grows = f->sd[1] > 0 && high > 1.5 * low;
	/* The line must not reach 0, where a record would have an infinite weight. */
	if (f->grows && low < high / 100)
		f->sd[0] += high / 100 - low;
}
