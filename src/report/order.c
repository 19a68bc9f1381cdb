/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"

/* Descending in what was asked for, then in what makes the order the same every time. */
static int
order_descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

/* Whether hot means many samples; too few say less than the instructions. */
static bool
is_by_samples(const struct st_report *r)
{
	return r->sort == ST_SORT_TIME && st_profile_share_is_time(r->profile);
}

static int
order_function_order(const void *a, const void *b, void *arg)
{
	const struct st_report *r = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct st_profile_function *x = &r->profile->functions.v[i];
	const struct st_profile_function *y = &r->profile->functions.v[j];
	int order = 0;
	if (is_by_samples(r))
		order = order_descending(x->samples, y->samples);
	else if (r->sort == ST_SORT_TOTAL)
		order = order_descending(x->samples_total, y->samples_total);
	else if (r->sort == ST_SORT_WAITING)
		order = order_descending(x->self_waiting_ns, y->self_waiting_ns);
	else if (r->sort == ST_SORT_TOTAL_WAITING)
		order = order_descending(x->waiting_ns, y->waiting_ns);
	else if (r->sort == ST_SORT_CALLS)
		order = order_descending(x->calls, y->calls);
	else if (r->sort == ST_SORT_NAME)
		order = strcmp(x->name, y->name);
	if (!order && r->sort == ST_SORT_WAITING)
		order = order_descending(x->waiting_ns, y->waiting_ns);
	if (!order)
		order = order_descending(x->instructions, y->instructions);
	return order ? order : (i > j) - (i < j);
}

static int
line_order(const void *a, const void *b, void *arg)
{
	const struct st_report *r = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct st_profile_line *x = &r->profile->lines.v[i], *y = &r->profile->lines.v[j];
	int order = is_by_samples(r) ? order_descending(x->samples, y->samples) : 0;
	if (!order)
		order = order_descending(x->instructions, y->instructions);
	return order ? order : (i > j) - (i < j);
}

struct order_blocks {
	const struct st_profile_block *v;
	bool by_samples;
};

static int
order_block_order(const void *a, const void *b, void *arg)
{
	const struct order_blocks *o = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct st_profile_block *x = &o->v[i], *y = &o->v[j];
	int order = o->by_samples ? order_descending(x->samples, y->samples) : 0;
	if (!order)
		order = order_descending(x->instructions, y->instructions);
	return order ? order : (i > j) - (i < j);
}

static uint32_t *
order_indices(size_t n, int (*compare)(const void *, const void *, void *), void *context)
{
	uint32_t *order = calloc(n ? n : 1, sizeof *order);
	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	if (order)
		qsort_r(order, n, sizeof *order, compare, context);
	return order;
}

uint32_t *
st_report_ordered(const struct st_report *r, size_t n,
                  int (*compare)(const void *, const void *, void *))
{
	return order_indices(n, compare, (void *)(uintptr_t)r);
}

uint32_t *
st_report_order(const struct st_report *r, size_t *n)
{
	*n = r->profile->functions.n;
	return st_report_ordered(r, *n, order_function_order);
}

uint32_t *
st_report_line_order(const struct st_report *r)
{
	return st_report_ordered(r, r->profile->lines.n, line_order);
}

uint32_t *
st_report_block_order(const struct st_report *r, const struct st_profile_block *v, size_t n)
{
	struct order_blocks blocks = {v, is_by_samples(r)};
	return order_indices(n, order_block_order, &blocks);
}

bool *
st_report_hottest_lines(const struct st_report *r)
{
	uint32_t *order = st_report_line_order(r);
	size_t n = r->profile->lines.n;
	size_t shown = r->top_parts && r->top_parts < n ? r->top_parts : n;
	bool *kept = order ? calloc(n ? n : 1, sizeof *kept) : NULL;
	for (size_t i = 0; kept && i < shown; i++)
		kept[order[i]] = true;
	free(order);
	return kept;
}

void
st_table_function(struct st_table *t, const struct st_profile *p, uint32_t function)
{
	const struct st_profile_function *f = &p->functions.v[function];
	const char *image = st_base_name(p->images.v[f->image].path);
	/* [anon], [vdso] bring their own brackets. */
	st_table_cell(t, image[0] == '[' ? "%s %s" : "%s [%s]", f->name, image);
}
