/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/texts.h"

enum { CLASS_BITS = 5, CLASSES = 1 << CLASS_BITS };

void
st_trace_free(struct st_trace *t)
{
	for (size_t i = 0; i < t->functions.n; i++)
		free(t->functions.v[i].classes.v);
	free(t->functions.v);
	free(t->pairs.v);
	free(t->lanes.v);
	free(t->refused.v);
	free(t->steps.v);
	st_trace_texts_free(t->texts);
	*t = (struct st_trace){0};
}

/* ---- durations ---- */

uint64_t
st_trace_class_of(uint64_t ns)
{
	if (ns < CLASSES)
		return ns;
	unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - CLASS_BITS;
	return ns >> shift << shift;
}

st_status
st_trace_count(struct st_trace_function *f, uint64_t ns)
{
	const uint64_t from = st_trace_class_of(ns);
	size_t low = 0, high = f->classes.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (f->classes.v[mid].from_ns < from)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == f->classes.n || f->classes.v[low].from_ns != from) {
		if (!ST_PUSH(&f->classes))
			return ST_FAILED;
		memmove(&f->classes.v[low + 1], &f->classes.v[low],
		        (f->classes.n - 1 - low) * sizeof *f->classes.v);
		f->classes.v[low] = (struct st_trace_class){.from_ns = from};
	}
	f->classes.v[low].calls++;
	return ST_OK;
}

/* The middle of a class: half of 1/64 to 1/32 above its beginning. */
static uint64_t
middle(uint64_t from)
{
	return from + from / 86;
}

bool
st_trace_quantile(const struct st_trace_function *f, double q, uint64_t *ns)
{
	uint64_t all = 0, sum = 0;
	for (size_t i = 0; i < f->classes.n; i++)
		all += f->classes.v[i].calls;
	if (!all || all != f->calls - f->counted)
		return false;
	const double rank = ceil(q * (double)all);
	for (size_t i = 0; i < f->classes.n; i++) {
		sum += f->classes.v[i].calls;
		if ((double)sum < rank)
			continue;
		uint64_t value = middle(f->classes.v[i].from_ns);
		value = value < f->min_ns ? f->min_ns : value;
		*ns = value > f->max_ns ? f->max_ns : value;
		return true;
	}
	return false;
}

bool
st_trace_is_resolved(const struct st_trace *t, const struct st_trace_function *f)
{
	const double least = (double)(t->probe.least_ps + t->probe.error_ps);
	return !f->calls || (double)f->inclusive_ns * 1000 >= least * (double)f->calls;
}

/* ---- the budget ---- */

static bool
is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool
st_trace_is_step_of(const struct st_trace_step *step, const struct st_trace_function *f)
{
	return step->offset == f->offset && is_same_text(step->image, f->image) &&
	       is_same_text(step->name, f->name);
}

bool
st_trace_was_dropped(const struct st_trace *t, const struct st_trace_function *f)
{
	for (size_t i = 0; i < t->steps.n; i++)
		if (!t->steps.v[i].every && st_trace_is_step_of(&t->steps.v[i], f))
			return true;
	return false;
}

double
st_trace_cost_share(const struct st_trace_budget *b)
{
	return b->cpu_ns > b->cost_ns ? (double)b->cost_ns / (double)(b->cpu_ns - b->cost_ns) : 0;
}

/* ---- order ---- */

static int
step_order(const void *a, const void *b)
{
	const struct st_trace_step *x = a, *y = b;
	const int images = x->image && y->image ? strcmp(x->image, y->image)
	                                        : (x->image != NULL) - (y->image != NULL);
	if (images)
		return images;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

static int
class_order(const void *a, const void *b)
{
	const struct st_trace_class *x = a, *y = b;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static int
function_order(const void *a, const void *b, void *arg)
{
	const struct st_trace *t = arg;
	const struct st_trace_function *x = &t->functions.v[*(const uint32_t *)a],
	                               *y = &t->functions.v[*(const uint32_t *)b];
	if (x->exclusive_ns != y->exclusive_ns)
		return x->exclusive_ns > y->exclusive_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	int names = strcmp(x->name, y->name);
	if (names)
		return names;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int
pair_order(const void *a, const void *b)
{
	const struct st_trace_pair *x = a, *y = b;
	if (x->outermost_ns != y->outermost_ns)
		return x->outermost_ns > y->outermost_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* order[i]: which function becomes the i-th; at[f]: where function f goes. */
static void
reorder(struct st_trace *t, const uint32_t *order, uint32_t *at, struct st_trace_function *sorted)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		sorted[i] = t->functions.v[order[i]];
		at[order[i]] = (uint32_t)i;
	}
	memcpy(t->functions.v, sorted, t->functions.n * sizeof *sorted);
	for (size_t i = 0; i < t->pairs.n; i++) {
		struct st_trace_pair *pair = &t->pairs.v[i];
		pair->callee = at[pair->callee];
		if (pair->caller != ST_TRACE_NOBODY)
			pair->caller = at[pair->caller];
	}
}

st_status
st_trace_sort(struct st_trace *t)
{
	const size_t n = t->functions.n;
	uint32_t *order = calloc(n + 1, sizeof *order), *at = calloc(n + 1, sizeof *at);
	struct st_trace_function *sorted = calloc(n + 1, sizeof *sorted);
	st_status status = order && at && sorted ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && order; i++)
		order[i] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		if (t->functions.v[i].classes.n)
			qsort(t->functions.v[i].classes.v, t->functions.v[i].classes.n,
			      sizeof *t->functions.v[i].classes.v, class_order);
	if (!status && n) {
		qsort_r(order, n, sizeof *order, function_order, t);
		reorder(t, order, at, sorted);
	}
	if (t->steps.n)
		qsort(t->steps.v, t->steps.n, sizeof *t->steps.v, step_order);
	if (t->pairs.n)
		qsort(t->pairs.v, t->pairs.n, sizeof *t->pairs.v, pair_order);
	free(order);
	free(at);
	free(sorted);
	return status;
}
