/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The experiments of a campaign of strobe blow as lines through points: of strobe plot causal, of
 * the page, and of JSON. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/blow.h"
#include "report/json.h"

struct curves_making {
	const struct st_blow *b;
	uint32_t point; /* progress point; ST_BLOW_NONE: the end of the run */
	struct st_blow_curves *out;
};

/* ---- points ---- */

static st_status
curves_begin_line(struct curves_making *c, uint32_t function, uint32_t thread)
{
	struct st_blow_line *line = ST_PUSH(&c->out->lines);
	if (!line)
		return ST_FAILED;
	*line = (struct st_blow_line){function, thread, c->out->points.n, 0};
	return ST_OK;
}

/* A point of NAN is left out. */
static st_status
curves_add(struct curves_making *c, double x, double y, double low, double high)
{
	if (!isfinite(x) || !isfinite(y))
		return ST_OK;
	struct st_blow_dot *dot = ST_PUSH(&c->out->points);
	if (!dot)
		return ST_FAILED;
	*dot = (struct st_blow_dot){x, y, low, high};
	return ST_OK;
}

static int
curves_order(const void *a, const void *b)
{
	const struct st_blow_dot *x = a, *y = b;
	if (x->x < y->x || x->x > y->x)
		return x->x < y->x ? -1 : 1;
	return (x->y > y->y) - (x->y < y->y);
}

/* Orders the points of the last line; one without points is removed. The point without noise is no
 * experiment. */
static st_status
curves_end_line(struct curves_making *c)
{
	struct st_blow_curves *out = c->out;
	struct st_blow_line *line = &out->lines.v[out->lines.n - 1];
	if (line->first == out->points.n) {
		out->lines.n--;
		return ST_OK;
	}
	if (curves_add(c, out->zero, out->zero, NAN, NAN))
		return ST_FAILED;
	line->n = out->points.n - line->first;
	qsort(out->points.v + line->first, line->n, sizeof *out->points.v, curves_order);
	return ST_OK;
}

static st_status
curves_of_influence(struct curves_making *c, uint32_t function, const struct st_blow_finding *f)
{
	const struct st_blow_baseline base = st_blow_baseline_of(c->b);
	st_status status = curves_begin_line(c, function, ST_BLOW_NONE);
	for (size_t i = 0; i < c->b->runs.n && !status; i++) {
		const struct st_blow_run *r = &c->b->runs.v[i];
		if (r->function != function || !st_blow_is_good(r))
			continue;
		const struct st_blow_influence in = st_blow_influence_of(
		        (double)r->total_ns, base.total_ns, (double)st_blow_sum(r, function).ns,
		        f->calls * f->mean_ns);
		status = curves_add(c, in.function, in.runtime, NAN, NAN);
	}
	return status ? status : curves_end_line(c);
}

static st_status
curves_of_gain(struct curves_making *c, uint32_t function)
{
	st_status status = curves_begin_line(c, function, ST_BLOW_NONE);
	bool tried[101];
	st_blow_percents_tried(c->b, function, tried);
	for (uint64_t percent = 1; percent <= 100 && !status; percent++) {
		struct st_blow_gain g;
		if (!tried[percent])
			continue;
		status = st_blow_find_gain(c->b, c->point, function, percent, &g);
		if (status || !g.runs)
			continue;
		g = st_blow_point_gain(c->b, c->point, g);
		status = curves_add(c, (double)percent, g.at * 100, g.low * 100, g.high * 100);
	}
	return status ? status : curves_end_line(c);
}

/* The least number of a thread that is `from` or more; ST_BLOW_NONE: there is none. A damaged file
 * may have any numbers, so they are not counted up to. */
static uint32_t
curves_thread_from(const struct st_blow *b, uint32_t from)
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
curves_add_thread(struct curves_making *c, const struct st_blow_run *r, uint32_t thread,
                  double mean_ns)
{
	for (size_t i = 0; i < r->spans.n; i++) {
		if (r->spans.v[i].thread != thread)
			continue;
		const struct st_blow_speedup s =
		        st_blow_speedup_in(c->b, r, &r->spans.v[i], mean_ns);
		if (s.noise > 0 && s.speedup > 0)
			return curves_add(c, s.function * 100, s.runtime * 100, NAN, NAN);
	}
	return ST_OK;
}

/* A line for each thread that calls the function, as long as there are fewer than `most`. */
static st_status
curves_of_speedup(struct curves_making *c, uint32_t function, const struct st_blow_finding *f,
                  size_t most)
{
	st_status status = ST_OK;
	for (uint32_t t = curves_thread_from(c->b, 0);
	     t != ST_BLOW_NONE && c->out->lines.n < most && !status;
	     t = curves_thread_from(c->b, t + 1)) {
		status = curves_begin_line(c, function, t);
		for (size_t i = 0; i < c->b->runs.n && !status; i++) {
			const struct st_blow_run *r = &c->b->runs.v[i];
			if (r->function == function && st_blow_is_good(r))
				status = curves_add_thread(c, r, t, f->mean_ns);
		}
		if (!status)
			status = curves_end_line(c);
	}
	return status;
}

/* ---- words ---- */

static void
curves_words(const struct curves_making *c)
{
	static const char *const gains[ST_BLOW_POINT_KINDS] = {
	        [ST_BLOW_NO_POINT] = "decrease of the run time in %",
	        [ST_BLOW_CALLS] = "increase of the calls per second in %",
	        [ST_BLOW_SOURCE] = "increase of the metric in %",
	        [ST_BLOW_SITE] = "increase of the passes per second in %",
	        [ST_BLOW_LATENCY] = "decrease of the latency in %"};
	struct st_blow_curves *w = c->out;
	if (c->b->causal) {
		w->x = "virtual speed-up of the function in %";
		w->y = gains[st_blow_point_kind(c->b, c->point)];
		w->note = "Lines at the points are 95 % intervals.";
	} else if (c->b->speedup) {
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

st_status
st_blow_curves_make(const struct st_blow *b, uint32_t point, const char *of, size_t most,
                    struct st_blow_curves *out)
{
	struct curves_making c = {b, point, out};
	struct st_blow_rows rows;
	*out = (struct st_blow_curves){.zero = b->causal || b->speedup ? 0 : 1};
	curves_words(&c);
	st_status status = st_blow_order(b, ST_BLOW_BY_SLOPE, &rows);
	for (size_t i = 0; i < rows.list.n && out->lines.n < most && !status; i++) {
		const struct st_blow_row *row = &rows.list.v[i];
		const char *name = b->functions.v[row->function].name;
		if (of && fnmatch(of, name, 0) != 0 && strcmp(of, name) != 0)
			continue;
		status = b->causal    ? curves_of_gain(&c, row->function)
		         : b->speedup ? curves_of_speedup(&c, row->function, &row->finding, most)
		                      : curves_of_influence(&c, row->function, &row->finding);
	}
	free(rows.list.v);
	return status;
}

/* The points of a line are ascending, and one of them is that without noise. */
void
st_blow_curves_cut(struct st_blow_curves *c, double most)
{
	size_t lines = 0, points = 0;
	for (size_t i = 0; i < c->lines.n; i++) {
		struct st_blow_line line = c->lines.v[i];
		size_t n = 0;
		while (n < line.n && c->points.v[line.first + n].x <= most)
			n++;
		if (n < 2)
			continue;
		memmove(c->points.v + points, c->points.v + line.first, n * sizeof *c->points.v);
		c->lines.v[lines++] = (struct st_blow_line){line.function, line.thread, points, n};
		points += n;
	}
	c->lines.n = lines;
	c->points.n = points;
}

void
st_blow_curves_free(struct st_blow_curves *c)
{
	free(c->lines.v);
	free(c->points.v);
}

/* ---- JSON ---- */

static json_t *
json_dot(const struct st_blow_dot *d)
{
	json_t *out = json_array();
	int bad = json_array_append_new(out, json_real(d->x));
	bad |= json_array_append_new(out, json_real(d->y));
	if (!isnan(d->low)) {
		bad |= json_array_append_new(out, json_real(d->low));
		bad |= json_array_append_new(out, st_json_real(d->high));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_line(const struct st_blow *b, const struct st_blow_curves *c, const struct st_blow_line *line)
{
	json_t *points = json_array();
	int bad = 0;
	for (size_t i = line->first; i < line->first + line->n && !bad; i++)
		bad = json_array_append_new(points, json_dot(&c->points.v[i]));
	if (!bad)
		return json_pack("{s:o, s:o, s:o}", "function",
		                 st_json_text(b->functions.v[line->function].name), "thread",
		                 line->thread == ST_BLOW_NONE ? json_null()
		                                              : st_json_count(line->thread),
		                 "points", points);
	json_decref(points);
	return NULL;
}

static json_t *
json_curves_of(const struct st_blow *b, uint32_t point)
{
	struct st_blow_curves c;
	json_t *lines = json_array(), *out = NULL;
	int bad = st_blow_curves_make(b, point, NULL, SIZE_MAX, &c);
	for (size_t i = 0; i < c.lines.n && !bad; i++)
		bad = json_array_append_new(lines, json_line(b, &c, &c.lines.v[i]));
	if (bad)
		json_decref(lines);
	else
		out = json_pack("{s:o, s:s, s:s, s:s, s:f, s:o}", "progress",
		                b->causal ? st_json_text(st_blow_point_name(b, point))
		                          : json_null(),
		                "x", c.x, "y", c.y, "note", c.note, "zero", c.zero, "lines", lines);
	st_blow_curves_free(&c);
	return out;
}

json_t *
st_blow_curves_json(const struct st_blow *b)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < (b->causal ? st_blow_points(b) : 1) && !bad; i++)
		bad = json_array_append_new(out, json_curves_of(b, st_blow_point_at(b, i)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
