/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "check/bounds.h"

static const struct {
	const char *name;
	st_status (*run)(struct st_check_result *out, const struct st_check_how *how);
} methods[] = {
#define M(id, name, help) {name, st_check_by_##id},
        ST_CHECK_METHODS(M)
#undef M
};

const char *
st_check_method_name(enum st_check_method method)
{
	return methods[method].name;
}

static double
mean_or_nan(const double *v, size_t n)
{
	return n ? st_mean(v, n) : NAN;
}

static double
median_or_zero(const struct st_check_item *item)
{
	return item && item->runs.n ? st_median(item->runs.v, item->runs.n) : 0;
}

struct st_finding *
st_check_add(struct st_check_result *out, const struct st_check_subject *s,
             enum st_check_method method)
{
	struct st_finding *f = ST_PUSH(&out->findings);
	const struct st_check_item *a = s->item[ST_A], *b = s->item[ST_B];
	if (!f)
		return NULL;
	*f = (struct st_finding){.kind = ST_FINDING_UNKNOWN,
	                         .method = method,
	                         .subject = s,
	                         .metric = s->metric,
	                         .from = median_or_zero(a),
	                         .to = median_or_zero(b),
	                         .rate = {NAN, NAN, NAN},
	                         .relative = NAN,
	                         .share_from = NAN,
	                         .share_to = NAN,
	                         .confidence = NAN,
	                         .p = NAN,
	                         .q = NAN,
	                         .x_low = NAN,
	                         .x_high = NAN,
	                         .calls_from = a ? mean_or_nan(a->calls.v, a->calls.n) : NAN,
	                         .calls_to = b ? mean_or_nan(b->calls.v, b->calls.n) : NAN};
	return f;
}

void
st_finding_set_rate(struct st_finding *f, const struct st_check_result *r, struct st_interval rate)
{
	const struct st_check_total *whole = st_check_whole(r->subjects, f->metric);
	f->rate = rate;
	f->relative = f->from != 0 ? rate.at / fabs(f->from) : NAN;
	if (!whole)
		return;
	const double from = st_median(whole->runs[ST_A].v, whole->runs[ST_A].n);
	const double to = st_median(whole->runs[ST_B].v, whole->runs[ST_B].n);
	f->share_from = from != 0 ? rate.at / fabs(from) : NAN;
	f->share_to = to != 0 ? rate.at / fabs(to) : NAN;
}

/* By metric, then by direction, changes by size; otherwise in the order of the subjects. */
static int
compare_findings(const void *a, const void *b)
{
	const struct st_finding *x = a, *y = b;
	const int dx = st_finding_direction(x->kind), dy = st_finding_direction(y->kind);
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (dx && fabs(x->rate.at) != fabs(y->rate.at))
		return fabs(x->rate.at) > fabs(y->rate.at) ? -1 : 1;
	return (x->subject > y->subject) - (x->subject < y->subject);
}

st_status
st_check_run(struct st_check_result *out, const struct st_check_subjects *subjects,
             enum st_check_method method, const struct st_check_how *how, struct st_error *e)
{
	*out = (struct st_check_result){.subjects = subjects};
	if (methods[method].run(out, how))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	size_t kept = 0;
	for (size_t i = 0; i < out->totals.n; i++)
		st_finding_bound(&out->totals.v[i]);
	for (size_t i = 0; i < out->findings.n; i++)
		st_finding_bound(&out->findings.v[i]);
	for (size_t i = 0; i < out->findings.n; i++)
		if (!how->of || st_check_is_of(subjects, out->findings.v[i].subject, how->of))
			out->findings.v[kept++] = out->findings.v[i];
	out->findings.n = kept;
	st_order(out->findings.v, out->findings.n, sizeof *out->findings.v, compare_findings);
	return ST_OK;
}

void
st_check_result_free(struct st_check_result *r)
{
	free(r->findings.v);
	free(r->totals.v);
	*r = (struct st_check_result){0};
}
