/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of differences, and which contexts differ most. */
#include "report/contexts_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics ---- */

static const struct {
	const char *name;
	size_t field; /* of a weight */
	bool total;
} metrics[] = {
#define M(id, word, field, total, title) {word, offsetof(struct st_weight, field), total},
        ST_DIFF_METRICS(M)
#undef M
};

const char *
st_diff_metric_name(enum st_diff_metric metric)
{
	return metrics[metric].name;
}

enum st_diff_metric
st_diff_metric_named(const char *name)
{
	unsigned i = 0;
	while (i < ST_DIFF_METRIC_COUNT && strcmp(metrics[i].name, name) != 0)
		i++;
	return (enum st_diff_metric)i;
}

enum st_diff_metric
st_diff_metric_usual(const struct st_contexts *a, const struct st_contexts *b)
{
	return a->timed && b->timed                           ? ST_DIFF_TIME
	       : a->with_instructions && b->with_instructions ? ST_DIFF_INSTRUCTIONS
	                                                      : ST_DIFF_COUNT;
}

st_status
st_diff_metric_check(const struct st_diff_report *r, struct st_error *e)
{
	size_t field = metrics[r->metric].field;
	if (r->comparison->kccf && metrics[r->metric].total)
		return st_fail(e, ST_EXIT_USAGE,
		               "with --kccf there are no totals: leave it out, or take --metric %s",
		               strchr(metrics[r->metric].name, '-') + 1);
	for (int side = 0; side < ST_SIDES; side++) {
		const struct st_contexts *c = r->comparison->sides[side];
		bool time = field == offsetof(struct st_weight, self_ns) && !c->timed;
		if (time ||
		    (field == offsetof(struct st_weight, instructions) && !c->with_instructions))
			return st_fail(e, ST_EXIT_USAGE,
			               "%s has no %s: measure both with --%s, or take --metric "
			               "count",
			               r->names[side], time ? "time" : "instructions",
			               time ? "time" : "instructions");
	}
	return 0;
}

static uint64_t
metric_of(const struct st_weight *w, enum st_diff_metric metric)
{
	uint64_t value;
	memcpy(&value, (const char *)w + metrics[metric].field, sizeof value);
	return value;
}

uint64_t
st_diff_value(const struct st_diff_report *r, const struct st_diff_row *row, int side)
{
	const struct st_compared *n = &row->trees->nodes.v[row->node];
	bool total = metrics[r->metric].total;
	return metric_of(total ? &n->total[side] : &n->own[side], r->metric);
}

double
st_diff_share(const struct st_diff_report *r, const struct st_diff_rows *rows,
              const struct st_diff_row *row, int side)
{
	uint64_t whole = rows->whole[side];
	return whole ? (double)st_diff_value(r, row, side) / (double)whole : 0;
}

const char *
st_diff_state(const struct st_diff_row *row)
{
	const struct st_compared *n = &row->trees->nodes.v[row->node];
	return !n->there[ST_A] ? "appeared" : !n->there[ST_B] ? "vanished" : "changed";
}

/* ---- the list ---- */

static int
compare_rows(const void *a, const void *b)
{
	const struct st_diff_row *x = a, *y = b;
	double of_x = fabs(x->change), of_y = fabs(y->change);
	if (of_x > of_y || of_x < of_y)
		return of_x > of_y ? -1 : 1;
	if (x->trees != y->trees)
		return x->trees < y->trees ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void
contexts_diff_add_row(const struct st_diff_report *r, struct st_diff_rows *rows,
                      struct st_diff_row *row)
{
	const struct st_compared *n = &row->trees->nodes.v[row->node];
	uint64_t a = st_diff_value(r, row, ST_A), b = st_diff_value(r, row, ST_B);
	row->change = b >= a ? (double)(b - a) : -(double)(a - b);
	if (r->shares)
		row->change = st_diff_share(r, rows, row, ST_B) - st_diff_share(r, rows, row, ST_A);
	if (!n->there[ST_A])
		rows->appeared++;
	else if (!n->there[ST_B])
		rows->vanished++;
	else if (a == b)
		rows->same++;
	if (fabs(row->change) > 0)
		rows->v[rows->n++] = *row;
}

st_status
st_diff_list(const struct st_diff_report *r, struct st_diff_rows *rows, struct st_error *e)
{
	const struct st_comparison *c = r->comparison;
	size_t n = 0;
	for (size_t i = 0; i < c->trees.n; i++)
		n += c->trees.v[i].forest.n;
	*rows = (struct st_diff_rows){.v = malloc((n + 1) * sizeof *rows->v)};
	if (!rows->v)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the contexts");
	for (int side = 0; side < ST_SIDES; side++)
		rows->whole[side] = metric_of(&c->whole[side], r->metric);
	for (size_t i = 0; i < c->trees.n; i++)
		for (uint32_t k = 0; k < c->trees.v[i].forest.n; k++) {
			struct st_diff_row row = {.trees = &c->trees.v[i], .node = k};
			contexts_diff_add_row(r, rows, &row);
		}
	qsort(rows->v, rows->n, sizeof *rows->v, compare_rows);
	return 0;
}
