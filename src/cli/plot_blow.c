/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot causal: the experiments of a campaign of strobe blow, a line for each function. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/plot.h"
#include "plot/charts.h"
#include "report/blow.h"

enum { CAUSAL_LINES = 9 };

struct causal_plot {
	const struct st_blow *b;
	ST_VEC(struct st_plot_curve_point) points;
	ST_VEC(char *) names;
	ST_VEC(size_t) first;
};

/* ---- points ---- */

static st_status
causal_begin_line(struct causal_plot *c, const char *name, uint32_t thread)
{
	char **slot = ST_PUSH(&c->names);
	if (!slot)
		return ST_FAILED;
	*slot = thread == ST_BLOW_NONE ? strdup(name) : st_text_of("%s, thread %u", name, thread);
	size_t *first = *slot ? ST_PUSH(&c->first) : NULL;
	if (!first)
		return ST_FAILED;
	*first = c->points.n;
	return ST_OK;
}

/* A point of NAN is left out. */
static st_status
causal_add(struct causal_plot *c, double x, double y, double low, double high)
{
	if (!isfinite(x) || !isfinite(y))
		return ST_OK;
	struct st_plot_curve_point *slot = ST_PUSH(&c->points);
	if (!slot)
		return ST_FAILED;
	*slot = (struct st_plot_curve_point){x, y, low, high};
	return ST_OK;
}

static int
causal_order(const void *a, const void *b)
{
	const struct st_plot_curve_point *x = a, *y = b;
	if (x->x < y->x || x->x > y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* Orders the points of the last line; one without points is removed. zero: the point without noise,
 * which is no experiment. */
static st_status
causal_end_line(struct causal_plot *c, double zero)
{
	const size_t first = c->first.v[c->first.n - 1];
	if (first == c->points.n) {
		free(c->names.v[--c->names.n]);
		c->first.n--;
		return ST_OK;
	}
	if (causal_add(c, zero, zero, NAN, NAN))
		return ST_FAILED;
	qsort(c->points.v + first, c->points.n - first, sizeof *c->points.v, causal_order);
	return ST_OK;
}

static st_status
causal_influences(struct causal_plot *c, uint32_t function, const struct st_blow_finding *f)
{
	const struct st_blow_baseline base = st_blow_baseline_of(c->b);
	const char *name = c->b->functions.v[function].name;
	st_status status = causal_begin_line(c, name, ST_BLOW_NONE);
	for (size_t i = 0; i < c->b->runs.n && !status; i++) {
		const struct st_blow_run *r = &c->b->runs.v[i];
		if (r->function != function || !st_blow_is_good(r))
			continue;
		const struct st_blow_influence in = st_blow_influence_of(
		        (double)r->total_ns, base.total_ns, (double)st_blow_sum(r, function).ns,
		        f->calls * f->mean_ns);
		status = causal_add(c, in.function, in.runtime, NAN, NAN);
	}
	return status ? status : causal_end_line(c, 1);
}

static st_status
causal_gains(struct causal_plot *c, uint32_t function)
{
	const uint32_t point = st_blow_point_at(c->b, 0);
	st_status status = causal_begin_line(c, c->b->functions.v[function].name, ST_BLOW_NONE);
	for (uint64_t percent = 1; percent <= 100 && !status; percent++) {
		struct st_blow_gain g;
		status = st_blow_find_gain(c->b, point, function, percent, &g);
		if (status || !g.runs)
			continue;
		g = st_blow_point_gain(c->b, point, g);
		status = causal_add(c, (double)percent, g.at * 100, g.low * 100, g.high * 100);
	}
	return status ? status : causal_end_line(c, 0);
}

/* The least number of a thread that is `from` or more; ST_BLOW_NONE: there is none. A damaged file
 * may have any numbers, so they are not counted up to. */
static uint32_t
causal_thread_from(const struct st_blow *b, uint32_t from)
{
	uint32_t next = ST_BLOW_NONE;
	for (size_t i = 0; i < b->runs.n; i++)
		for (size_t k = 0; k < b->runs.v[i].spans.n; k++) {
			const uint32_t thread = b->runs.v[i].spans.v[k].thread;
			if (thread >= from && thread < next)
				next = thread;
		}
	return next;
}

static st_status
causal_add_thread(struct causal_plot *c, const struct st_blow_run *r, uint32_t thread,
                  double mean_ns)
{
	for (size_t i = 0; i < r->spans.n; i++) {
		if (r->spans.v[i].thread != thread)
			continue;
		const struct st_blow_speedup s =
		        st_blow_speedup_in(c->b, r, &r->spans.v[i], mean_ns);
		if (s.noise > 0 && s.speedup > 0)
			return causal_add(c, s.function * 100, s.runtime * 100, NAN, NAN);
	}
	return ST_OK;
}

/* A line for each thread that calls the function, as long as the picture has fewer than `most`. */
static st_status
causal_speedups(struct causal_plot *c, uint32_t function, const struct st_blow_finding *f,
                size_t most)
{
	st_status status = ST_OK;
	for (uint32_t t = causal_thread_from(c->b, 0);
	     t != ST_BLOW_NONE && c->names.n < most && !status;
	     t = causal_thread_from(c->b, t + 1)) {
		status = causal_begin_line(c, c->b->functions.v[function].name, t);
		for (size_t i = 0; i < c->b->runs.n && !status; i++) {
			const struct st_blow_run *r = &c->b->runs.v[i];
			if (r->function == function && st_blow_is_good(r))
				status = causal_add_thread(c, r, t, f->mean_ns);
		}
		if (!status)
			status = causal_end_line(c, 0);
	}
	return status;
}

static st_status
causal_collect(struct causal_plot *c, const struct st_plot_arguments *a)
{
	struct st_blow_rows rows;
	const size_t most = a->top < 0 ? CAUSAL_LINES : a->top ? (size_t)a->top : SIZE_MAX;
	st_status status = st_blow_order(c->b, ST_BLOW_BY_SLOPE, &rows);
	for (size_t i = 0; i < rows.list.n && c->names.n < most && !status; i++) {
		const struct st_blow_row *row = &rows.list.v[i];
		const struct st_blow_function *f = &c->b->functions.v[row->function];
		if (a->of && fnmatch(a->of, f->name, 0) != 0 && strcmp(a->of, f->name) != 0)
			continue;
		status = c->b->causal    ? causal_gains(c, row->function)
		         : c->b->speedup ? causal_speedups(c, row->function, &row->finding, most)
		                         : causal_influences(c, row->function, &row->finding);
	}
	free(rows.list.v);
	size_t *end = status ? NULL : ST_PUSH(&c->first);
	if (end)
		*end = c->points.n;
	return end ? ST_OK : ST_FAILED;
}

/* ---- the picture ---- */

static void
causal_words(const struct st_blow *b, struct st_plot_words *w)
{
	if (b->causal) {
		w->x = "virtual speed-up of the function in %";
		w->y = st_blow_point_at(b, 0) == ST_BLOW_NONE
		               ? "decrease of the run time in %"
		               : "increase of the calls per second in %";
		w->note = "Lines at the points are 95 % intervals.";
	} else if (b->speedup) {
		w->x = "function optimisation in %";
		w->y = "runtime optimisation of the thread in %";
		w->note = "The slope of a line is the share of the function in the time of the "
		          "thread.";
	} else {
		w->x = "time of the function, as a multiple of that without noise";
		w->y = "run time, as a multiple of that without noise";
		w->note = "The slope of a line is that of the function; each point is an "
		          "experiment.";
	}
}

static st_status
causal_draw(const struct st_plot_arguments *a, const struct causal_plot *c, FILE *out,
            struct st_error *e)
{
	char *title = a->title ? strdup(a->title)
	                       : st_text_of("causal profiles of %s (%s)",
	                                    st_base_name(a->files.v[0]), st_blow_mode(c->b));
	struct st_plot_curves curves = {.names = (const char *const *)c->names.v,
	                                .n_series = c->names.n,
	                                .first = c->first.v,
	                                .points = c->points.v,
	                                .zero = c->b->causal || c->b->speedup ? 0 : 1};
	curves.words.title = title;
	causal_words(c->b, &curves.words);
	if (title)
		st_plot_curves(&curves, out);
	free(title);
	return title ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
}

static st_status
causal_draw_campaign(const struct st_plot_arguments *a, const struct st_blow *b, FILE *out,
                     struct st_error *e)
{
	struct causal_plot c = {.b = b};
	st_status status = causal_collect(&c, a)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture")
	                           : ST_OK;
	if (!status && !c.names.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s has no experiment to draw%s%s: strobe blow --from lists its "
		                 "functions",
		                 a->files.v[0], a->of ? " with " : "", a->of ? a->of : "");
	if (!status)
		status = causal_draw(a, &c, out, e);
	for (size_t i = 0; i < c.names.n; i++)
		free(c.names.v[i]);
	free(c.names.v);
	free(c.first.v);
	free(c.points.v);
	return status;
}

st_status
st_plot_campaign(const struct st_plot_arguments *a, FILE *out, struct st_error *e,
                 st_status (*draw)(const struct st_plot_arguments *a, const struct st_blow *b,
                                   FILE *out, struct st_error *e))
{
	struct st_blow b;
	if (st_plot_count_files(a, 1, 1, e))
		return ST_FAILED;
	struct st_profile *p = st_profile_load(a->files.v[0], e);
	if (!p)
		return ST_FAILED;
	st_status status = st_blow_read(&b, p, e);
	if (!status) {
		status = draw(a, &b, out, e);
		st_blow_free(&b);
	}
	st_profile_free(p);
	return status;
}

st_status
st_plot_causal(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return st_plot_campaign(a, out, e, causal_draw_campaign);
}
