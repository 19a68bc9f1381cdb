/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Columns of the stream lock_times of src/tools/locks.c. */
enum { THREAD, BEGIN, TIME, KIND, LOCK, HOLDER, FUNCTION, LINE, COLUMNS };

bool
st_waits_recorded(const struct st_profile *p)
{
	for (size_t i = 0; i < p->streams.n; i++)
		if (!strcmp(p->streams.v[i].tool, "locks") &&
		    !strcmp(p->streams.v[i].name, ST_WAITS_STREAM))
			return true;
	return false;
}

/* ---- labels ---- */

/* The index of the label, which is made if there is none. ST_LANE_SEVERAL: no memory. kind: NULL:
 * of the life of a thread. */
static uint32_t
waits_label(struct st_waits *w, const char *kind, const char *function, uint64_t holder)
{
	char *text = !kind    ? strdup("runs, or waits for something else")
	             : holder ? st_text_of("%s: %s waits for thread %llu", kind, function,
	                                   (unsigned long long)holder)
	                      : st_text_of("%s: %s waits", kind, function);
	if (!text)
		return ST_LANE_SEVERAL;
	const uint32_t hash = st_hash_text(text);
	uint32_t at = ST_HASHMAP_FIND(&w->index, hash, i, !strcmp(w->labels.v[i].text, text));
	if (at != ST_HASHMAP_NONE) {
		free(text);
		return at;
	}
	struct st_waits_label *new = ST_PUSH(&w->labels);
	if (!new) {
		free(text);
		return ST_LANE_SEVERAL;
	}
	*new = (struct st_waits_label){text, kind != NULL};
	at = (uint32_t)w->labels.n - 1;
	return st_hashmap_add(&w->index, hash, at) ? ST_LANE_SEVERAL : at;
}

/* ---- slices ---- */

static bool
waits_has_lane(const struct st_waits *w, int64_t pid, int64_t tid)
{
	for (size_t i = 0; i < w->lanes.lanes.n; i++)
		if (w->lanes.lanes.v[i].pid == pid && w->lanes.lanes.v[i].tid == tid)
			return true;
	return false;
}

/* The life of a thread begins. start_ns: of its process. */
static st_status
waits_begin_thread(struct st_waits *w, const struct st_profile_thread *t, int64_t pid,
                   uint64_t start_ns)
{
	const struct st_lane_event begin = {.pid = pid,
	                                    .tid = t->tid,
	                                    .ns = start_ns + (uint64_t)t->begin_ns,
	                                    .depth = 1,
	                                    .function = waits_label(w, NULL, NULL, 0)};
	if (begin.function == ST_LANE_SEVERAL || st_lanes_add(&w->lanes, &begin))
		return ST_FAILED;
	return ST_OK;
}

/* The threads of the row's process that have no lane yet: when the process began is known from its
 * rows only. */
static st_status
waits_begin_process(struct st_waits *w, const struct st_profile *p, const struct st_row_shown *row)
{
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct st_profile_thread *t = &p->threads.v[i];
		if (t->process == row->process && t->begin_ns >= 0 &&
		    !waits_has_lane(w, row->pid, t->tid) &&
		    waits_begin_thread(w, t, row->pid, row->start_ns))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
waits_add_row(struct st_waits *w, const struct st_profile *p, const struct st_row_shown *row)
{
	const struct st_profile_value *v = row->values;
	const char *kind = v[KIND].text ? v[KIND].text : "";
	struct st_lane_event wait = {
	        .pid = row->pid,
	        .tid = (int64_t)v[THREAD].number,
	        .ns = v[BEGIN].number + row->start_ns,
	        .depth = 2,
	        .function = waits_label(w, kind, v[FUNCTION].text ? v[FUNCTION].text : "[unknown]",
	                                v[HOLDER].number)};
	if (wait.function == ST_LANE_SEVERAL ||
	    (!waits_has_lane(w, wait.pid, wait.tid) && waits_begin_process(w, p, row)) ||
	    st_lanes_add(&w->lanes, &wait))
		return ST_FAILED;
	wait.ns += v[TIME].number;
	wait.returns = true;
	return st_lanes_add(&w->lanes, &wait);
}

/* Ends the life of each thread whose end was seen; that of others lasts until the end. */
static st_status
waits_end_threads(struct st_waits *w, const struct st_profile *p)
{
	uint64_t end = w->lanes.end_ns;
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i].process == 0 && p->threads.v[i].end_ns > 0 &&
		    (uint64_t)p->threads.v[i].end_ns > end)
			end = (uint64_t)p->threads.v[i].end_ns;
	for (size_t i = 0; i < w->lanes.lanes.n; i++) {
		const struct st_lane *lane = &w->lanes.lanes.v[i];
		struct st_lane_event last = {
		        .pid = lane->pid, .tid = lane->tid, .ns = end, .depth = 1, .returns = true};
		for (size_t k = 0; k < p->threads.n; k++) {
			const struct st_profile_thread *t = &p->threads.v[k];
			/* Other processes began later, at a time that the profile does not say. */
			if (t->process == 0 && p->processes.v[0].pid == lane->pid &&
			    t->tid == lane->tid && t->end_ns > 0)
				last.ns = (uint64_t)t->end_ns;
		}
		if (st_lanes_add(&w->lanes, &last))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
waits_read_all(struct st_waits *w, const struct st_profile *p, struct st_row_reader *rows)
{
	struct st_row_shown row = {.pid = p->processes.n ? p->processes.v[0].pid : 0};
	int more;
	if (waits_begin_process(w, p, &row))
		return ST_FAILED;
	while ((more = st_row_reader_next(rows, &row, &w->damage)) > 0)
		if (waits_add_row(w, p, &row))
			return ST_FAILED;
	if (!more)
		*w->damage.text = 0;
	return waits_end_threads(w, p) || st_lanes_finish(&w->lanes) ? ST_FAILED : ST_OK;
}

st_status
st_waits_read(struct st_waits *w, const struct st_profile *p, struct st_row_reader *rows,
              size_t most, struct st_error *e)
{
	const struct st_profile_table *s = st_row_reader_stream(rows);
	*w = (struct st_waits){.lanes = {.most = most}};
	if (strcmp(s->tool, "locks") || strcmp(s->name, ST_WAITS_STREAM) || s->n_columns != COLUMNS)
		return st_fail(e, ST_EXIT_FAILED,
		               "the rows are those of '%s' of the tool %s, not the waits that "
		               "strobe run -t locks:times records",
		               s->name, s->tool);
	return waits_read_all(w, p, rows)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the waits of threads")
	               : ST_OK;
}

void
st_waits_free(struct st_waits *w)
{
	for (size_t i = 0; i < w->labels.n; i++)
		free(w->labels.v[i].text);
	free(w->labels.v);
	st_hashmap_free(&w->index);
	st_lanes_free(&w->lanes);
}
