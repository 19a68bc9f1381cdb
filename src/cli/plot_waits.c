/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot waits: when the threads of a program waited for each other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/plot.h"
#include "cli/rows.h"
#include "cli/show_stored.h"
#include "plot/charts.h"
#include "trace/waits.h"

/* More would not be told apart at the width of a picture. */
enum { PLOT_WAITS_SLICES = 20000 };

struct waits_plot {
	const struct st_waits *w;
	const struct st_profile *p;
	ST_VEC(struct st_plot_lane) lanes;
	ST_VEC(char *) names; /* of lanes */
	ST_VEC(struct st_plot_call) calls;
};

static st_status
waits_add_slices(struct waits_plot *d, size_t lane)
{
	const struct st_lane *from = &d->w->lanes.lanes.v[lane];
	for (size_t level = 0; level < from->rows.n; level++)
		for (size_t i = 0; i < from->rows.v[level].slices.n; i++) {
			const struct st_lane_slice *s = &from->rows.v[level].slices.v[i];
			struct st_plot_call *call = ST_PUSH(&d->calls);
			if (!call)
				return ST_FAILED;
			*call = (struct st_plot_call){
			        .lane = lane,
			        .level = level,
			        .begin = (double)(s->begin_ns - d->w->lanes.begin_ns),
			        .end = (double)(s->end_ns - d->w->lanes.begin_ns),
			        .name = s->function == ST_LANE_SEVERAL
			                        ? "several waits"
			                        : d->w->labels.v[s->function].text,
			        .calls = s->calls,
			        .kind = level ? ST_PLOT_CALL_WAITS : ST_PLOT_CALL};
		}
	return ST_OK;
}

static st_status
waits_collect(struct waits_plot *d)
{
	for (size_t i = 0; i < d->w->lanes.lanes.n; i++) {
		const struct st_lane *from = &d->w->lanes.lanes.v[i];
		const char *thread = st_lane_thread_name(from, d->p);
		char **name = ST_PUSH(&d->names);
		struct st_plot_lane *lane = name ? ST_PUSH(&d->lanes) : NULL;
		if (!lane)
			return ST_FAILED;
		*name = st_text_of("%s %" PRId64, thread && *thread ? thread : "thread", from->tid);
		*lane = (struct st_plot_lane){*name, from->rows.n};
		if (!*name || waits_add_slices(d, i))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
waits_draw(const struct st_plot_arguments *a, const struct waits_plot *d, FILE *out)
{
	const struct st_lanes *l = &d->w->lanes;
	char *title = a->title ? strdup(a->title)
	                       : st_text_of("waits of threads, %s", st_base_name(a->files.v[0]));
	char *note = l->width_ns
	                     ? st_text_of("Neighbouring waits that together take at most "
	                                  "%.3f us are one rectangle.%s%s",
	                                  (double)l->width_ns / 1e3,
	                                  *d->w->damage.text ? " The end is missing: " : "",
	                                  d->w->damage.text)
	                     : st_text_of("%s%s", *d->w->damage.text ? "The end is missing: " : "",
	                                  d->w->damage.text);
	const struct st_plot_timeline picture = {
	        .words = {.title = title,
	                  .x = "time since the first thread began",
	                  .x_unit = "ns",
	                  .note = note},
	        .lanes = d->lanes.v,
	        .n_lanes = d->lanes.n,
	        .calls = d->calls.v,
	        .n_calls = d->calls.n,
	        .end = (double)(l->end_ns - l->begin_ns),
	        .keys = {[ST_PLOT_CALL] = "the thread exists",
	                 [ST_PLOT_CALL_WAITS] = "it waits for another thread"}};
	const st_status status = title && note ? st_plot_timeline(&picture, out) : ST_FAILED;
	free(title);
	free(note);
	return status;
}

static st_status
waits_draw_rows(const struct st_plot_arguments *a, const struct st_profile *p,
                struct st_row_reader *rows, FILE *out, struct st_error *e)
{
	struct st_waits w;
	struct waits_plot d = {.w = &w, .p = p};
	st_status status = st_waits_read(&w, p, rows, PLOT_WAITS_SLICES, e);
	if (!status && w.lanes.too_many)
		status = st_fail(e, ST_EXIT_FAILED, "%s has too many threads for a picture",
		                 a->files.v[0]);
	else if (!status && (waits_collect(&d) || waits_draw(a, &d, out)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	for (size_t i = 0; i < d.names.n; i++)
		free(d.names.v[i]);
	free(d.names.v);
	free(d.lanes.v);
	free(d.calls.v);
	st_waits_free(&w);
	return status;
}

st_status
st_plot_thread_waits(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	if (st_plot_count_files(a, 1, 1, e))
		return ST_FAILED;
	struct st_profile *p = st_show_load(a->files.v[0], e);
	if (!p)
		return ST_FAILED;
	st_status status = ST_FAILED;
	if (!st_waits_recorded(p)) {
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s has no waits over time: no thread waited, or the run was "
		                 "without -t locks:times",
		                 a->files.v[0]);
	} else {
		char *file = st_find_rows(p, a->files.v[0], ST_WAITS_STREAM, e);
		struct st_row_reader *rows = file ? st_row_reader_open(file, e) : NULL;
		free(file);
		if (rows)
			status = waits_draw_rows(a, p, rows, out, e);
		st_row_reader_close(rows);
	}
	st_profile_free(p);
	return status;
}
