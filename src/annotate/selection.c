/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selects records that show a law which the other records hide: the least y of each value of a
 * feature, because disturbances only add to it; or the largest cluster of y of each value, if the
 * records of other modes are mixed in.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/scopes.h"
#include "annotate/undisturbed.h"
#include "stats/robust.h"

/* LARGEST_LEAST: a group with fewer records keeps all of them. VALUES_BEYOND: a feature must have
 * this number of values more than the formula has terms. */
enum { LARGEST_LEAST = 8, VALUES_BEYOND = 3 };

struct ann_by_feature {
	double x, y;
	uint32_t row;
};

static int
ann_compare_by_feature(const void *a, const void *b)
{
	const struct ann_by_feature *p = a, *q = b;
	if (p->x != q->x)
		return p->x > q->x ? 1 : -1;
	if (p->y != q->y)
		return p->y > q->y ? 1 : -1;
	return (p->row > q->row) - (p->row < q->row);
}

static int
ann_compare_y(const void *a, const void *b)
{
	const struct ann_by_feature *p = a, *q = b;
	if (p->y != q->y)
		return p->y > q->y ? 1 : -1;
	return (p->row > q->row) - (p->row < q->row);
}

/* Returns the end of the group that begins at `from`: the records of one value, or a bin of about
 * sqrt(n) records if values do not repeat. */
static size_t
ann_group_end(const struct ann_by_feature *v, size_t n, size_t from, size_t bin)
{
	size_t to = from + 1;
	while (to < n && (v[to].x == v[from].x || to < from + bin))
		to++;
	/* Equal values stay together. */
	while (to < n && v[to].x == v[to - 1].x)
		to++;
	return to;
}

/* Returns the least mean gap between neighbours in any quarter of a group's sorted values. */
static double
ann_least_gap(const struct ann_by_feature *v, size_t n)
{
	const size_t quarter = n / 4 > 2 ? n / 4 : 2;
	double least = INFINITY;
	for (size_t i = 0; i + quarter <= n; i++)
		least = fmin(least, v[i + quarter - 1].y - v[i].y);
	return least / (double)(quarter - 1);
}

/* Takes the rows of the largest cluster of a group, which it sorts by y. Gaps between clusters are
 * much wider than those between the closest values. A density estimate would be too smooth for a
 * group's few values. */
static void
ann_take_largest(struct ann_by_feature *v, size_t n, uint32_t *rows, size_t *taken)
{
	enum { WIDE = 30 };
	size_t from = 0, to = n;
	qsort(v, n, sizeof *v, ann_compare_y);
	if (n >= LARGEST_LEAST) {
		const double gap = WIDE * ann_least_gap(v, n);
		to = 0;
		for (size_t begin = 0, end; begin < n; begin = end) {
			for (end = begin + 1; end < n && v[end].y - v[end - 1].y <= gap;)
				end++;
			if (end - begin > to - from) {
				from = begin;
				to = end;
			}
		}
	}
	for (size_t i = from; i < to; i++)
		rows[(*taken)++] = v[i].row;
}

/* Takes the rows that are selected by this feature; rows: space for all. */
static st_status
ann_select(const struct st_ann_problem *p, struct st_ann_rows all, uint16_t feature,
           enum st_ann_selection selection, uint32_t *rows, size_t *taken)
{
	const double *x = p->records->features.v[feature].v;
	struct ann_by_feature *v = malloc(all.n * sizeof *v);
	st_status status = v ? ST_OK : ST_FAILED;
	size_t different = 1, bin = 1;
	*taken = 0;
	for (size_t i = 0; i < all.n && !status; i++)
		v[i] = (struct ann_by_feature){x[all.v[i]], p->y[all.v[i]], all.v[i]};
	if (!status)
		qsort(v, all.n, sizeof *v, ann_compare_by_feature);
	for (size_t i = 1; i < all.n && !status; i++)
		different += v[i].x != v[i - 1].x;
	/* Finding a group's largest cluster needs more records than finding its least one. */
	if (different > all.n / (selection == ST_ANN_DOMINANT ? LARGEST_LEAST : 4))
		bin = (size_t)sqrt((double)all.n);
	for (size_t from = 0, to; from < all.n && !status; from = to) {
		to = ann_group_end(v, all.n, from, bin);
		if (selection == ST_ANN_DOMINANT) {
			ann_take_largest(v + from, to - from, rows, taken);
			continue;
		}
		size_t least = from;
		for (size_t i = from; i < to; i++)
			if (v[i].y < v[least].y)
				least = i;
		rows[(*taken)++] = v[least].row;
	}
	free(v);
	return status;
}

static int
ann_compare_rows(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;
	return (*p > *q) - (*p < *q);
}

/* Returns in *far whether most of the records that were not selected are far from the model, as
 * those of another mode are, unlike those in the tail of the same mode. Sorts `rows`. */
static st_status
ann_others_are_far(const struct st_ann_problem *p, struct st_ann_rows all, uint32_t *rows,
                   size_t taken, const struct st_ann_fit *fit, bool *far)
{
	enum { FAR = 6 };
	double *distances = calloc(all.n - taken + 1, sizeof *distances);
	size_t n = 0;
	if (!distances)
		return ST_FAILED;
	qsort(rows, taken, sizeof *rows, ann_compare_rows);
	for (size_t i = 0; i < all.n; i++)
		if (!bsearch(&all.v[i], rows, taken, sizeof *rows, ann_compare_rows))
			distances[n++] = fabs(p->y[all.v[i]] - st_ann_fit_at(p, fit, all.v[i])) /
			                 fmax(st_ann_fit_sd_at(p, fit, all.v[i]), 1e-300);
	*far = n && st_median(distances, n) > FAR;
	free(distances);
	return ST_OK;
}

/* In a few groups another mode may be the largest. Their records, which are far from the model of
 * the others, are left out, and the model is fitted again. */
static st_status
ann_leave_out_far(const struct st_ann_problem *p, uint32_t *rows, size_t *taken,
                  struct st_ann_formula *formula)
{
	enum { FAR = 6 };
	double *distances = malloc((*taken + 1) * sizeof *distances);
	size_t kept = 0;
	if (!distances)
		return ST_FAILED;
	for (size_t i = 0; i < *taken; i++)
		distances[i] = fabs(p->y[rows[i]] - st_ann_fit_at(p, &formula->best, rows[i]));
	const double far = FAR * 1.4826 * st_median(distances, *taken);
	for (size_t i = 0; i < *taken; i++)
		if (distances[i] <= far)
			rows[kept++] = rows[i];
	free(distances);
	if (kept == *taken || kept < 2 * ST_ANN_RECORDS_LEAST)
		return ST_OK;
	*taken = kept;
	return st_ann_formulate(p, (struct st_ann_rows){rows, kept}, formula);
}

/* A dominant mode has at least half of the records. */
static bool
ann_is_enough(size_t taken, size_t all, enum st_ann_selection selection)
{
	return taken >= 2 * ST_ANN_RECORDS_LEAST && taken < all &&
	       (selection == ST_ANN_LOWER || 2 * taken >= all);
}

/* Returns whether the feature has too few values in the rows to confirm the fit: a curve through as
 * many clusters as it has coefficients, chosen from those of each value, is good by chance. */
static bool
ann_has_few_values(const struct st_ann_problem *p, struct st_ann_rows rows, uint16_t feature,
                   const struct st_ann_fit *fit)
{
	const double *x = p->records->features.v[feature].v;
	const size_t least = fit->n_terms + VALUES_BEYOND;
	double different[ST_LS_MOST + VALUES_BEYOND];
	size_t n = 0;
	for (size_t i = 0; i < rows.n && n < least; i++) {
		size_t k = 0;
		while (k < n && different[k] != x[rows.v[i]])
			k++;
		if (k == n)
			different[n++] = x[rows.v[i]];
	}
	return n < least;
}

static st_status
ann_try_selection(const struct st_ann_problem *p, struct st_ann_rows all, uint16_t feature,
                  enum st_ann_selection selection, uint32_t *rows, struct st_ann_part *part,
                  bool *found)
{
	struct st_ann_problem own = *p;
	struct st_ann_formula formula;
	size_t taken;
	own.only = &feature;
	if (ann_select(p, all, feature, selection, rows, &taken))
		return ST_FAILED;
	struct st_ann_rows selected = {rows, taken};
	if (!ann_is_enough(taken, all.n, selection))
		return ST_OK;
	if (st_ann_formulate(&own, selected, &formula))
		return ST_FAILED;
	if (selection == ST_ANN_DOMINANT && ann_leave_out_far(&own, rows, &selected.n, &formula))
		return ST_FAILED;
	taken = selected.n;
	if (!ann_is_enough(taken, all.n, selection) ||
	    ann_has_few_values(p, selected, feature, &formula.best))
		return ST_OK;
	if (!formula.good || !formula.best.n_terms || (*found && formula.best.r2 <= part->fit.r2))
		return ST_OK;
	bool far = true;
	if (selection == ST_ANN_DOMINANT &&
	    ann_others_are_far(p, all, rows, taken, &formula.best, &far))
		return ST_FAILED;
	const double r2_cv = st_ann_cross_validate(&own, selected, &formula.best);
	if (!far || r2_cv < 0)
		return ST_OK;
	*found = true;
	*part = (struct st_ann_part){.weight = NAN,
	                             .fit = formula.best,
	                             .selection = selection,
	                             .dropped = 1 - (double)taken / (double)all.n,
	                             .r2_cv = r2_cv,
	                             .n = taken};
	return ST_OK;
}

bool
st_ann_only_grows(const char *unit)
{
	static const char *const units[] = {"ns", "us", "\302\265s", "ms", "s"};
	for (size_t k = 0; k < sizeof units / sizeof *units; k++)
		if (!strcmp(unit, units[k]))
			return true;
	return false;
}

/* Returns the unit of the metric of the problem. */
static const char *
ann_unit(const struct st_ann_problem *p)
{
	for (size_t i = 0; i < p->records->metrics.n; i++)
		if (p->records->metrics.v[i].v == p->y)
			return p->records->metrics.v[i].unit;
	return "";
}

st_status
st_ann_find_selection(const struct st_ann_problem *p, struct st_ann_rows all,
                      struct st_ann_part *part, bool *found)
{
	struct st_ann_usable u;
	uint32_t *rows = malloc(all.n * sizeof *rows);
	st_status status = st_ann_find_usable(p, all, &u) || !rows ? ST_FAILED : ST_OK;
	*found = false;
	/* The selection that keeps more of the records is tried first. */
	for (size_t i = 0; i < u.n && !status; i++)
		status = ann_try_selection(p, all, u.v[i], ST_ANN_DOMINANT, rows, part, found);
	for (size_t i = 0; i < u.n && !status && !*found && st_ann_only_grows(ann_unit(p)); i++)
		status = ann_try_selection(p, all, u.v[i], ST_ANN_LOWER, rows, part, found);
	st_ann_usable_free(&u);
	free(rows);
	return status;
}
