/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/explain_shares.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/predict.h"
#include "base/number.h"
#include "stats/least_squares.h"
#include "stats/robust.h"

static const double carries_much = 0.5, carries_little = 0.05, interval_level = 0.95;

/* A term whose growth is below this share of the growth of all is not explained. */
static const double growth_least = 0.05;

/* The design of a scope: a row for each record, a column for each addend of the model. */
struct design {
	const struct st_ann_parted *p;
	size_t n, k;
	size_t intercept; /* its column; k: there is none */
	uint32_t *row;
	double *x;
	struct st_ann_expr *terms[ST_LS_MOST]; /* NULL: 1 */
	struct st_ls whole;
	double *spare; /* residuals of the whole */
};

static st_status
design_add_term(void *arg, double coefficient, const struct st_ann_expr *term)
{
	struct design *d = arg;
	(void)coefficient;
	if (d->k == ST_LS_MOST)
		return ST_FAILED;
	if (!term)
		d->intercept = d->k;
	struct st_ann_expr *copy = term ? st_ann_copy(term) : NULL;
	d->terms[d->k++] = copy;
	return copy || !term ? ST_OK : ST_FAILED;
}

/* Adds a column of ones if the model has none, so that parts may have constants that cancel. */
static void
design_complete(struct design *d)
{
	if (d->intercept != SIZE_MAX)
		return;
	d->intercept = d->k;
	if (d->k < ST_LS_MOST)
		d->terms[d->k++] = NULL;
}

static st_status
design_take_rows(struct design *d, const struct st_ann_annotation *a,
                 const struct st_ann_scope *scope)
{
	const struct st_ann_records *const rows = d->p->rows;
	d->row = calloc(rows->n + 1, sizeof *d->row);
	d->x = calloc((rows->n + 1) * (d->k + 1), sizeof *d->x);
	d->spare = calloc(rows->n + 1, sizeof *d->spare);
	if (!d->row || !d->x || !d->spare)
		return ST_FAILED;
	for (size_t i = 0; i < rows->n; i++) {
		const struct st_ann_record at = {rows, i};
		const struct st_ann_names names = st_ann_record_names(&at);
		bool defined = st_ann_scope_of(a, &names) == scope;
		double *const x = &d->x[d->n * d->k];
		for (size_t k = 0; k < d->k && defined; k++) {
			x[k] = d->terms[k] ? st_ann_evaluate(d->terms[k], &names) : 1;
			defined = isfinite(x[k]);
		}
		if (defined)
			d->row[d->n++] = (uint32_t)i;
	}
	return ST_OK;
}

/* Leaves out the share of the records that the model leaves out: those that are farthest from it.
 */
static st_status
design_leave_out(struct design *d, const struct st_ann_model *m)
{
	const size_t n = d->n, left_out = (size_t)round(m->dropped * (double)n);
	if (m->selection != ST_ANN_DOMINANT || !left_out || left_out >= n)
		return ST_OK;
	double *const sorted = calloc(n, sizeof *sorted);
	if (!sorted)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++) {
		const struct st_ann_record at = {d->p->rows, d->row[i]};
		const struct st_ann_names names = st_ann_record_names(&at);
		double mean, sd;
		d->spare[i] = st_ann_model_moments(m, &names, &mean, &sd)
		                      ? fabs(d->p->whole[d->row[i]] - mean)
		                      : 0;
		sorted[i] = d->spare[i];
	}
	st_sort_values(sorted, n);
	d->n = 0;
	for (size_t i = 0; i < n; i++)
		if (d->spare[i] <= sorted[n - 1 - left_out]) {
			d->row[d->n] = d->row[i];
			memmove(&d->x[d->n++ * d->k], &d->x[i * d->k], d->k * sizeof *d->x);
		}
	free(sorted);
	return ST_OK;
}

/* Fits a column of the rows and keeps the residuals. */
static st_status
design_fit(const struct design *d, const double *y, struct st_ls *fit, double *residuals)
{
	struct st_ls_rows *rows = malloc(sizeof *rows);
	struct st_error ignored;
	if (!rows)
		return ST_FAILED;
	st_ls_begin(rows, d->k);
	for (size_t i = 0; i < d->n; i++)
		st_ls_add(rows, &d->x[i * d->k], y[d->row[i]]);
	const st_status status = st_ls_solve(rows, fit, &ignored);
	free(rows);
	for (size_t i = 0; !status && i < d->n; i++) {
		residuals[i] = y[d->row[i]];
		for (size_t k = 0; k < d->k; k++)
			residuals[i] -= fit->b[k] * d->x[i * d->k + k];
	}
	return status;
}

/* The factor of the i-th value in a coefficient. */
static double
design_factor(const struct design *d, size_t term, size_t i)
{
	double sum = 0;
	for (size_t k = 0; k < d->k; k++)
		sum += d->whole.inverse[term][k] * d->x[i * d->k + k];
	return sum;
}

/* The standard error of a coefficient of `of` minus `share` times that of the whole: the larger one
 * of the usual estimate and HC3. */
static double
design_error(const struct design *d, size_t term, const double *of, double share)
{
	double uneven = 0, even = 0;
	for (size_t i = 0; i < d->n; i++) {
		const double left = fmax(1 - st_ls_leverage(&d->whole, &d->x[i * d->k]), 1e-9),
		             residual = of[i] - share * d->spare[i],
		             w = design_factor(d, term, i) * residual / left;
		uneven += w * w;
		even += residual * residual;
	}
	even *= d->whole.inverse[term][term] / (double)(d->n - d->k);
	return sqrt(fmax(uneven, even));
}

static enum st_ann_carrier
share_carrier(const struct st_ann_share *s)
{
	if (s->low > carries_much)
		return ST_ANN_CARRIES;
	if (s->low > carries_little)
		return ST_ANN_CARRIES_PART;
	return s->high < carries_little ? ST_ANN_CARRIES_NOT : ST_ANN_CARRIES_UNCERTAIN;
}

/* Finds the shares of one part in all terms; they have space for it. */
static st_status
explain_part(const struct design *d, size_t part, struct st_ann_explained_scope *out,
             const size_t *columns)
{
	const double t = st_student(interval_level, (double)(d->n - d->k));
	double *residuals = calloc(d->n + 1, sizeof *residuals);
	struct st_ls fit = {0};
	st_status status =
	        residuals && !design_fit(d, d->p->parts[part], &fit, residuals) ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < out->terms.n && !status; i++) {
		const size_t k = columns[i];
		struct st_ann_share *s = &out->terms.v[i].parts.v[part];
		s->coefficient = fit.b[k];
		s->share = fit.b[k] / d->whole.b[k];
		const double half =
		        t * design_error(d, k, residuals, s->share) / fabs(d->whole.b[k]);
		s->low = s->share - half;
		s->high = s->share + half;
		s->carrier = share_carrier(s);
		out->terms.v[i].explained |=
		        s->carrier == ST_ANN_CARRIES || s->carrier == ST_ANN_CARRIES_PART;
	}
	free(residuals);
	return status;
}

/* The growth of the cost by a term: from its least to its largest value in the records. */
static double
design_growth(const struct design *d, size_t k)
{
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < d->n; i++) {
		low = fmin(low, d->x[i * d->k + k]);
		high = fmax(high, d->x[i * d->k + k]);
	}
	return d->whole.b[k] * (high - low);
}

static st_status
add_explained_term(const struct design *d, size_t k, struct st_ann_explained_scope *out)
{
	struct st_ann_explained_term *t = ST_PUSH(&out->terms);
	if (!t)
		return ST_FAILED;
	*t = (struct st_ann_explained_term){.term = st_ann_copy(d->terms[k]),
	                                    .coefficient = d->whole.b[k],
	                                    .growth = design_growth(d, k)};
	for (size_t i = 0; i < d->p->n_parts; i++) {
		struct st_ann_share *s = ST_PUSH(&t->parts);
		if (!s)
			return ST_FAILED;
		*s = (struct st_ann_share){.share = NAN, .low = NAN, .high = NAN};
	}
	return t->term ? ST_OK : ST_FAILED;
}

/* Adds the terms by which the cost grows, those of most growth first. */
static st_status
add_growing_terms(const struct design *d, struct st_ann_explained_scope *out, size_t *columns)
{
	double sum = 0;
	bool added[ST_LS_MOST] = {false};
	for (size_t k = 0; k < d->k; k++)
		sum += fabs(design_growth(d, k));
	for (;;) {
		size_t best = d->k;
		for (size_t k = 0; k < d->k; k++)
			if (!added[k] && k != d->intercept &&
			    fabs(design_growth(d, k)) > growth_least * sum &&
			    (best == d->k ||
			     fabs(design_growth(d, k)) > fabs(design_growth(d, best))))
				best = k;
		if (best == d->k)
			return ST_OK;
		added[best] = true;
		columns[out->terms.n] = best;
		if (add_explained_term(d, best, out))
			return ST_FAILED;
	}
}

__attribute__((format(printf, 2, 3))) static st_status
explain_not(struct st_ann_explained_scope *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(out->reason, sizeof out->reason, format, ap);
	va_end(ap);
	out->undecided = true;
	return ST_OK;
}

static st_status
explain_design(struct design *d, struct st_ann_explained_scope *out)
{
	size_t columns[ST_LS_MOST] = {0};
	out->n = d->n;
	if (d->n <= d->k + 1)
		return explain_not(out, "%s too few for a model of %s",
		                   ST_COUNT(d->n, "record is", "records are"),
		                   ST_COUNT(d->k, "term", "terms"));
	if (design_fit(d, d->p->whole, &d->whole, d->spare))
		return explain_not(out, "the records do not determine the terms of the model");
	if (add_growing_terms(d, out, columns))
		return ST_FAILED;
	if (!out->terms.n) {
		snprintf(out->reason, sizeof out->reason, "the cost does not grow with a feature");
		return ST_OK;
	}
	for (size_t i = 0; i < d->p->n_parts; i++)
		if (explain_part(d, i, out, columns))
			return ST_FAILED;
	return ST_OK;
}

st_status
st_ann_explain_scope(const struct st_ann_parted *p, const struct st_ann_annotation *a,
                     struct st_ann_explained_scope *out)
{
	struct design d = {.p = p, .intercept = SIZE_MAX};
	const struct st_ann_model *const m = &out->scope->models.v[0];
	if (out->scope->models.n != 1)
		return explain_not(out, "the cost has modes that no feature explains");
	if (m->distribution != ST_ANN_NORMAL && m->distribution != ST_ANN_POINT)
		return explain_not(out, "the cost has a distribution that no feature explains");
	st_status status = st_ann_each_addend(m->a, design_add_term, &d);
	if (!status) {
		design_complete(&d);
		status = design_take_rows(&d, a, out->scope);
	}
	if (!status)
		status = design_leave_out(&d, m);
	if (!status)
		status = explain_design(&d, out);
	for (size_t k = 0; k < d.k; k++)
		st_ann_expr_free(d.terms[k]);
	free(d.row);
	free(d.x);
	free(d.spare);
	return status;
}
