/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks records against a contract. */
#include "annotate/contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/robust.h"

static const double contract_level = 0.95;

/* A record, and the length of a second in the unit of the metric. */
struct ann_contract_names {
	struct st_ann_record record;
	double second; /* in units of the metric; NAN: the metric is no time */
};

static double
ann_units_of_second(const char *unit)
{
	static const struct {
		const char *name;
		double units;
	} units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(unit, units[i].name))
			return units[i].units;
	return NAN;
}

static bool
ann_contract_find(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct ann_contract_names *n = arg;
	const struct st_ann_names names = st_ann_record_names(&n->record);
	if (names.find(names.arg, name, value))
		return true;
	const double units = ann_units_of_second(name);
	value->number = n->second / units;
	return !isnan(value->number);
}

struct ann_contract_missing {
	const struct ann_contract_names *names;
	const char *name;
};

static void
ann_contract_need(void *arg, const char *name)
{
	struct ann_contract_missing *m = arg;
	struct st_ann_value value;
	if (!m->name && !ann_contract_find(m->names, name, &value))
		m->name = name;
}

static bool
ann_contract_is_of(const struct st_ann_contract *c, const char *function)
{
	const size_t n = strcspn(function, "(");
	return !strcmp(function, c->function) ||
	       (strlen(c->function) == n && !strncmp(function, c->function, n));
}

static void
ann_contract_share(struct st_ann_outcome *out)
{
	const struct st_interval share =
	        st_share(out->records - out->above, out->records, contract_level);
	out->share_low = share.low;
	out->share_high = share.high;
}

static void
ann_contract_see_absent(void *arg, const char *name)
{
	struct ann_contract_missing *m = arg;
	struct st_ann_value value = {NAN, NULL};
	if (!m->name && (!ann_contract_find(m->names, name, &value) || isnan(value.number)))
		m->name = name;
}

/* Values of the bound and of the metric, of the records to which a contract applies. */
struct ann_contract_values {
	ST_VEC(double) bounds, costs;
};

/* Evaluates the bound for a record. *bound: NAN: the contract does not apply to it, because its
 * feature is out of the range, or because it lacks the metric or a feature of the bound. */
static st_status
ann_contract_bound_of(const struct st_ann_contract *c, const struct ann_contract_names *at,
                      double cost, double *bound, struct st_error *e)
{
	const struct st_ann_names names = {ann_contract_find, at};
	struct ann_contract_missing absent = {at, NULL};
	struct st_ann_value x = {NAN, NULL};
	*bound = NAN;
	if (c->range &&
	    (!ann_contract_find(at, c->range, &x) || !(x.number >= c->low && x.number <= c->high)))
		return ST_OK;
	if (isnan(cost))
		return ST_OK;
	*bound = st_ann_evaluate(c->bound, &names);
	if (isfinite(*bound))
		return ST_OK;
	st_ann_each_name(c->bound, ann_contract_see_absent, &absent);
	*bound = NAN;
	if (absent.name)
		return ST_OK;
	return st_fail(
	        e, ST_EXIT_USAGE,
	        "the bound of the contract in line %u is not a finite number for record %zu "
	        "of %.200s, for example after a division by 0: change the bound, or exclude the "
	        "record with 'for NAME in LOW..HIGH'",
	        c->line, at->record.row + 1, at->record.records->name);
}

/* Adds the records to which a contract on growth applies. */
static st_status
ann_contract_gather(const struct st_ann_contract *c, const struct st_ann_metric *m,
                    struct ann_contract_names *at, struct ann_contract_values *v,
                    struct st_error *e)
{
	for (at->record.row = 0; at->record.row < at->record.records->n; at->record.row++) {
		const double y = m->v[at->record.row];
		double bound;
		if (ann_contract_bound_of(c, at, y, &bound, e))
			return ST_FAILED;
		if (isnan(bound) || !isfinite(y))
			continue;
		double *b = ST_PUSH(&v->bounds), *cost = b ? ST_PUSH(&v->costs) : NULL;
		if (!cost)
			return st_fail(e, ST_EXIT_FAILED, "no memory left to check a contract");
		*b = bound;
		*cost = y;
	}
	return ST_OK;
}

/* Counts the records to which the contract applies. */
static st_status
ann_contract_count(const struct st_ann_contract *c, const struct st_ann_metric *m,
                   struct ann_contract_names *at, struct st_ann_outcome *out, struct st_error *e)
{
	double farthest = -INFINITY;
	for (at->record.row = 0; at->record.row < at->record.records->n; at->record.row++) {
		const double y = m->v[at->record.row];
		double bound;
		if (ann_contract_bound_of(c, at, y, &bound, e))
			return ST_FAILED;
		if (isnan(bound))
			continue;
		out->records++;
		out->above += y > bound;
		if (y - bound > farthest) {
			farthest = y - bound;
			out->worst = y;
			out->bound = bound;
			out->worst_record = at->record.row + 1;
		}
	}
	return ST_OK;
}

static void
ann_contract_judge(const struct st_ann_contract *c, struct st_ann_outcome *out)
{
	if (!out->records) {
		out->verdict = ST_ANN_NOT_EXERCISED;
	} else if (c->growth) {
		out->verdict = out->growth.verdict == ST_ANN_GROWTH_WITHIN   ? ST_ANN_KEPT
		               : out->growth.verdict == ST_ANN_GROWTH_FASTER ? ST_ANN_BROKEN
		                                                             : ST_ANN_CANNOT_TELL;
	} else if (c->quantile >= 1) {
		out->verdict = out->above ? ST_ANN_BROKEN : ST_ANN_KEPT;
	} else {
		ann_contract_share(out);
		out->verdict = out->share_high < c->quantile   ? ST_ANN_BROKEN
		               : out->share_low >= c->quantile ? ST_ANN_KEPT
		                                               : ST_ANN_CANNOT_TELL;
	}
}

static st_status
ann_contract_lacks(const struct st_ann_contract *c, const struct st_ann_records *r,
                   const struct st_ann_metric *m, const char *name, struct st_error *e)
{
	if (!isnan(ann_units_of_second(name)))
		return st_fail(e, ST_EXIT_USAGE,
		               "the contract in line %u has a time in %s, but the unit of %.60s in "
		               "the records of %.200s is not one of time: write the bound without "
		               "a unit, or name the unit of a column with -m NAME:UNIT",
		               c->line, name, m->name, r->name);
	return st_fail(e, ST_EXIT_USAGE,
	               "the records of %.200s have no feature '%.60s' for the contract in line %u",
	               r->name, name, c->line);
}

static st_status
ann_contract_look(const struct st_ann_contract *c, const struct st_ann_data *d,
                  struct ann_contract_values *v, struct st_ann_outcome *out, struct st_error *e)
{
	for (size_t i = 0; i < d->functions.n; i++) {
		const struct st_ann_records *r = &d->functions.v[i];
		for (size_t k = 0; k < r->metrics.n && ann_contract_is_of(c, r->name); k++) {
			const struct st_ann_metric *m = &r->metrics.v[k];
			struct ann_contract_names at = {{r, 0}, ann_units_of_second(m->unit)};
			struct ann_contract_missing missing = {&at, NULL};
			if (strcmp(m->name, c->metric) || !r->n)
				continue;
			st_ann_each_name(c->bound, ann_contract_need, &missing);
			if (!missing.name && c->range)
				ann_contract_need(&missing, c->range);
			if (missing.name)
				return ann_contract_lacks(c, r, m, missing.name, e);
			if (c->growth ? ann_contract_gather(c, m, &at, v, e)
			              : ann_contract_count(c, m, &at, out, e))
				return ST_FAILED;
		}
	}
	return ST_OK;
}

st_status
st_ann_contract_check(const struct st_ann_contract *c, const struct st_ann_data *d,
                      struct st_ann_outcome *out, struct st_error *e)
{
	struct ann_contract_values v = {0};
	*out = (struct st_ann_outcome){.share_low = NAN, .share_high = NAN};
	st_status status = ann_contract_look(c, d, &v, out, e);
	if (!status && c->growth) {
		out->records = v.costs.n;
		if (out->records &&
		    st_ann_growth_judge(v.bounds.v, v.costs.v, out->records, &out->growth))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left to check a contract");
	}
	free(v.bounds.v);
	free(v.costs.v);
	if (!status)
		ann_contract_judge(c, out);
	return status;
}
