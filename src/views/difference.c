/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "base/text.h"
#include "check/distribution.h"
#include "report/measurements.h"
#include "stats/robust.h"

/* ---- matching of items ---- */

struct matched {
	struct st_difference *d;
	const struct st_profile *const *profiles;
	struct st_difference_items items[ST_SIDES];
	struct st_match match;
	struct st_match_image *images[ST_SIDES];
	struct st_match_function *functions[ST_SIDES];
	size_t n_images[ST_SIDES];
};

/* Returns the index of the image of an item. */
static uint32_t
matched_image(struct matched *m, int side, const struct st_difference_item *x)
{
	size_t i = m->n_images[side];
	if (!x->image)
		return ST_NO_IMAGE;
	/* From the end: functions of one image mostly follow each other. */
	while (i > 0 && strcmp(m->images[side][i - 1].path, x->image) != 0)
		i--;
	if (i)
		return (uint32_t)i - 1;
	m->images[side][m->n_images[side]] = (struct st_match_image){
	        x->image, x->build_id, st_profile_is_program(m->profiles[side], x->image)};
	return (uint32_t)m->n_images[side]++;
}

static st_status
match_items(struct matched *m)
{
	struct st_match_side sides[ST_SIDES];
	for (int side = 0; side < ST_SIDES; side++) {
		const struct st_difference_items *items = &m->items[side];
		m->images[side] = calloc(items->v.n + 1, sizeof **m->images);
		m->functions[side] = calloc(items->v.n + 1, sizeof **m->functions);
		if (!m->images[side] || !m->functions[side])
			return ST_FAILED;
		for (size_t i = 0; i < items->v.n; i++) {
			const struct st_difference_item *x = &items->v.v[i];
			m->functions[side][i] =
			        (struct st_match_function){.name = x->key,
			                                   .file = x->file,
			                                   .image = matched_image(m, side, x),
			                                   .offset = x->offset};
		}
		sides[side] = (struct st_match_side){m->images[side], m->n_images[side],
		                                     m->functions[side], items->v.n};
	}
	return st_match_make(&m->match, sides);
}

static void
matched_free(struct matched *m)
{
	for (int side = 0; side < ST_SIDES; side++) {
		st_difference_items_free(&m->items[side]);
		free(m->images[side]);
		free(m->functions[side]);
	}
	st_match_free(&m->match);
}

/* ---- rows ---- */

/* The items of both sides that are the same. */
struct pair {
	const struct st_difference_item *item[ST_SIDES]; /* the first one of the side */
	ST_VEC(double) values[ST_SIDES];
};

static st_status
pair_add(struct pair *p, int side, const struct st_difference_item *x)
{
	if (!p->item[side])
		p->item[side] = x;
	for (size_t i = 0; i < x->values.n; i++) {
		double *slot = ST_PUSH(&p->values[side]);
		if (!slot)
			return ST_FAILED;
		*slot = x->values.v[i];
	}
	return ST_OK;
}

static double
pair_value(const struct pair *p, int side, const struct st_difference_item *x)
{
	double all = 0, most = -INFINITY;
	if (!p->values[side].n)
		return NAN;
	for (size_t i = 0; i < p->values[side].n; i++) {
		all += p->values[side].v[i];
		most = fmax(most, p->values[side].v[i]);
	}
	return x->greatest ? most : x->sum ? all : st_median(p->values[side].v, p->values[side].n);
}

/* Sets the interval of the change, if the values determine one. */
static st_status
pair_interval(const struct pair *p, const struct st_difference_item *x,
              struct st_difference_row *row)
{
	const size_t n_a = p->values[ST_A].n, n_b = p->values[ST_B].n;
	struct st_interval shift;
	row->low = row->high = NAN;
	row->exact = x->noise == ST_METRIC_EXACT;
	if (row->exact) {
		row->low = row->high = row->change;
	} else if (x->noise == ST_METRIC_SAMPLED) {
		/* The standard error of a number of samples is its square root. */
		const double a = isnan(row->value[ST_A]) ? 0 : row->value[ST_A],
		             b = isnan(row->value[ST_B]) ? 0 : row->value[ST_B];
		const double half = 1.959964 * sqrt(a + b);
		row->low = row->change - half;
		row->high = row->change + half;
	} else if (!x->sum && !x->greatest && n_a && n_b &&
	           st_distribution_least_p(n_a, n_b) <= 0.05) {
		if (st_shift(p->values[ST_A].v, n_a, p->values[ST_B].v, n_b, 0.95, &shift))
			return ST_FAILED;
		row->low = shift.low;
		row->high = shift.high;
	}
	return ST_OK;
}

static st_status
pair_row(struct st_difference *d, const struct pair *p)
{
	const struct st_difference_item *x = p->item[ST_B] ? p->item[ST_B] : p->item[ST_A];
	struct st_difference_row row = {.value = {pair_value(p, ST_A, x), pair_value(p, ST_B, x)},
	                                .n = {p->values[ST_A].n, p->values[ST_B].n},
	                                .share = NAN};
	const double a = row.n[ST_A] ? row.value[ST_A] : 0, b = row.n[ST_B] ? row.value[ST_B] : 0;
	row.change = b - a;
	d->whole[ST_A] += x->additive ? a : NAN;
	d->whole[ST_B] += x->additive ? b : NAN;
	/* Equal medians may have an interval. Equal values may be different shares: rows_to_shares
	 * leaves out equal ones. */
	const bool median = x->noise == ST_METRIC_NOISY && !x->sum && !x->greatest;
	if (!d->shares && row.n[ST_A] && row.n[ST_B] && row.change == 0 &&
	    !(median && (row.n[ST_A] > 1 || row.n[ST_B] > 1))) {
		d->same++;
		return ST_OK;
	}
	if (!row.n[ST_A] && !row.n[ST_B])
		return ST_OK;
	if (pair_interval(p, x, &row))
		return ST_FAILED;
	struct st_difference_row *slot = ST_PUSH(&d->rows);
	if (!slot)
		return ST_FAILED;
	*slot = row;
	slot->location = strdup(x->name);
	slot->image = x->image ? strdup(st_base_name(x->image)) : NULL;
	slot->metric = strdup(x->metric);
	slot->unit = strdup(x->unit);
	return slot->location && slot->metric && slot->unit && (!x->image || slot->image)
	               ? ST_OK
	               : ST_FAILED;
}

static st_status
make_rows(struct matched *m)
{
	struct pair *pairs = calloc(m->match.n_functions + 1, sizeof *pairs);
	st_status status = pairs ? ST_OK : ST_FAILED;
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < m->items[side].v.n && !status; i++)
			status = pair_add(&pairs[m->match.function[side][i]], side,
			                  &m->items[side].v.v[i]);
	for (size_t i = 0; i < m->match.n_functions && !status; i++)
		if (pairs[i].item[ST_A] || pairs[i].item[ST_B])
			status = pair_row(m->d, &pairs[i]);
	for (size_t i = 0; pairs && i < m->match.n_functions; i++)
		for (int side = 0; side < ST_SIDES; side++)
			free(pairs[i].values[side].v);
	free(pairs);
	return status;
}

/* ---- shares and the order ---- */

static int
by_change(const void *a, const void *b)
{
	const struct st_difference_row *x = a, *y = b;
	const double of_x = fabs(x->change), of_y = fabs(y->change);
	if (of_x > of_y || of_x < of_y)
		return of_x > of_y ? -1 : 1;
	const int names = strcmp(x->location, y->location);
	return names ? names : strcmp(x->metric, y->metric);
}

static void
difference_row_free(struct st_difference_row *row)
{
	free(row->location);
	free(row->image);
	free(row->metric);
	free(row->unit);
}

static void
rows_to_shares(struct st_difference *d)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->rows.n; i++) {
		struct st_difference_row *row = &d->rows.v[i];
		for (int side = 0; side < ST_SIDES; side++)
			row->value[side] /= d->whole[side];
		row->change = (row->n[ST_B] ? row->value[ST_B] : 0) -
		              (row->n[ST_A] ? row->value[ST_A] : 0);
		row->low = row->high = row->exact ? row->change : NAN;
		if (row->change == 0 && row->n[ST_A] && row->n[ST_B]) {
			d->same++;
			difference_row_free(row);
		} else {
			d->rows.v[kept++] = *row;
		}
	}
	d->rows.n = kept;
}

static st_status
difference_finish(struct st_difference *d, const struct st_difference_choice *c, struct st_error *e)
{
	if (c->shares && !(d->whole[ST_A] > 0 && d->whole[ST_B] > 0))
		return st_fail(e, ST_EXIT_USAGE,
		               "the values of %s and %s do not add up to a total and have no "
		               "shares: leave out --shares",
		               c->names[ST_A], c->names[ST_B]);
	for (size_t i = 0; i < d->rows.n; i++)
		if (d->whole[ST_A] > 0)
			d->rows.v[i].share = d->rows.v[i].change / d->whole[ST_A];
	if (c->shares)
		rows_to_shares(d);
	st_order(d->rows.v, d->rows.n, sizeof *d->rows.v, by_change);
	return ST_OK;
}

static void
about_whole(const struct st_difference *d, const char *unit, FILE *out)
{
	char text[2 * ST_NUMBER_SIZE];
	for (int side = 0; side < ST_SIDES; side++)
		fprintf(out, "%s%s", side ? " and " : "; in all ",
		        *unit || d->whole[side] >= 1e18
		                ? st_measured_text(text, unit, d->whole[side])
		                : st_number(text, (uint64_t)d->whole[side]));
}

/* Returns "instructions, B less A; in all 1,200 and 1,300; ...". malloc'ed; NULL: no memory. */
static char *
about_difference(const struct st_difference *d, const struct st_difference_metric *m,
                 enum st_difference_by by, const char *unit)
{
	static const char *const of[] = {"", "", " of lines", " of contexts"};
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	fprintf(out, "%s%s, B less A", m->metric ? m->metric : "all metrics", of[by]);
	if (isfinite(d->whole[ST_A]) && isfinite(d->whole[ST_B]))
		about_whole(d, unit, out);
	if (d->same)
		fprintf(out, "; %s not listed",
		        ST_COUNT(d->same, "equal row is", "equal rows are"));
	if (*m->others)
		fprintf(out, "; other metrics (--metric): %s", m->others + 2);
	return st_text_end(&built);
}

/* Collects the items of both sides, and the metric that is compared. */
static st_status
collect_items(struct st_difference_items items[ST_SIDES], struct st_difference_metric *chosen,
              const struct st_profile *const both[ST_SIDES], const struct st_difference_choice *c,
              struct st_error *e)
{
	if (st_difference_has_places(both, c))
		return st_difference_collect_places(items, chosen, both, c, e);
	st_status status = st_difference_choose(chosen, both, c, e);
	for (int side = 0; side < ST_SIDES && !status; side++)
		status = st_difference_collect(&items[side], both[side], chosen->source,
		                               chosen->table, chosen->metric, e);
	return status;
}

st_status
st_difference_make(struct st_difference *d, const struct st_profile *a, const struct st_profile *b,
                   const struct st_difference_choice *choice, struct st_error *e)
{
	const struct st_profile *const both[ST_SIDES] = {a, b};
	struct st_difference_metric chosen = {0};
	struct matched m = {.d = d, .profiles = both};
	*d = (struct st_difference){.shares = choice->shares};
	st_status status = collect_items(m.items, &chosen, both, choice, e);
	if (!status && (match_items(&m) || make_rows(&m)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
	if (!status) {
		const char *unit = m.items[ST_A].v.n ? m.items[ST_A].v.v[0].unit : "";
		status = difference_finish(d, choice, e);
		d->about = status ? NULL : about_difference(d, &chosen, choice->by, unit);
		if (!status && !d->about)
			status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
	}
	matched_free(&m);
	st_difference_metric_free(&chosen);
	return status;
}

void
st_difference_free(struct st_difference *d)
{
	for (size_t i = 0; i < d->rows.n; i++)
		difference_row_free(&d->rows.v[i]);
	free(d->rows.v);
	free(d->about);
	*d = (struct st_difference){0};
}
