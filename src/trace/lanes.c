/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/lanes.h"

#include <stdlib.h>

/* ---- merging ---- */

/* Makes one of two neighbours if they are near enough to each other. */
static bool
merge_slice(struct st_lane_slice *into, const struct st_lane_slice *next, uint64_t width)
{
	if (!width || next->end_ns - into->begin_ns > width)
		return false;
	into->end_ns = next->end_ns;
	into->calls += next->calls;
	if (into->function != next->function)
		into->function = ST_LANE_SEVERAL;
	return true;
}

static size_t
merge_row(struct st_lane_row *row, uint64_t width)
{
	struct st_lane_slice *v = row->slices.v;
	size_t n = 0;
	for (size_t i = 0; i < row->slices.n; i++)
		if (!n || !merge_slice(&v[n - 1], &v[i], width))
			v[n++] = v[i];
	row->slices.n = n;
	return n;
}

static void
drop_slices(struct st_lanes *l)
{
	for (size_t i = 0; i < l->lanes.n; i++)
		for (size_t k = 0; k < l->lanes.v[i].rows.n; k++) {
			free(l->lanes.v[i].rows.v[k].slices.v);
			l->lanes.v[i].rows.v[k] = (struct st_lane_row){0};
		}
	l->slices = 0;
}

/* Down to as many as are wanted. Where one slice for all of a row is still too many, there are
 * more rows than anybody could look at. */
static void
merge_slices(struct st_lanes *l)
{
	while (l->slices > l->most && l->width_ns <= l->end_ns - l->begin_ns) {
		l->width_ns = l->width_ns ? 2 * l->width_ns : 1;
		l->slices = 0;
		for (size_t i = 0; i < l->lanes.n; i++)
			for (size_t k = 0; k < l->lanes.v[i].rows.n; k++)
				l->slices += merge_row(&l->lanes.v[i].rows.v[k], l->width_ns);
	}
	if (l->slices > l->most) {
		l->too_many = true;
		drop_slices(l);
	}
}

/* ---- events ---- */

static uint32_t
lane_hash(int64_t pid, int64_t tid)
{
	return st_hash_numbers((uint64_t)pid, (uint64_t)tid);
}

struct st_lane *
st_lanes_find(const struct st_lanes *l, int64_t pid, int64_t tid)
{
	const uint32_t at = ST_HASHMAP_FIND(&l->index, lane_hash(pid, tid), i,
	                                    l->lanes.v[i].pid == pid && l->lanes.v[i].tid == tid);
	return at == ST_HASHMAP_NONE ? NULL : &l->lanes.v[at];
}

static struct st_lane *
lane_of(struct st_lanes *l, int64_t pid, int64_t tid)
{
	struct st_lane *known = st_lanes_find(l, pid, tid);
	if (known)
		return known;
	const uint32_t hash = lane_hash(pid, tid);
	struct st_lane *new = ST_PUSH(&l->lanes);
	if (!new || st_hashmap_add(&l->index, hash, (uint32_t)l->lanes.n - 1))
		return NULL;
	*new = (struct st_lane){.pid = pid, .tid = tid};
	return new;
}

static st_status
add_slice(struct st_lanes *l, struct st_lane *lane, size_t level, const struct st_lane_slice *slice)
{
	if (l->too_many)
		return ST_OK;
	while (lane->rows.n <= level)
		if (!ST_PUSH(&lane->rows))
			return ST_FAILED;
	struct st_lane_row *row = &lane->rows.v[level];
	if (row->slices.n && merge_slice(&row->slices.v[row->slices.n - 1], slice, l->width_ns))
		return ST_OK;
	struct st_lane_slice *slot = ST_PUSH(&row->slices);
	if (!slot)
		return ST_FAILED;
	*slot = *slice;
	if (++l->slices > 2 * l->most)
		merge_slices(l);
	return ST_OK;
}

/* Ends the calls of at least this depth, the innermost first. */
static st_status
end_calls(struct st_lanes *l, struct st_lane *lane, uint64_t depth, uint64_t ns)
{
	while (lane->open.n && lane->open.v[lane->open.n - 1].depth >= depth) {
		const size_t level = --lane->open.n;
		const struct st_lane_call *call = &lane->open.v[level];
		const struct st_lane_slice slice = {call->begin_ns, ns, 1, call->function};
		if (level < ST_LANE_LEVELS && add_slice(l, lane, level, &slice))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_lanes_add(struct st_lanes *l, const struct st_lane_event *v)
{
	struct st_lane *lane = lane_of(l, v->pid, v->tid);
	if (!lane)
		return ST_FAILED;
	/* A thread's time does not run backwards, whatever a damaged file says. */
	const uint64_t ns = v->ns > lane->last_ns ? v->ns : lane->last_ns;
	l->begin_ns = !l->events++ || ns < l->begin_ns ? ns : l->begin_ns;
	l->end_ns = ns > l->end_ns ? ns : l->end_ns;
	lane->last_ns = ns;
	/* Activations that are deeper, or as deep at an entry, were left without a return. */
	if (end_calls(l, lane, v->depth, ns))
		return ST_FAILED;
	if (v->returns)
		return ST_OK;
	struct st_lane_call *call = ST_PUSH(&lane->open);
	if (!call)
		return ST_FAILED;
	*call = (struct st_lane_call){ns, v->depth, v->function};
	l->calls++;
	l->too_deep += lane->open.n > ST_LANE_LEVELS;
	return ST_OK;
}

st_status
st_lanes_finish(struct st_lanes *l)
{
	for (size_t i = 0; i < l->lanes.n; i++)
		if (end_calls(l, &l->lanes.v[i], 0, l->lanes.v[i].last_ns))
			return ST_FAILED;
	if (l->slices > l->most)
		merge_slices(l);
	return ST_OK;
}

const char *
st_lane_thread_name(const struct st_lane *lane, const struct st_profile *p)
{
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct st_profile_thread *t = &p->threads.v[i];
		if (t->tid == lane->tid && t->process < p->processes.n &&
		    p->processes.v[t->process].pid == lane->pid)
			return t->name;
	}
	return NULL;
}

void
st_lanes_free(struct st_lanes *l)
{
	for (size_t i = 0; i < l->lanes.n; i++) {
		for (size_t k = 0; k < l->lanes.v[i].rows.n; k++)
			free(l->lanes.v[i].rows.v[k].slices.v);
		free(l->lanes.v[i].rows.v);
		free(l->lanes.v[i].open.v);
	}
	free(l->lanes.v);
	st_hashmap_free(&l->index);
	*l = (struct st_lanes){0};
}
