/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/functiontime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "stats/betting.h"
#include "stats/ranks.h"

static st_status
functiontime_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the times of functions");
}

static double
functiontime_whole(const struct st_gate_timed_run *run)
{
	double sum = 0;
	for (size_t i = 0; i < run->v.n; i++)
		sum += run->v.v[i].ns;
	return sum;
}

static int
compare_timed(const void *a, const void *b)
{
	const struct st_gate_timed *x = a, *y = b;
	const int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->image, y->image);
}

/* Makes one entry of all entries of a function, such as those of its threads, and sorts them. */
static void
functiontime_merge(struct st_gate_timed_run *run)
{
	size_t n = 0;
	st_order(run->v.v, run->v.n, sizeof *run->v.v, compare_timed);
	for (size_t i = 0; i < run->v.n; i++)
		if (n && !compare_timed(&run->v.v[n - 1], &run->v.v[i]))
			run->v.v[n - 1].ns += run->v.v[i].ns;
		else
			run->v.v[n++] = run->v.v[i];
	run->v.n = n;
}

/* The time of a function in a merged run, which is not empty; 0: the run did not execute it. */
static double
functiontime_of(const struct st_gate_timed_run *run, const char *name, const char *image)
{
	const struct st_gate_timed key = {.name = name, .image = image};
	const struct st_gate_timed *found =
	        bsearch(&key, run->v.v, run->v.n, sizeof key, compare_timed);
	return found ? found->ns : 0;
}

static bool
functiontime_is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static st_status
functiontime_choose_one(struct st_gate_function_times *t, const struct st_gate_timed *f,
                        double share)
{
	struct st_gate_function_time *slot = ST_PUSH(&t->v);
	if (!slot)
		return ST_FAILED;
	slot->name = strdup(f->name);
	slot->image = strdup(f->image);
	slot->share = share;
	slot->time.verdict = ST_GATE_INCONCLUSIVE;
	return slot->name && slot->image ? ST_OK : ST_FAILED;
}

/* Functions that both runs executed; each condition is the same with the sides exchanged. */
static st_status
functiontime_choose(struct st_gate_function_times *t, const struct st_gate_timed_run *runs,
                    const double *whole, const char *const *changed, size_t n_changed)
{
	const double all = whole[ST_GATE_BASE] + whole[ST_GATE_TARGET];
	t->whole = whole[ST_GATE_BASE];
	for (size_t i = 0; i < runs[ST_GATE_BASE].v.n; i++) {
		const struct st_gate_timed *f = &runs[ST_GATE_BASE].v.v[i];
		const double target = functiontime_of(&runs[ST_GATE_TARGET], f->name, f->image),
		             share = (f->ns + target) / all;
		if (f->ns > 0 && target > 0 &&
		    (share >= ST_GATE_FUNCTION_SHARE ||
		     functiontime_is_among(f->name, changed, n_changed)) &&
		    functiontime_choose_one(t, f, share))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Adds the values of a pair; a pair in which one run did not execute the function has none. */
static st_status
functiontime_add_values(struct st_gate_function_time *f, const struct st_gate_timed_run *runs,
                        const double *whole)
{
	double ns[ST_GATE_SIDES], rest[ST_GATE_SIDES];
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		ns[side] = functiontime_of(&runs[side], f->name, f->image);
		rest[side] = whole[side] - ns[side];
	}
	if (!(ns[ST_GATE_BASE] > 0) || !(ns[ST_GATE_TARGET] > 0))
		return ST_OK;
	double *ratio = ST_PUSH(&f->time.ratios), *base = ST_PUSH(&f->ns[ST_GATE_BASE]),
	       *target = ST_PUSH(&f->ns[ST_GATE_TARGET]);
	if (!ratio || !base || !target)
		return ST_FAILED;
	*ratio = log(ns[ST_GATE_TARGET] / ns[ST_GATE_BASE]);
	*base = ns[ST_GATE_BASE];
	*target = ns[ST_GATE_TARGET];
	if (!(rest[ST_GATE_BASE] > 0) || !(rest[ST_GATE_TARGET] > 0))
		return ST_OK;
	double *others = ST_PUSH(&f->others);
	if (others)
		*others = log(rest[ST_GATE_TARGET] / rest[ST_GATE_BASE]);
	return others ? ST_OK : ST_FAILED;
}

st_status
st_gate_function_times_add(struct st_gate_function_times *t,
                           struct st_gate_timed_run runs[ST_GATE_SIDES], const char *const *changed,
                           size_t n_changed, struct st_error *e)
{
	double whole[ST_GATE_SIDES];
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		functiontime_merge(&runs[side]);
		whole[side] = functiontime_whole(&runs[side]);
		if (!(whole[side] > 0))
			return st_fail(e, ST_EXIT_FAILED,
			               "the gate measured no time of a function of the %s: strobe "
			               "trace says which functions it can trace, and --functions 0 "
			               "measures the program alone",
			               st_gate_sides[side]);
	}
	if (!t->pairs && functiontime_choose(t, runs, whole, changed, n_changed))
		return functiontime_no_memory(e);
	if (!t->v.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the gate measured nothing: the base and the target have no "
		               "function with time in common; --functions 0 measures the program "
		               "alone");
	for (size_t i = 0; i < t->v.n; i++)
		if (functiontime_add_values(&t->v.v[i], runs, whole))
			return functiontime_no_memory(e);
	t->pairs++;
	return ST_OK;
}

/* ---- verdicts ---- */

static double
functiontime_growth(const struct st_gate_function_time *f)
{
	return f->time.ns[ST_GATE_TARGET] - f->time.ns[ST_GATE_BASE];
}

/* Whether the other functions are certain to be faster, and by half of the growth or more: then
 * work has moved from them to this one. */
static bool
functiontime_is_offset(const struct st_gate_function_times *t,
                       const struct st_gate_function_time *f)
{
	const double certain = log(20);
	const double rest = t->whole - f->ns[ST_GATE_BASE].v[0];
	if (!f->others.n || st_bet_below(f->others.v, f->others.n, 0) < certain)
		return false;
	return -expm1(st_median(f->others.v, f->others.n)) * rest >= functiontime_growth(f) / 2;
}

static st_status
functiontime_look(struct st_gate_function_time *f, const struct st_gate_rule *rule)
{
	f->time.limit = rule->limit;
	f->time.verdict = ST_GATE_INCONCLUSIVE;
	f->offset = false;
	if (!f->time.ratios.n)
		return ST_OK;
	for (int side = 0; side < ST_GATE_SIDES; side++)
		f->time.ns[side] = st_median(f->ns[side].v, f->ns[side].n);
	return st_gate_look(rule, &f->time);
}

/* A regression stands if it is certain among all functions, and if its growth matters. */
static void
functiontime_conclude(const struct st_gate_function_times *t, struct st_gate_function_time *f,
                      const struct st_gate_rule *rule, double least)
{
	if (f->time.verdict != ST_GATE_REGRESSION)
		return;
	if (f->p > rule->alarm)
		f->time.verdict = ST_GATE_INCONCLUSIVE;
	else if (functiontime_growth(f) < least * t->whole)
		f->time.verdict = ST_GATE_PASS;
	else
		f->offset = functiontime_is_offset(t, f);
	if (f->offset)
		f->time.verdict = ST_GATE_PASS;
}

st_status
st_gate_function_times_judge(struct st_gate_function_times *t, const struct st_gate_rule *rule,
                             double least)
{
	double *p = calloc(t->v.n + 1, sizeof *p);
	st_status status = p ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < t->v.n && !status; i++) {
		struct st_gate_function_time *f = &t->v.v[i];
		status = functiontime_look(f, rule);
		p[i] = f->time.evidence > 1 ? 1 / f->time.evidence : 1;
	}
	if (!status)
		status = st_holm(p, t->v.n, p);
	t->verdict = ST_GATE_PASS;
	t->alarm = rule->alarm;
	for (size_t i = 0; i < t->v.n && !status; i++) {
		struct st_gate_function_time *f = &t->v.v[i];
		f->p = p[i];
		functiontime_conclude(t, f, rule, least);
		if (f->time.verdict == ST_GATE_REGRESSION)
			t->verdict = ST_GATE_REGRESSION;
	}
	free(p);
	return status;
}

bool
st_gate_function_times_decided(const struct st_gate_function_times *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].time.verdict == ST_GATE_INCONCLUSIVE)
			return false;
	return t->v.n > 0;
}

static int
compare_function_times(const void *a, const void *b)
{
	const struct st_gate_function_time *x = a, *y = b;
	if (x->time.verdict != y->time.verdict)
		return x->time.verdict > y->time.verdict ? -1 : 1;
	const double more_x = functiontime_growth(x), more_y = functiontime_growth(y);
	return more_x != more_y ? (more_x < more_y ? 1 : -1) : strcmp(x->name, y->name);
}

void
st_gate_function_times_order(struct st_gate_function_times *t)
{
	st_order(t->v.v, t->v.n, sizeof *t->v.v, compare_function_times);
}

void
st_gate_function_times_free(struct st_gate_function_times *t)
{
	for (size_t i = 0; i < t->v.n; i++) {
		struct st_gate_function_time *f = &t->v.v[i];
		free(f->name);
		free(f->image);
		free(f->ns[ST_GATE_BASE].v);
		free(f->ns[ST_GATE_TARGET].v);
		free(f->others.v);
		st_gate_time_free(&f->time);
	}
	free(t->v.v);
	*t = (struct st_gate_function_times){0};
}
