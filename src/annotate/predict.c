/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/predict.h"

#include <math.h>
#include <string.h>

#include "annotate/undisturbed.h"
#include "stats/distributions.h"

/* A model whose parameters have been evaluated. */
struct ann_law {
	bool is_point;
	enum st_family family;
	double weight, a, b;
};

static struct ann_law
ann_law_at(const struct st_ann_model *m, const struct st_ann_names *names)
{
	static const enum st_family families[] = {[ST_ANN_NORMAL] = ST_FAMILY_NORMAL,
	                                          [ST_ANN_EXPONENTIAL] = ST_FAMILY_EXPONENTIAL,
	                                          [ST_ANN_BINOMIAL] = ST_FAMILY_BINOMIAL,
	                                          [ST_ANN_LOGNORMAL] = ST_FAMILY_LOGNORMAL,
	                                          [ST_ANN_POINT] = ST_FAMILY_NORMAL};
	return (struct ann_law){.is_point = m->distribution == ST_ANN_POINT,
	                        .family = families[m->distribution],
	                        .weight = isnan(m->weight) ? 1 : m->weight,
	                        .a = st_ann_evaluate(m->a, names),
	                        .b = m->b ? st_ann_evaluate(m->b, names) : 0};
}

const struct st_ann_scope *
st_ann_scope_of(const struct st_ann_annotation *a, const struct st_ann_names *names)
{
	for (size_t i = 0; i < a->scopes.n; i++)
		if (!a->scopes.v[i].condition || st_ann_holds(a->scopes.v[i].condition, names))
			return &a->scopes.v[i];
	return NULL;
}

double
st_ann_scope_cdf(const struct st_ann_scope *s, const struct st_ann_names *names, double y)
{
	double sum = 0;
	for (size_t i = 0; i < s->models.n; i++) {
		const struct ann_law law = ann_law_at(&s->models.v[i], names);
		if (law.is_point || isnan(law.a) || isnan(law.b))
			return NAN;
		sum += law.weight * st_family_cdf(law.family, law.a, law.b, y);
	}
	return sum;
}

/* Returns the only value of a model without spread if y differs from it by rounding, and y
 * otherwise. */
static double
ann_exact_value(const struct st_ann_scope *s, const struct st_ann_names *names, double y)
{
	for (size_t i = 0; i < s->models.n; i++) {
		const struct ann_law law = ann_law_at(&s->models.v[i], names);
		if (law.family == ST_FAMILY_NORMAL && !(law.b > 0) &&
		    fabs(y - law.a) <= 1e-15 * fabs(law.a))
			return law.a;
	}
	return y;
}

/* Finds the quantile q by bisection. */
static double
ann_scope_quantile(const struct st_ann_scope *s, const struct st_ann_names *names, double q,
                   double mean, double sd)
{
	double low = mean - 2 * sd - 1e-9 * fabs(mean), high = mean + 2 * sd + 1e-9 * fabs(mean);
	for (double step = sd; step > 0 && isfinite(step) && st_ann_scope_cdf(s, names, low) > q;
	     step *= 2)
		low -= step;
	for (double step = sd; step > 0 && isfinite(step) && st_ann_scope_cdf(s, names, high) < q;
	     step *= 2)
		high += step;
	for (int i = 0; i < 200 && low < high; i++) {
		const double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		if (st_ann_scope_cdf(s, names, middle) < q)
			low = middle;
		else
			high = middle;
	}
	return ann_exact_value(s, names, high);
}

struct ann_needed {
	const struct st_ann_names *names;
	const char *missing;
};

static void
ann_need_name(void *arg, const char *name)
{
	struct ann_needed *n = arg;
	struct st_ann_value value = {NAN, NULL};
	if (!n->missing && !n->names->find(n->names->arg, name, &value))
		n->missing = name;
}

/* Returns a name that has no value, and that the scope of these values needs, or the condition of a
 * scope before it; NULL: all have one. */
static const char *
ann_missing_name(const struct st_ann_annotation *a, const struct st_ann_names *names)
{
	struct ann_needed needed = {names, NULL};
	bool found = false;
	for (size_t i = 0; i < a->scopes.n && !found && !needed.missing; i++) {
		const struct st_ann_scope *s = &a->scopes.v[i];
		st_ann_each_name(s->condition, ann_need_name, &needed);
		if (needed.missing)
			break;
		found = !s->condition || st_ann_holds(s->condition, names);
		for (size_t k = 0; found && k < s->models.n; k++) {
			st_ann_each_name(s->models.v[k].a, ann_need_name, &needed);
			st_ann_each_name(s->models.v[k].b, ann_need_name, &needed);
		}
	}
	return needed.missing;
}

bool
st_ann_is_observed(const struct st_ann_annotation *a, const struct st_ann_names *names)
{
	for (size_t i = 0; i < a->declarations.n; i++) {
		const struct st_ann_declaration *d = &a->declarations.v[i];
		struct st_ann_value value = {NAN, NULL};
		if (!isnan(d->low) && names->find(names->arg, d->name, &value) &&
		    !(value.number >= d->low && value.number <= d->high))
			return false;
	}
	return true;
}

bool
st_ann_model_moments(const struct st_ann_model *m, const struct st_ann_names *names, double *mean,
                     double *sd)
{
	const struct ann_law law = ann_law_at(m, names);
	*mean = law.is_point ? law.a : st_family_mean(law.family, law.a, law.b);
	*sd = law.is_point ? 0 : st_family_sd(law.family, law.a, law.b);
	return isfinite(*mean) && *sd >= 0;
}

double
st_ann_model_log_density(const struct st_ann_model *m, const struct st_ann_names *names, double y)
{
	const struct ann_law law = ann_law_at(m, names);
	return law.is_point ? NAN : st_family_log_density(law.family, law.a, law.b, y);
}

bool
st_ann_scope_moments(const struct st_ann_scope *s, const struct st_ann_names *names, double *mean,
                     double *sd)
{
	double squares = 0, one_sd = 0;
	bool spread = true;
	*mean = 0;
	for (size_t i = 0; i < s->models.n; i++) {
		const struct st_ann_model *m = &s->models.v[i];
		const double weight = isnan(m->weight) ? 1 : m->weight;
		double one;
		if (!st_ann_model_moments(m, names, &one, &one_sd))
			return false;
		*mean += weight * one;
		squares += weight * (one_sd * one_sd + one * one);
		spread &= m->distribution != ST_ANN_POINT;
	}
	/* That of a single model is without the rounding of the difference. */
	*sd = !spread ? NAN : s->models.n == 1 ? one_sd : sqrt(fmax(squares - *mean * *mean, 0));
	return true;
}

void
st_ann_model_interval(const struct st_ann_model *m, const struct st_ann_names *names, double level,
                      double *low, double *high)
{
	struct st_ann_model one = *m;
	const struct st_ann_scope s = {.models = {.v = &one, .n = 1}};
	double mean, sd;
	one.weight = NAN;
	*low = *high = NAN;
	if (m->distribution == ST_ANN_POINT || !st_ann_model_moments(&one, names, &mean, &sd))
		return;
	*low = ann_scope_quantile(&s, names, (1 - level) / 2, mean, sd);
	*high = ann_scope_quantile(&s, names, (1 + level) / 2, mean, sd);
}

static void
ann_need_number(void *arg, const char *name)
{
	struct ann_needed *n = arg;
	struct st_ann_value value = {NAN, NULL};
	if (!n->missing && n->names->find(n->names->arg, name, &value) && isnan(value.number))
		n->missing = name;
}

/* Returns a name with which a model calculates and whose value is a text; NULL: there is none. */
static const char *
ann_text_for_number(const struct st_ann_scope *s, const struct st_ann_names *names)
{
	struct ann_needed needed = {names, NULL};
	for (size_t k = 0; k < s->models.n; k++) {
		st_ann_each_name(s->models.v[k].a, ann_need_number, &needed);
		st_ann_each_name(s->models.v[k].b, ann_need_number, &needed);
	}
	return needed.missing;
}

/* Returns the share of the records of a scope that its models leave out. */
static double
ann_scope_left_out(const struct st_ann_scope *s)
{
	double share = 0, weights = 0;
	for (size_t i = 0; i < s->models.n; i++) {
		const struct st_ann_model *m = &s->models.v[i];
		const double weight = isnan(m->weight) ? 1 : m->weight;
		share +=
		        m->selection == ST_ANN_PLAIN || isnan(m->dropped) ? 0 : weight * m->dropped;
		weights += weight;
	}
	return weights > 0 ? share / weights : 0;
}

st_status
st_ann_predict(const struct st_ann_annotation *a, const struct st_ann_names *names, double level,
               struct st_ann_prediction *out, struct st_error *e)
{
	const char *const missing = ann_missing_name(a, names);
	*out = (struct st_ann_prediction){.low = NAN, .high = NAN};
	if (missing)
		return st_fail(e, ST_EXIT_USAGE,
		               "%.200s.%s depends on '%s': give its value as %s=VALUE", a->function,
		               a->metric, missing, missing);
	const struct st_ann_scope *s = st_ann_scope_of(a, names);
	if (!s) {
		out->mean = out->sd = NAN;
		return ST_OK;
	}
	const char *const text = ann_text_for_number(s, names);
	if (text)
		return st_fail(e, ST_EXIT_USAGE,
		               "%.200s.%s calculates with '%s': its value must be a number",
		               a->function, a->metric, text);
	if (!st_ann_scope_moments(s, names, &out->mean, &out->sd))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the model of %.200s.%s is undefined for these values: it holds in the "
		        "observed ranges only",
		        a->function, a->metric);
	out->left_out = ann_scope_left_out(s);
	if (!isnan(out->sd)) {
		out->low = ann_scope_quantile(s, names, (1 - level) / 2, out->mean, out->sd);
		out->high = ann_scope_quantile(s, names, (1 + level) / 2, out->mean, out->sd);
		if (a->unit && st_ann_only_grows(a->unit)) {
			/* A normal distribution reaches below 0, which a time does not. */
			out->low = fmax(out->low, 0);
			out->high = fmax(out->high, 0);
		}
	}
	out->inside = st_ann_is_observed(a, names);
	return ST_OK;
}
