/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `local-statistics`: compares windows along x by eight statistics, which also locates
 * a change. */
#include <math.h>
#include <stdlib.h>

#include "check/by_models.h"
#include "stats/ranks.h"

/* Perun's numbers: a window has 5 % of the points; a statistic scores half from 10 %, fully from
 * 25 %; a window may have changed from 0.2 and has from 0.5 of the full score. */
#define WINDOW_SHARE 0.05
#define STATISTIC_HALF 0.10
#define STATISTIC_FULL 0.25
#define WINDOW_MAYBE 0.2
#define WINDOW_FULL 0.5

enum { STATISTICS = 8, WINDOWS_MOST = 64 };

struct window_of_x {
	double x_low, x_high;
	double score, relative; /* 0 to STATISTICS, with its sign; of the medians */
	double from, to;        /* medians */
	double p;
};

struct windows {
	struct window_of_x v[WINDOWS_MOST];
	double p[WINDOWS_MOST];
	size_t n;
};

/* The integral over the window, mean, median, maximum, minimum, sum and quartiles. */
static void
statistics_of(const double *x, const double *y, size_t n, double width, double *out)
{
	double *sorted = malloc((n + 1) * sizeof *sorted), area = 0, sum = 0;
	for (size_t i = 0; i < n; i++) {
		area += i ? (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2 : 0;
		sum += y[i];
		if (sorted)
			sorted[i] = y[i];
	}
	if (sorted)
		st_sort_values(sorted, n);
	const double covered = x[n - 1] - x[0];
	const double v[STATISTICS] = {covered > 0 ? area / covered * width
	                                          : sum / (double)n * width,
	                              sum / (double)n,
	                              sorted ? st_sorted_quantile(sorted, n, 0.5) : NAN,
	                              sorted ? sorted[n - 1] : NAN,
	                              sorted ? sorted[0] : NAN,
	                              sum,
	                              sorted ? st_sorted_quantile(sorted, n, 0.25) : NAN,
	                              sorted ? st_sorted_quantile(sorted, n, 0.75) : NAN};
	for (int i = 0; i < STATISTICS; i++)
		out[i] = v[i];
	free(sorted);
}

static double
score_of(double from, double to)
{
	const double share = from != 0 ? (to - from) / fabs(from) : to > 0 ? 1 : to < 0 ? -1 : 0;
	const double size = fabs(share);
	return (size > STATISTIC_FULL ? 1 : size > STATISTIC_HALF ? 0.5 : 0) * (share < 0 ? -1 : 1);
}

static size_t
first_from(const struct st_check_points *p, double x)
{
	size_t low = 0, high = p->n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (p->x[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns false if one version has no point in the window. */
static bool
compare_window(const struct st_check_points *points, double low, double high, bool last,
               struct window_of_x *w)
{
	double found[ST_SIDES][STATISTICS];
	size_t first[ST_SIDES], n[ST_SIDES];
	struct st_rank_test test;
	for (int side = 0; side < ST_SIDES; side++) {
		const struct st_check_points *p = &points[side];
		first[side] = first_from(p, low);
		n[side] = (last ? first_from(p, nextafter(high, INFINITY)) : first_from(p, high)) -
		          first[side];
		if (!n[side])
			return false;
		statistics_of(p->x + first[side], p->y + first[side], n[side], high - low,
		              found[side]);
	}
	*w = (struct window_of_x){low, high, 0, 0, found[ST_A][2], found[ST_B][2], 1};
	for (int i = 0; i < STATISTICS; i++)
		w->score += score_of(found[ST_A][i], found[ST_B][i]);
	w->relative = w->from != 0 ? (w->to - w->from) / fabs(w->from) : NAN;
	if (!st_mann_whitney(points[ST_A].y + first[ST_A], n[ST_A], points[ST_B].y + first[ST_B],
	                     n[ST_B], &test))
		w->p = test.p;
	return true;
}

static void
divide_into_windows(struct windows *w, const struct st_check_models *m)
{
	const size_t each = (size_t)(WINDOW_SHARE * (double)m->points[ST_A].n);
	size_t n = each ? m->points[ST_A].n / each : m->points[ST_A].n;
	n = n > WINDOWS_MOST ? WINDOWS_MOST : n;
	w->n = 0;
	for (size_t i = 0; i < n; i++) {
		const double width = (m->x_high - m->x_low) / (double)n;
		const double low = m->x_low + width * (double)i;
		if (compare_window(m->points, low, i + 1 == n ? m->x_high : low + width, i + 1 == n,
		                   &w->v[w->n])) {
			w->p[w->n] = w->v[w->n].p;
			w->n++;
		}
	}
}

/* The kind of a window: a change needs a significant rank test. */
static enum st_finding_kind
kind_of_window(const struct window_of_x *w, double q, double alpha)
{
	const double score = fabs(w->score) / STATISTICS;
	enum st_finding_kind kind = ST_FINDING_NO_CHANGE;
	if (score >= WINDOW_FULL && q <= alpha)
		kind = ST_FINDING_DEGRADATION;
	else if (score >= WINDOW_MAYBE && q <= alpha)
		kind = ST_FINDING_MAYBE_DEGRADATION;
	return w->score < 0 ? st_finding_mirror(kind) : kind;
}

/* Consecutive windows with the same direction; q is the least of them. */
struct changed_windows {
	size_t first, n;
	enum st_finding_kind kind;
	double weight, q;
};

static struct changed_windows
widest_change(const struct windows *w, double alpha)
{
	struct changed_windows best = {.kind = ST_FINDING_NO_CHANGE, .q = NAN};
	for (size_t i = 0, n; i < w->n; i += n) {
		struct changed_windows run = {i, 0, kind_of_window(&w->v[i], w->p[i], alpha), 0, 1};
		const int direction = st_finding_direction(run.kind);
		for (n = 0; i + n < w->n; n++) {
			const enum st_finding_kind kind =
			        kind_of_window(&w->v[i + n], w->p[i + n], alpha);
			if (st_finding_direction(kind) != direction)
				break;
			if (kind == ST_FINDING_DEGRADATION || kind == ST_FINDING_OPTIMIZATION)
				run.kind = kind;
			run.weight += fabs(w->v[i + n].score);
			run.q = fmin(run.q, w->p[i + n]);
		}
		run.n = n;
		if (direction && run.weight > best.weight)
			best = run;
	}
	return best;
}

static void
describe_change(struct st_finding *f, const struct windows *w, const struct changed_windows *c)
{
	double from = 0, to = 0;
	for (size_t i = c->first; i < c->first + c->n; i++) {
		from += w->v[i].from / (double)c->n;
		to += w->v[i].to / (double)c->n;
	}
	f->kind = c->kind;
	f->from = from;
	f->to = to;
	f->q = c->q;
	f->rate = (struct st_interval){to - from, NAN, NAN};
	f->relative = from != 0 ? f->rate.at / fabs(from) : NAN;
	f->x_low = w->v[c->first].x_low;
	f->x_high = w->v[c->first + c->n - 1].x_high;
	f->type = c->n == w->n ? "everywhere" : "local";
}

static st_status
compare_windows(struct st_finding *f, const struct st_check_models *m,
                const struct st_check_how *how)
{
	struct windows w;
	double error = 0;
	divide_into_windows(&w, m);
	if (!w.n) {
		f->cause = "no window along x has points of both versions";
		return ST_OK;
	}
	if (st_benjamini_hochberg(w.p, w.n, w.p))
		return ST_FAILED;
	for (size_t i = 0; i < w.n; i++)
		error += isnan(w.v[i].relative) ? 0 : w.v[i].relative / (double)w.n;
	const struct changed_windows c = widest_change(&w, how->distribution.alpha);
	f->kind = ST_FINDING_NO_CHANGE;
	f->confidence = error;
	f->confidence_kind = "mean of windows";
	if (c.n)
		describe_change(f, &w, &c);
	else
		f->rate.at = f->to - f->from;
	return ST_OK;
}

st_status
st_check_by_local(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_local, how, compare_windows);
}
