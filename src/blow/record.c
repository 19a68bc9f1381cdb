/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the entries and returns of a program with probes while it runs. Times are ticks until the
 * program has ended, since the frequency of the ticks is known then.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blow/calls.h"
#include "blow/timeline.h"
#include "control/probe_events.h"
#include "probe/probes.h"

struct st_blow_recording {
	struct st_probes *probes;
	struct st_probe_drain *drain;
	struct st_lanes lanes; /* the function of a slice is the number of its probe */
	bool no_memory;
};

bool
st_blow_is_wait(const char *raw_name)
{
	const char *const joins[] = {"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np",
	                             "thrd_join", "_ZNSt6thread4joinEv"};
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strncmp(raw_name, joins[i], strlen(joins[i])))
			return true;
	if (!(st_blow_traits_of_name(raw_name) & ST_BLOW_IS_LOCK) || strstr(raw_name, "unlock") ||
	    strstr(raw_name, "try"))
		return false;
	return strstr(raw_name, "lock") || strstr(raw_name, "wait");
}

/* ---- while the program runs ---- */

static void
take_recorded(void *arg, uint32_t record, const struct st_probe_event *events, size_t n)
{
	struct st_blow_recording *r = arg;
	const struct st_probing *p = &r->probes->process;
	for (size_t i = 0; i < n && !r->no_memory; i++) {
		const struct st_lane_event event = {.pid = p->pid,
		                                    .tid = p->area->records[record].tid,
		                                    .ns = events[i].ticks,
		                                    .depth = events[i].depth,
		                                    .function = events[i].function,
		                                    .returns = events[i].returns};
		r->no_memory = st_lanes_add(&r->lanes, &event) != ST_OK;
	}
}

static void
recording_free(struct st_blow_recording *r)
{
	st_probe_drain_free(r->drain);
	st_lanes_free(&r->lanes);
	free(r);
}

struct st_blow_recording *
st_blow_recording_begin(struct st_probes *probes)
{
	struct st_blow_recording *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->probes = probes;
	r->lanes.most = ST_BLOW_MOST_SLICES;
	r->drain = st_probe_drain_new(probes->process.area, take_recorded, r);
	if (r->drain && st_probe_drain_start(r->drain))
		return r;
	recording_free(r);
	return NULL;
}

/* ---- when it has ended ---- */

static const char *
raw_name_of_probe(const struct st_probes *p, uint32_t function)
{
	const struct st_probed_function *f = &p->functions.v[function];
	const struct st_function *at = st_image_function(p->images.v[f->image].image, f->offset);
	return at && at->offset == f->offset ? at->raw_name : f->name;
}

/* Calls of the first thread end with the process, and so do waits: a thread that waits for another
 * one cannot have ended itself. Other threads may have ended within their calls. */
static void
end_calls_at_exit(struct st_blow_recording *r)
{
	const struct st_probing *p = &r->probes->process;
	for (size_t i = 0; i < r->lanes.lanes.n; i++) {
		struct st_lane *lane = &r->lanes.lanes.v[i];
		const uint32_t last =
		        lane->open.n ? lane->open.v[lane->open.n - 1].function : UINT32_MAX;
		const bool waits = last < r->probes->functions.n &&
		                   st_blow_is_wait(raw_name_of_probe(r->probes, last));
		if ((lane->tid != p->pid && !waits) || !lane->open.n || p->end <= lane->last_ns)
			continue;
		lane->last_ns = p->end;
		if (p->end > r->lanes.end_ns)
			r->lanes.end_ns = p->end;
	}
}

static void
write_recorded_name(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

static void
write_recorded_function(const struct st_blow_recording *r, uint32_t function, bool is_blown,
                        FILE *out)
{
	const struct st_probes *p = r->probes;
	const struct st_probed_function *f = &p->functions.v[function];
	const enum st_blow_kind kind = is_blown ? ST_BLOW_BLOWN
	                               : st_blow_is_wait(raw_name_of_probe(p, function))
	                                       ? ST_BLOW_WAITS
	                                       : ST_BLOW_OTHER;
	fprintf(out, "timeline name %d\t", (int)kind);
	write_recorded_name(p->images.v[f->image].path ? p->images.v[f->image].path : "", out);
	fputc('\t', out);
	write_recorded_name(f->name, out);
	fputc('\n', out);
}

static uint64_t
recorded_ns(const struct st_blow_recording *r, uint64_t ticks)
{
	return (uint64_t)((double)(ticks - r->lanes.begin_ns) / r->probes->process.tsc_hz * 1e9 +
	                  0.5);
}

static void
write_recorded_row(const struct st_blow_recording *r, size_t thread, size_t level, FILE *out)
{
	const struct st_lane_row *row = &r->lanes.lanes.v[thread].rows.v[level];
	for (size_t i = 0; i < row->slices.n; i++) {
		const struct st_lane_slice *s = &row->slices.v[i];
		fprintf(out,
		        "timeline slice %zu %zu %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		        thread, level, s->function, recorded_ns(r, s->begin_ns),
		        recorded_ns(r, s->end_ns), s->calls);
	}
}

static void
write_timeline_lines(const struct st_blow_recording *r, bool (*blown)(void *arg, uint32_t function),
                     void *arg, FILE *out)
{
	const struct st_lanes *l = &r->lanes;
	const double width = (double)l->width_ns / r->probes->process.tsc_hz * 1e9;
	fprintf(out, "timeline calls %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->calls,
	        (uint64_t)(width + 0.5), l->too_deep, r->probes->process.area->lost_words);
	for (uint32_t i = 0; i < r->probes->functions.n; i++)
		write_recorded_function(r, i, blown(arg, i), out);
	for (size_t i = 0; i < l->lanes.n; i++) {
		fprintf(out, "timeline thread %" PRId64 "\n", l->lanes.v[i].tid);
		for (size_t level = 0; level < l->lanes.v[i].rows.n; level++)
			write_recorded_row(r, i, level, out);
	}
}

st_status
st_blow_recording_end(struct st_blow_recording *r, bool (*blown)(void *arg, uint32_t function),
                      void *arg, FILE *out)
{
	st_probe_drain_finish(r->drain);
	end_calls_at_exit(r);
	const st_status status = r->no_memory || st_lanes_finish(&r->lanes) ? ST_FAILED : ST_OK;
	if (!status && out)
		write_timeline_lines(r, blown, arg, out);
	recording_free(r);
	return status;
}
