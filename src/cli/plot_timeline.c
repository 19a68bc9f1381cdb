/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot timeline: the calls of the experiment that strobe blow has recorded. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "blow/timeline.h"
#include "cli/plot.h"
#include "plot/charts.h"
#include "report/blow.h"

struct timeline_plot {
	const struct st_blow_timeline *t;
	ST_VEC(struct st_plot_lane) lanes;
	ST_VEC(char *) names; /* of lanes */
	ST_VEC(struct st_plot_call) calls;
	double end;
	bool has[ST_PLOT_CALL_KINDS];
};

static enum st_plot_call_kind
timeline_kind(const struct st_blow_timeline *t, const struct st_blow_slice *s)
{
	if (s->function == ST_LANE_SEVERAL)
		return ST_PLOT_CALL;
	return t->functions.v[s->function].kind == ST_BLOW_BLOWN   ? ST_PLOT_CALL_MARKED
	       : t->functions.v[s->function].kind == ST_BLOW_WAITS ? ST_PLOT_CALL_WAITS
	                                                           : ST_PLOT_CALL;
}

static st_status
timeline_add_lanes(struct timeline_plot *p)
{
	for (size_t i = 0; i < p->t->threads.n; i++) {
		char **name = ST_PUSH(&p->names);
		struct st_plot_lane *lane = name ? ST_PUSH(&p->lanes) : NULL;
		if (!lane)
			return ST_FAILED;
		*name = st_text_of("%zu: thread %" PRId64, i, p->t->threads.v[i]);
		*lane = (struct st_plot_lane){*name, 1};
		if (!*name)
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
timeline_collect(struct timeline_plot *p)
{
	if (timeline_add_lanes(p))
		return ST_FAILED;
	for (size_t i = 0; i < p->t->slices.n; i++) {
		const struct st_blow_slice *s = &p->t->slices.v[i];
		struct st_plot_call *call = ST_PUSH(&p->calls);
		if (!call)
			return ST_FAILED;
		*call = (struct st_plot_call){.lane = s->thread,
		                              .level = s->level,
		                              .begin = (double)s->begin_ns,
		                              .end = (double)s->end_ns,
		                              .name = s->function == ST_LANE_SEVERAL
		                                              ? "several functions"
		                                              : p->t->functions.v[s->function].name,
		                              .calls = s->calls,
		                              .kind = timeline_kind(p->t, s)};
		p->has[call->kind] = true;
		p->end = call->end > p->end ? call->end : p->end;
		if (p->lanes.v[s->thread].rows <= s->level)
			p->lanes.v[s->thread].rows = (size_t)s->level + 1;
	}
	return ST_OK;
}

/* ---- the picture ---- */

static char *
timeline_note(const struct st_blow_timeline *t)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	fprintf(text.out,
	        "The experiment with the highest indicator (%.4g) was repeated, and its %s "
	        "recorded.",
	        t->indicator, ST_COUNT(t->calls, "call was", "calls were"));
	if (t->width_ns)
		fprintf(text.out,
		        " Neighbouring calls that together take at most %.3f us are one rectangle.",
		        (double)t->width_ns / 1e3);
	if (t->too_deep)
		fprintf(text.out, " %s too deep to be drawn.",
		        ST_COUNT(t->too_deep, "call is nested", "calls are nested"));
	if (t->lost)
		fprintf(text.out, " Some calls are missing, because they were too many to record.");
	if (t->fault)
		fprintf(text.out, " The repetition ended with a fault: %s.",
		        st_blow_fault_name(t->fault));
	return st_text_end(&text);
}

static st_status
timeline_draw(const struct st_plot_arguments *a, const struct st_blow *b,
              const struct timeline_plot *p, FILE *out)
{
	const struct st_blow_timeline *t = p->t;
	char *noise = st_text_of("%s: %s %" PRIu64 " %s%s", b->functions.v[t->function].name,
	                         st_blow_noise_name(t->noise.type), t->noise.strength,
	                         st_blow_noise_unit(t->noise.type),
	                         b->speedup ? " in all other functions" : "");
	char *title = a->title ? strdup(a->title)
	                       : st_text_of("timeline of %s (%s)", st_base_name(a->files.v[0]),
	                                    st_blow_mode(b));
	char *note = timeline_note(t);
	struct st_plot_timeline picture = {
	        .words = {.title = title,
	                  .x = "time since the first call",
	                  .x_unit = "ns",
	                  .note = note},
	        .lanes = p->lanes.v,
	        .n_lanes = p->lanes.n,
	        .calls = p->calls.v,
	        .n_calls = p->calls.n,
	        .end = p->end,
	        .keys = {[ST_PLOT_CALL] = p->has[ST_PLOT_CALL] ? "other functions" : NULL,
	                 [ST_PLOT_CALL_MARKED] = noise,
	                 [ST_PLOT_CALL_WAITS] =
	                         p->has[ST_PLOT_CALL_WAITS] ? "waits for another thread" : NULL}};
	const st_status status =
	        noise && title && note ? st_plot_timeline(&picture, out) : ST_FAILED;
	free(noise);
	free(title);
	free(note);
	return status;
}

static st_status
timeline_draw_campaign(const struct st_plot_arguments *a, const struct st_blow *b, FILE *out,
                       struct st_error *e)
{
	struct timeline_plot p = {.t = b->timeline};
	if (!b->timeline)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no timeline: strobe blow records one at the end of a "
		               "campaign with experiments, unless --timeline none is given",
		               a->files.v[0]);
	const st_status status =
	        timeline_collect(&p) || timeline_draw(a, b, &p, out)
	                ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture")
	                : ST_OK;
	for (size_t i = 0; i < p.names.n; i++)
		free(p.names.v[i]);
	free(p.names.v);
	free(p.lanes.v);
	free(p.calls.v);
	return status;
}

st_status
st_plot_blow_timeline(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return st_plot_campaign(a, out, e, timeline_draw_campaign);
}
