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

/* A growth: the coefficients of a fit, each times its weight. */
struct growth {
	double weights[ST_LS_MOST];
};

static double
growth_of(const struct design *d, const struct growth *g, const double *b)
{
	double sum = 0;
	for (size_t k = 0; k < d->k; k++)
		sum += g->weights[k] * b[k];
	return sum;
}

/* The factor of the i-th value in a growth. */
static double
design_factor(const struct design *d, const struct growth *g, size_t i)
{
	double sum = 0;
	for (size_t term = 0; term < d->k; term++)
		for (size_t k = 0; k < d->k && g->weights[term] != 0; k++)
			sum += g->weights[term] * d->whole.inverse[term][k] * d->x[i * d->k + k];
	return sum;
}

/* The variance of a growth of values with the variance 1. */
static double
design_variance(const struct design *d, const struct growth *g)
{
	double sum = 0;
	for (size_t i = 0; i < d->k; i++)
		for (size_t k = 0; k < d->k; k++)
			sum += g->weights[i] * g->weights[k] * d->whole.inverse[i][k];
	return sum;
}

/* The standard error of a growth of `of` minus `share` times that of the whole: the larger one of
 * the usual estimate and HC3. */
static double
design_error(const struct design *d, const struct growth *g, const double *of, double share)
{
	double uneven = 0, even = 0;
	for (size_t i = 0; i < d->n; i++) {
		const double left = fmax(1 - st_ls_leverage(&d->whole, &d->x[i * d->k]), 1e-9),
		             residual = of[i] - share * d->spare[i],
		             w = design_factor(d, g, i) * residual / left;
		uneven += w * w;
		even += residual * residual;
	}
	even *= design_variance(d, g) / (double)(d->n - d->k);
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

/* The growth of what recording may have added to a part: its overhead for each recorded call in it.
 */
static st_status
explain_recording(const struct design *d, size_t part, double *b)
{
	struct st_ls fit = {0};
	memset(b, 0, ST_LS_MOST * sizeof *b);
	if (!(d->p->overhead > 0) || !d->p->calls)
		return ST_OK;
	double *unused = calloc(d->n + 1, sizeof *unused);
	const st_status status =
	        unused ? design_fit(d, d->p->calls[part], &fit, unused) : ST_FAILED;
	for (size_t k = 0; k < d->k && !status; k++)
		b[k] = d->p->overhead * fit.b[k];
	free(unused);
	return status;
}

/* Finds the shares of one part in all terms; they have space for it. */
static st_status
explain_part(const struct design *d, size_t part, struct st_ann_explained_scope *out,
             const struct growth *growths)
{
	const double t = st_student(interval_level, (double)(d->n - d->k));
	double *residuals = calloc(d->n + 1, sizeof *residuals), recorded[ST_LS_MOST];
	struct st_ls fit = {0};
	st_status status = residuals && !design_fit(d, d->p->parts[part], &fit, residuals) &&
	                                   !explain_recording(d, part, recorded)
	                           ? ST_OK
	                           : ST_FAILED;
	for (size_t i = 0; i < out->terms.n && !status; i++) {
		const struct growth *g = &growths[i];
		const double whole = growth_of(d, g, d->whole.b);
		struct st_ann_share *s = &out->terms.v[i].parts.v[part];
		s->share = growth_of(d, g, fit.b) / whole;
		s->coefficient = s->share * out->terms.v[i].coefficient;
		s->recording = fabs(growth_of(d, g, recorded) / whole);
		const double half =
		        t * design_error(d, g, residuals, s->share) / fabs(whole) + s->recording;
		s->low = s->share - half;
		s->high = s->share + half;
		s->carrier = share_carrier(s);
		out->terms.v[i].explained |=
		        s->carrier == ST_ANN_CARRIES || s->carrier == ST_ANN_CARRIES_PART;
	}
	free(residuals);
	return status;
}

/* The rows with the least and the largest sum of some terms of the model. */
static void
design_ends(const struct design *d, const bool *terms, size_t *low, size_t *high)
{
	double least = INFINITY, most = -INFINITY;
	*low = *high = 0;
	for (size_t i = 0; i < d->n; i++) {
		double sum = 0;
		for (size_t k = 0; k < d->k; k++)
			sum += terms[k] ? d->whole.b[k] * d->x[i * d->k + k] : 0;
		if (sum < least) {
			least = sum;
			*low = i;
		}
		if (sum > most) {
			most = sum;
			*high = i;
		}
	}
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

/* The names in a term, in the order of their first places. */
struct term_names {
	const char *v[4];
	size_t n;
};

static void
term_add_name(void *arg, const char *name)
{
	struct term_names *t = arg;
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i], name))
			return;
	if (t->n < sizeof t->v / sizeof *t->v)
		t->v[t->n++] = name;
}

static bool
term_has_same_names(const struct st_ann_expr *a, const struct st_ann_expr *b)
{
	struct term_names p = {.n = 0}, q = {.n = 0};
	st_ann_each_name(a, term_add_name, &p);
	st_ann_each_name(b, term_add_name, &q);
	for (size_t i = 0; i < p.n && p.n == q.n; i++) {
		size_t k = 0;
		while (k < q.n && strcmp(p.v[i], q.v[k]) != 0)
			k++;
		if (k == q.n)
			return false;
	}
	return p.n == q.n;
}

/* Returns the terms of the model that are explained together with a term: others of the same
 * features, if one of them grows in the opposite direction. The growth by each would be much larger
 * than that of the cost, and its shares would say nothing. */
static size_t
design_group(const struct design *d, size_t term, double least, bool *group)
{
	size_t n = 0;
	bool opposite = false;
	for (size_t k = 0; k < d->k; k++) {
		const double growth = design_growth(d, k);
		group[k] = k != d->intercept && fabs(growth) > least &&
		           term_has_same_names(d->terms[term], d->terms[k]);
		opposite |= group[k] && growth * design_growth(d, term) < 0;
	}
	for (size_t k = 0; k < d->k; k++) {
		group[k] = opposite ? group[k] : k == term;
		n += group[k];
	}
	return n;
}

/* Builds the sum of some terms of the model. NULL: no memory. */
static struct st_ann_expr *
design_sum(const struct design *d, const bool *group)
{
	struct st_ann_expr *sum = NULL;
	for (size_t k = 0; k < d->k; k++) {
		if (!group[k])
			continue;
		const double b = d->whole.b[k];
		struct st_ann_expr *term =
		        st_ann_binary(ST_ANN_OP_MULTIPLY, st_ann_number(sum ? fabs(b) : b),
		                      st_ann_copy(d->terms[k]));
		sum = sum ? st_ann_binary(b < 0 ? ST_ANN_OP_SUBTRACT : ST_ANN_OP_ADD, sum, term)
		          : term;
	}
	return sum;
}

/* Adds the growth by a group of terms. */
static st_status
add_explained_term(const struct design *d, const bool *group, size_t n,
                   struct st_ann_explained_scope *out, struct growth *growth)
{
	size_t low, high, only = 0;
	struct st_ann_explained_term *t = ST_PUSH(&out->terms);
	if (!t)
		return ST_FAILED;
	design_ends(d, group, &low, &high);
	*growth = (struct growth){0};
	for (size_t k = 0; k < d->k; k++) {
		only = group[k] ? k : only;
		growth->weights[k] = group[k] ? d->x[high * d->k + k] - d->x[low * d->k + k] : 0;
	}
	*t = (struct st_ann_explained_term){
	        .term = n > 1 ? design_sum(d, group) : st_ann_copy(d->terms[only]),
	        .is_sum = n > 1,
	        .coefficient = n > 1 ? 1 : d->whole.b[only],
	        .growth = n > 1 ? growth_of(d, growth, d->whole.b) : design_growth(d, only)};
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
add_growing_terms(const struct design *d, struct st_ann_explained_scope *out,
                  struct growth *growths)
{
	double sum = 0;
	bool added[ST_LS_MOST] = {false}, group[ST_LS_MOST];
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
		const size_t n = design_group(d, best, growth_least * sum, group);
		for (size_t k = 0; k < d->k; k++)
			added[k] |= group[k];
		if (add_explained_term(d, group, n, out, &growths[out->terms.n]))
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
	out->n = d->n;
	if (d->n <= d->k + 1)
		return explain_not(out, "%s too few for a model of %s",
		                   ST_COUNT(d->n, "record is", "records are"),
		                   ST_COUNT(d->k, "term", "terms"));
	if (design_fit(d, d->p->whole, &d->whole, d->spare))
		return explain_not(out, "the records do not determine the terms of the model");
	struct growth *growths = calloc(ST_LS_MOST, sizeof *growths);
	st_status status = growths ? add_growing_terms(d, out, growths) : ST_FAILED;
	if (!status && !out->terms.n)
		snprintf(out->reason, sizeof out->reason, "the cost does not grow with a feature");
	for (size_t i = 0; i < d->p->n_parts && out->terms.n && !status; i++)
		status = explain_part(d, i, out, growths);
	free(growths);
	return status;
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
