/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "check/check.h"
#include "report/json.h"

/* Ten profiles make 45 pairs. A figure shows no more than some hundred values of a sample. */
enum { MOST_PROFILES = 10, MOST_FINDINGS = 200, MOST_VALUES = 500 };

struct sample_values {
	ST_VEC(double) v;
};

st_status
st_report_keep_measured(struct st_report_measured *all, struct st_profile *p, size_t result,
                        struct st_error *e)
{
	const bool measured = p->measurements.series.n > 0;
	if (!measured || all->profiles.n == MOST_PROFILES) {
		all->left_out += measured;
		st_profile_free(p);
		return ST_OK;
	}
	size_t *slot = ST_PUSH(&all->results);
	struct st_profile **kept = slot ? ST_PUSH(&all->profiles) : NULL;
	if (!kept) {
		st_profile_free(p);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	}
	*slot = result;
	*kept = p;
	return ST_OK;
}

void
st_report_measured_free(struct st_report_measured *all)
{
	for (size_t i = 0; i < all->profiles.n; i++)
		st_profile_free(all->profiles.v[i]);
	free(all->profiles.v);
	free(all->results.v);
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static st_status
sample_append(struct sample_values *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *slot = isfinite(v[i]) ? ST_PUSH(&s->v) : NULL;
		if (slot)
			*slot = v[i];
		else if (isfinite(v[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

/* The values of an item, ascending: of each run, or, of a single run, the single measurements. */
static st_status
sample_make(struct sample_values *s, const struct st_check_item *item, bool single)
{
	st_status status = ST_OK;
	if (item && !single)
		status = sample_append(s, item->runs.v, item->runs.n);
	for (size_t i = 0; item && single && i < item->series.n && !status; i++)
		status = sample_append(s, item->series.v[i]->values, item->series.v[i]->n);
	if (s->v.n)
		qsort(s->v.v, s->v.n, sizeof *s->v.v, by_value);
	return status;
}

/* n, and at most MOST_VALUES of the values, at regular distances in their order. NULL: memory is
 * exhausted. */
static json_t *
sample_json(const struct st_check_item *item, bool single)
{
	struct sample_values s = {0};
	json_t *values = json_array();
	const st_status status = sample_make(&s, item, single);
	const size_t n = s.v.n, most = n < MOST_VALUES ? n : MOST_VALUES;
	for (size_t i = 0; i < most && !status; i++)
		json_array_append_new(values,
		                      json_real(s.v.v[n == most ? i : i * (n - 1) / (most - 1)]));
	free(s.v.v);
	if (!status)
		return json_pack("{sI, so}", "n", (json_int_t)n, "values", values);
	json_decref(values);
	return NULL;
}

static size_t
runs_of(const struct st_check_item *item)
{
	return item ? item->runs.n : 0;
}

static json_t *
page_finding_json(const struct st_check_result *r, const struct st_finding *f)
{
	const struct st_check_subject *s = f->subject;
	const struct st_check_metric *m = &r->subjects->metrics.v[f->metric];
	const bool single = runs_of(s->item[ST_A]) < 2 && runs_of(s->item[ST_B]) < 2;
	return json_pack(
	        "{so, so, so, ss, so, so, so, so, so, so, so, so, sb, s[oo]}", "name",
	        st_json_text(st_check_shown(s)), "metric", st_json_text(m->name), "unit",
	        st_json_text(m->unit), "change", st_finding_name(f->kind), "from",
	        st_json_real(f->from), "to", st_json_real(f->to), "relative",
	        st_json_real(f->relative), "low", st_json_real(f->rate.low), "high",
	        st_json_real(f->rate.high), "p", st_json_real(f->p), "q", st_json_real(f->q),
	        "cause", f->cause ? st_json_text(f->cause) : json_null(), "single", single,
	        "samples", sample_json(s->item[ST_A], single), sample_json(s->item[ST_B], single));
}

/* Changes come first, sorted by size. */
static int
by_finding_size(const void *a, const void *b)
{
	const struct st_finding *x = *(const struct st_finding *const *)a;
	const struct st_finding *y = *(const struct st_finding *const *)b;
	const bool changed_x = st_finding_direction(x->kind) != 0;
	const bool changed_y = st_finding_direction(y->kind) != 0;
	const double size_x = isfinite(x->relative) ? fabs(x->relative) : 0;
	const double size_y = isfinite(y->relative) ? fabs(y->relative) : 0;
	if (changed_x != changed_y)
		return changed_x ? -1 : 1;
	if (size_x > size_y || size_x < size_y)
		return size_x > size_y ? -1 : 1;
	return (x > y) - (x < y);
}

/* NULL: memory is exhausted. */
static json_t *
findings_json(const struct st_check_result *r)
{
	json_t *array = json_array();
	const size_t n = r->findings.n, most = n < MOST_FINDINGS ? n : MOST_FINDINGS;
	const struct st_finding **sorted = malloc((n + 1) * sizeof *sorted);
	for (size_t i = 0; i < n && sorted; i++)
		sorted[i] = &r->findings.v[i];
	if (n && sorted)
		qsort(sorted, n, sizeof *sorted, by_finding_size);
	for (size_t i = 0; i < most && sorted; i++)
		json_array_append_new(array, page_finding_json(r, sorted[i]));
	free(sorted);
	if (json_array_size(array) == most)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *
page_check_json(const struct st_report_measured *all, size_t a, size_t b,
                const struct st_check_how *how, const struct st_check_result *r)
{
	const size_t n = r->findings.n, most = MOST_FINDINGS;
	return json_pack("{sI, sI, so, sI, sI, sf, sf}", "a", (json_int_t)all->results.v[a], "b",
	                 (json_int_t)all->results.v[b], "findings", findings_json(r), "left_out",
	                 (json_int_t)(n > most ? n - most : 0), "runs_needed",
	                 (json_int_t)r->runs_needed, "smallest", how->distribution.smallest,
	                 "alpha", how->distribution.alpha);
}

static st_status
compare_measured(json_t *checks, const struct st_report_measured *all, size_t a, size_t b,
                 struct st_error *e)
{
	const struct st_check_how how = {.distribution = ST_DISTRIBUTION_USUAL};
	struct st_profile *const profiles[ST_SIDES] = {all->profiles.v[a], all->profiles.v[b]};
	struct st_check_side sides[ST_SIDES] = {0};
	struct st_check_subjects subjects = {0};
	struct st_check_result result = {0};
	st_status status = ST_OK;
	for (int i = 0; i < ST_SIDES && !status; i++)
		if (st_check_add_profile(&sides[i], profiles[i], NULL) ||
		    st_check_end_runs(&sides[i]))
			status = ST_FAILED;
	if (!status)
		status = st_check_match(&subjects, sides, NULL);
	if (status)
		st_cause(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	else
		status = st_check_run(&result, &subjects, ST_CHECK_distribution, &how, e);
	if (!status && json_array_append_new(checks, page_check_json(all, a, b, &how, &result)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	st_check_result_free(&result);
	st_check_subjects_free(&subjects);
	for (int i = 0; i < ST_SIDES; i++)
		st_check_side_free(&sides[i]);
	return status;
}

st_status
st_report_add_checks(json_t *page, const struct st_report_measured *all, struct st_error *e)
{
	st_status status = ST_OK;
	if (all->profiles.n < 2)
		return ST_OK;
	json_t *checks = json_array();
	for (size_t a = 0; a < all->profiles.n; a++)
		for (size_t b = a + 1; b < all->profiles.n && !status; b++)
			status = compare_measured(checks, all, a, b, e);
	if (json_object_set_new(page, "checks", checks) && !status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	if (!status && all->left_out)
		fprintf(stderr,
		        "strobe: the page compares the measurements of the first %d results, and "
		        "leaves out %s; strobe check compares any two\n",
		        MOST_PROFILES, ST_NUMBER(all->left_out));
	return status;
}
