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

static char *
waits_text(const struct st_waits_label *l)
{
	return !l->kind    ? strdup("life of the thread")
	       : l->holder ? st_text_of("%s: %s waits for thread %llu", l->kind, l->function,
	                                (unsigned long long)l->holder)
	                   : st_text_of("%s: %s waits", l->kind, l->function);
}

static bool
waits_same_label(const struct st_waits_label *a, const struct st_waits_label *b)
{
	return a->kind == b->kind && a->function == b->function && a->holder == b->holder;
}

/* The index of the label, which is added if it is new; its text is made then only. The reader of
 * rows has each text once, so pointers are compared. ST_LANE_SEVERAL: no memory. */
static uint32_t
waits_label(struct st_waits *w, const struct st_waits_label *key)
{
	const uint32_t hash =
	        st_hash_numbers((uintptr_t)key->kind + key->holder, (uintptr_t)key->function);
	uint32_t at = ST_HASHMAP_FIND(&w->index, hash, i, waits_same_label(&w->labels.v[i], key));
	if (at != ST_HASHMAP_NONE)
		return at;
	struct st_waits_label *new = ST_PUSH(&w->labels);
	if (!new)
		return ST_LANE_SEVERAL;
	*new = *key;
	new->text = waits_text(key);
	at = (uint32_t)w->labels.n - 1;
	return !new->text || st_hashmap_add(&w->index, hash, at) ? ST_LANE_SEVERAL : at;
}

/* ---- slices ---- */

/* The life of a thread begins. start_ns: of its process. */
static st_status
waits_begin_thread(struct st_waits *w, const struct st_profile_thread *t, int64_t pid,
                   uint64_t start_ns)
{
	const struct st_waits_label life = {0};
	const struct st_lane_event begin = {.pid = pid,
	                                    .tid = t->tid,
	                                    .ns = start_ns + (uint64_t)t->begin_ns,
	                                    .depth = 1,
	                                    .function = waits_label(w, &life)};
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
		    !st_lanes_find(&w->lanes, row->pid, t->tid) &&
		    waits_begin_thread(w, t, row->pid, row->start_ns))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
waits_add_row(struct st_waits *w, const struct st_profile *p, const struct st_row_shown *row)
{
	const struct st_profile_value *v = row->values;
	const struct st_waits_label label = {.kind = v[KIND].text ? v[KIND].text : "",
	                                     .function = v[FUNCTION].text ? v[FUNCTION].text
	                                                                  : "[unknown]",
	                                     .holder = v[HOLDER].number};
	struct st_lane_event wait = {.pid = row->pid,
	                             .tid = (int64_t)v[THREAD].number,
	                             .ns = v[BEGIN].number + row->start_ns,
	                             .depth = 2,
	                             .function = waits_label(w, &label)};
	if (wait.function == ST_LANE_SEVERAL ||
	    (!st_lanes_find(&w->lanes, wait.pid, wait.tid) && waits_begin_process(w, p, row)) ||
	    st_lanes_add(&w->lanes, &wait))
		return ST_FAILED;
	wait.ns += v[TIME].number;
	wait.returns = true;
	return st_lanes_add(&w->lanes, &wait);
}

/* Ends the life of a thread, and a wait that is under way. */
static st_status
waits_end_thread(struct st_waits *w, int64_t pid, int64_t tid, uint64_t ns)
{
	const struct st_lane_event end = {
	        .pid = pid, .tid = tid, .ns = ns, .depth = 1, .returns = true};
	const struct st_lane *lane = st_lanes_find(&w->lanes, pid, tid);
	return lane && lane->open.n ? st_lanes_add(&w->lanes, &end) : ST_OK;
}

/* Ends the life of each thread whose end was seen; that of the others lasts until the end. Other
 * processes began later, at a time that the profile does not say. The kernel may give a number to
 * several threads in turn: their lane ends with the last of them. */
static st_status
waits_end_threads(struct st_waits *w, const struct st_profile *p)
{
	uint64_t end = w->lanes.end_ns;
	for (size_t i = p->processes.n ? p->threads.n : 0; i-- > 0;) {
		const struct st_profile_thread *t = &p->threads.v[i];
		if (t->process != 0 || t->end_ns <= 0)
			continue;
		if ((uint64_t)t->end_ns > end)
			end = (uint64_t)t->end_ns;
		if (waits_end_thread(w, p->processes.v[0].pid, t->tid, (uint64_t)t->end_ns))
			return ST_FAILED;
	}
	for (size_t i = 0; i < w->lanes.lanes.n; i++) {
		const struct st_lane *lane = &w->lanes.lanes.v[i];
		if (waits_end_thread(w, lane->pid, lane->tid, end))
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
