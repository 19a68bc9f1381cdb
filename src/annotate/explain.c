/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "annotate/explain_shares.h"
#include "annotate/predict.h"
#include "base/number.h"

const char *
st_ann_carrier_name(enum st_ann_carrier carrier)
{
	static const char *const names[] = {
#define V(id, name) name,
	        ST_ANN_CARRIERS(V)
#undef V
	};
	return names[carrier];
}

static st_status
explain_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to explain the records");
}

/* ---- the parts of the cost ---- */

static bool
explain_is_part(const struct st_ann_metric *m, const char *of)
{
	return m->of && !strcmp(m->of, of);
}

/* Returns the column with the number of calls of a callee. */
static const double *
explain_calls(const struct st_ann_records *r, const char *callee)
{
	for (size_t i = 0; i < r->metrics.n; i++)
		if (explain_is_part(&r->metrics.v[i], "calls") &&
		    !strcmp(r->metrics.v[i].callee, callee))
			return r->metrics.v[i].v;
	return NULL;
}

/*
 * The records of the parts have the features of the caller's records, and a column for the cost of
 * each part. A callee that was not called in a run has no column there, and its cost is 0; a record
 * without any column of callees has no parts.
 */
struct explaining {
	const struct st_ann_records *r;
	const char *metric;
	const double *y;
	double overhead; /* of recording a call; NAN: not known */
	const struct st_ann_options *options;
	struct st_ann_records rows; /* shares the features; n of them */
	double **parts;             /* by part: a column of the rows */
	double **calls;             /* by part: calls of recorded functions in it */
	double *whole;              /* the same of the caller's cost */
	uint32_t *from;             /* by row: the record */
	struct st_ann_explained *out;
};

static bool
explain_has_parts(const struct explaining *x, size_t row)
{
	for (size_t i = 0; i < x->r->metrics.n; i++)
		if (explain_is_part(&x->r->metrics.v[i], x->metric) &&
		    !isnan(x->r->metrics.v[i].v[row]))
			return !isnan(x->y[row]);
	return false;
}

static double
explain_known(double x)
{
	return isnan(x) ? 0 : x;
}

static st_status
explain_find_parts(struct explaining *x)
{
	for (size_t i = 0; i < x->r->metrics.n; i++) {
		const struct st_ann_metric *m = &x->r->metrics.v[i];
		bool any = false;
		if (!explain_is_part(m, x->metric))
			continue;
		for (size_t row = 0; row < x->r->n; row++)
			any |= explain_known(m->v[row]) != 0;
		const double *const calls = explain_calls(x->r, m->callee);
		for (size_t row = 0; calls && row < x->r->n; row++)
			any |= explain_known(calls[row]) != 0;
		struct st_ann_part *p = any ? ST_PUSH(&x->out->parts) : NULL;
		if (any && !p)
			return ST_FAILED;
		if (p)
			*p = (struct st_ann_part){.callee = m->callee, .column = i};
	}
	struct st_ann_part *own = ST_PUSH(&x->out->parts);
	if (!own)
		return ST_FAILED;
	*own = (struct st_ann_part){0};
	return ST_OK;
}

/* Copies a column of the records to the rows that have parts. NULL: no memory. */
static double *
explain_column(const struct explaining *x, const double *v)
{
	double *to = malloc((x->rows.n + 1) * sizeof *to);
	for (size_t i = 0; to && i < x->rows.n; i++)
		to[i] = v[x->from[i]];
	return to;
}

static st_status
explain_take_features(struct explaining *x)
{
	for (size_t i = 0; i < x->r->features.n; i++) {
		struct st_ann_feature *f = ST_PUSH(&x->rows.features);
		if (!f)
			return ST_FAILED;
		*f = x->r->features.v[i]; /* its texts stay the records' */
		f->v = explain_column(x, x->r->features.v[i].v);
		if (!f->v)
			return ST_FAILED;
	}
	for (size_t i = 0; i < x->r->branches.n; i++) {
		struct st_ann_branch *b = ST_PUSH(&x->rows.branches);
		if (!b)
			return ST_FAILED;
		*b = x->r->branches.v[i];
		b->v = explain_column(x, x->r->branches.v[i].v);
		if (!b->v)
			return ST_FAILED;
	}
	return ST_OK;
}

/* Makes the columns with the numbers of calls. Calls of all callees take place in the caller's own
 * code, so that recording them makes it longer as well. */
static st_status
explain_count_calls(struct explaining *x)
{
	const size_t own = x->out->parts.n - 1;
	x->calls = calloc(own + 1, sizeof *x->calls);
	for (size_t k = 0; x->calls && k <= own; k++) {
		x->calls[k] = calloc(x->rows.n + 1, sizeof **x->calls);
		if (!x->calls[k])
			return ST_FAILED;
	}
	for (size_t k = 0; x->calls && k < own; k++) {
		const double *const calls = explain_calls(x->r, x->out->parts.v[k].callee);
		for (size_t i = 0; calls && i < x->rows.n; i++) {
			x->calls[k][i] = explain_known(calls[x->from[i]]);
			x->calls[own][i] += x->calls[k][i];
		}
	}
	return x->calls ? ST_OK : ST_FAILED;
}

static st_status
explain_divide_cost(struct explaining *x)
{
	const size_t own = x->out->parts.n - 1;
	x->parts = calloc(x->out->parts.n, sizeof *x->parts);
	x->whole = explain_column(x, x->y);
	if (!x->parts || !x->whole)
		return ST_FAILED;
	x->parts[own] = explain_column(x, x->y);
	for (size_t k = 0; k < own; k++)
		x->parts[k] = explain_column(x, x->r->metrics.v[x->out->parts.v[k].column].v);
	for (size_t k = 0; k <= own; k++)
		if (!x->parts[k])
			return ST_FAILED;
	for (size_t k = 0; k < own; k++)
		for (size_t i = 0; i < x->rows.n; i++) {
			x->parts[k][i] = explain_known(x->parts[k][i]);
			x->parts[own][i] -= x->parts[k][i];
		}
	for (size_t i = 0; i < x->rows.n; i++)
		x->out->mean += x->whole[i];
	x->out->mean /= (double)x->rows.n;
	for (size_t k = 0; k <= own; k++)
		for (size_t i = 0; i < x->rows.n; i++)
			x->out->parts.v[k].mean += x->parts[k][i];
	for (size_t k = 0; k <= own; k++)
		x->out->parts.v[k].mean /= (double)x->rows.n;
	return ST_OK;
}

static st_status
explain_take_rows(struct explaining *x, struct st_error *e)
{
	x->rows.name = x->r->name;
	x->rows.image = x->r->image;
	x->from = malloc((x->r->n + 1) * sizeof *x->from);
	if (!x->from)
		return explain_memory(e);
	for (size_t i = 0; i < x->r->n; i++)
		if (explain_has_parts(x, i))
			x->from[x->rows.n++] = (uint32_t)i;
	x->out->n = x->rows.n;
	if (!x->rows.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the records of %.200s do not say what its callees cost: record it "
		               "and its callees with strobe annotate -o FILE -m %.60s,callees",
		               x->r->name, x->metric);
	return explain_find_parts(x) || explain_take_features(x) || explain_divide_cost(x) ||
	                       explain_count_calls(x)
	               ? explain_memory(e)
	               : ST_OK;
}

/* ---- models ---- */

/* Analyses a column of the rows. False: it has no model. */
static bool
explain_analyse(struct explaining *x, const char *metric, double *v, const char *unit,
                struct st_ann_annotation *to, struct st_error *why)
{
	struct st_ann_metric m = {
	        .name = (char *)metric, .unit = (char *)unit, .overhead = NAN, .v = v};
	x->rows.metrics.v = &m;
	x->rows.metrics.n = 1;
	const bool made = !st_ann_analyse(&x->rows, 0, x->options, to, why);
	x->rows.metrics.n = 0;
	x->rows.metrics.v = NULL;
	if (!made)
		st_ann_annotation_free(to);
	return made;
}

/* The number of calls, and the mean cost of one. */
static st_status
explain_analyse_calls(struct explaining *x, struct st_ann_part *p, const double *cost,
                      const char *unit)
{
	const double *const all = explain_calls(x->r, p->callee);
	double *calls = all ? explain_column(x, all) : NULL,
	       *each = calls ? malloc((x->rows.n + 1) * sizeof *each) : NULL;
	struct st_error why; /* too few calls: there is no model */
	p->calls = each ? 0 : NAN;
	for (size_t i = 0; each && i < x->rows.n; i++) {
		calls[i] = explain_known(calls[i]);
		each[i] = calls[i] > 0 ? cost[i] / calls[i] : NAN;
		p->calls += calls[i];
	}
	if (each) {
		p->calls /= (double)x->rows.n;
		p->has_number = explain_analyse(x, "calls", calls, "", &p->number, &why);
		p->has_each = explain_analyse(x, x->metric, each, unit, &p->each, &why);
	}
	const bool failed = all && !each;
	free(calls);
	free(each);
	return failed ? ST_FAILED : ST_OK;
}

static st_status
explain_analyse_parts(struct explaining *x, const char *unit)
{
	struct st_error why;
	for (size_t k = 0; k < x->out->parts.n; k++) {
		struct st_ann_part *p = &x->out->parts.v[k];
		p->calls = NAN;
		p->has_cost = explain_analyse(x, x->metric, x->parts[k], unit, &p->cost, &why);
		if (p->callee && *p->callee && explain_analyse_calls(x, p, x->parts[k], unit))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Predicts the mean of a row. NAN: no condition holds. */
static double
explain_predicted(const struct st_ann_annotation *a, const struct st_ann_names *names)
{
	const struct st_ann_scope *s = st_ann_scope_of(a, names);
	double mean, sd;
	return s && st_ann_scope_moments(s, names, &mean, &sd) ? mean : NAN;
}

static void
explain_compare(struct explaining *x)
{
	double most = 0, difference = 0;
	x->out->difference = NAN;
	for (size_t k = 0; k < x->out->parts.n; k++)
		if (!x->out->parts.v[k].has_cost)
			return;
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct st_ann_record at = {&x->rows, i};
		const struct st_ann_names names = st_ann_record_names(&at);
		const double caller = explain_predicted(&x->out->caller, &names);
		double sum = 0;
		for (size_t k = 0; k < x->out->parts.n; k++)
			sum += explain_predicted(&x->out->parts.v[k].cost, &names);
		if (isnan(sum) || isnan(caller))
			continue;
		most = fmax(most, fabs(caller));
		difference = fmax(difference, fabs(sum - caller));
	}
	x->out->difference = most > 0 ? difference / most : NAN;
}

/* ---- all together ---- */

static st_status
explain_scopes(struct explaining *x)
{
	const struct st_ann_parted parted = {.rows = &x->rows,
	                                     .whole = x->whole,
	                                     .parts = x->parts,
	                                     .calls = x->calls,
	                                     .overhead = x->overhead,
	                                     .n_parts = x->out->parts.n};
	for (size_t i = 0; i < x->out->caller.scopes.n; i++) {
		struct st_ann_explained_scope *s = ST_PUSH(&x->out->scopes);
		if (!s)
			return ST_FAILED;
		*s = (struct st_ann_explained_scope){.scope = &x->out->caller.scopes.v[i]};
		if (st_ann_explain_scope(&parted, &x->out->caller, s))
			return ST_FAILED;
	}
	return ST_OK;
}

static void
explain_free(struct explaining *x)
{
	for (size_t i = 0; i < x->rows.features.n; i++)
		free(x->rows.features.v[i].v);
	for (size_t i = 0; i < x->rows.branches.n; i++)
		free(x->rows.branches.v[i].v);
	for (size_t k = 0; x->parts && k < x->out->parts.n; k++)
		free(x->parts[k]);
	for (size_t k = 0; x->calls && k < x->out->parts.n; k++)
		free(x->calls[k]);
	free(x->calls);
	free(x->rows.features.v);
	free(x->rows.branches.v);
	free(x->parts);
	free(x->whole);
	free(x->from);
}

st_status
st_ann_explain(const struct st_ann_records *r, size_t metric, const struct st_ann_options *options,
               struct st_ann_explained *out, struct st_error *e)
{
	const struct st_ann_metric *const m = &r->metrics.v[metric];
	struct explaining x = {.r = r,
	                       .metric = m->name,
	                       .y = m->v,
	                       .overhead = m->overhead,
	                       .options = options,
	                       .out = out};
	*out = (struct st_ann_explained){.difference = NAN, .caller = {.overhead = NAN}};
	st_status status = explain_take_rows(&x, e);
	if (!status && x.rows.n < ST_ANN_RECORDS_LEAST)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%.200s has %s with %s and the costs of callees, and a "
		                 "model needs %d: record more calls",
		                 r->name, ST_COUNT(x.rows.n, "record", "records"), m->name,
		                 ST_ANN_RECORDS_LEAST);
	if (!status && !explain_analyse(&x, m->name, x.whole, m->unit, &out->caller, e))
		status = ST_FAILED;
	if (!status && (explain_analyse_parts(&x, m->unit) || explain_scopes(&x)))
		status = explain_memory(e);
	if (!status)
		explain_compare(&x);
	explain_free(&x);
	return status;
}

void
st_ann_explained_free(struct st_ann_explained *x)
{
	for (size_t i = 0; i < x->scopes.n; i++) {
		for (size_t k = 0; k < x->scopes.v[i].terms.n; k++) {
			st_ann_expr_free(x->scopes.v[i].terms.v[k].term);
			free(x->scopes.v[i].terms.v[k].parts.v);
		}
		free(x->scopes.v[i].terms.v);
	}
	for (size_t k = 0; k < x->parts.n; k++) {
		struct st_ann_part *p = &x->parts.v[k];
		if (p->has_cost)
			st_ann_annotation_free(&p->cost);
		if (p->has_number)
			st_ann_annotation_free(&p->number);
		if (p->has_each)
			st_ann_annotation_free(&p->each);
	}
	st_ann_annotation_free(&x->caller);
	free(x->scopes.v);
	free(x->parts.v);
	*x = (struct st_ann_explained){0};
}
