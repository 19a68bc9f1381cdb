/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline in tables of a profile. The file may be damaged, so indices are checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blow/tables.h"
#include "blow/timeline.h"
#include "profile/tables.h"

static const char *const kind_names[ST_BLOW_KINDS] = {"other", "blown", "waits"};

/* ---- writing ---- */

static st_status
put_recorded(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[RECORDED_COLUMNS] = {
	        ST_KEY("function", NUMBER), ST_KEY("noise", TEXT),
	        ST_KEY("strength", NUMBER), ST_KEY("indicator", TEXT),
	        ST_KEY("fault", TEXT),      ST_KEY("width_ns", NUMBER),
	        ST_KEY("too_deep", NUMBER), ST_KEY("lost", NUMBER),
	        ST_SUM("total_ns"),         ST_SUM("calls")};
	const struct st_blow_timeline *t = b->timeline;
	struct st_profile_table *out =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_RECORDED,
	                             "the experiment whose calls the timeline has", RECORDED_TOTAL,
	                             RECORDED_COLUMNS, columns);
	const struct st_profile_value row[RECORDED_COLUMNS] = {
	        [RECORDED_FUNCTION] = st_profile_value_number(t->function),
	        [RECORDED_TYPE] = st_profile_value_text(p, st_blow_noise_name(t->noise.type)),
	        [RECORDED_STRENGTH] = st_profile_value_number(t->noise.strength),
	        [RECORDED_INDICATOR] =
	                st_profile_value_text(p, st_profile_textf(p, "%.17g", t->indicator)),
	        [RECORDED_FAULT] = st_profile_value_text(p, st_blow_fault_name(t->fault)),
	        [RECORDED_WIDTH] = st_profile_value_number(t->width_ns),
	        [RECORDED_TOO_DEEP] = st_profile_value_number(t->too_deep),
	        [RECORDED_LOST] = st_profile_value_number(t->lost),
	        [RECORDED_TOTAL] = st_profile_value_number(t->total_ns),
	        [RECORDED_CALLS] = st_profile_value_number(t->calls)};
	return out && !st_profile_table_add_row(out, row) ? ST_OK : ST_FAILED;
}

static st_status
put_slices(const struct st_blow_timeline *t, struct st_profile *p)
{
	static const struct st_profile_column columns[SLICE_COLUMNS] = {
	        ST_KEY("at", NUMBER),    ST_KEY("thread", NUMBER),   ST_KEY("tid", NUMBER),
	        ST_KEY("level", NUMBER), ST_KEY("begin_ns", NUMBER), ST_KEY("function", TEXT),
	        ST_KEY("image", TEXT),   ST_KEY("kind", TEXT),       ST_SUM("ns"),
	        ST_SUM("calls")};
	struct st_profile_table *out =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_TIMELINE,
	                             "calls over time in the experiment with the highest indicator",
	                             SLICE_NS, SLICE_COLUMNS, columns);
	for (size_t i = 0; out && i < t->slices.n; i++) {
		const struct st_blow_slice *s = &t->slices.v[i];
		const struct st_blow_named several = {"", "", ST_BLOW_OTHER};
		const struct st_blow_named *f =
		        s->function == ST_LANE_SEVERAL ? &several : &t->functions.v[s->function];
		const struct st_profile_value row[SLICE_COLUMNS] = {
		        [SLICE_AT] = st_profile_value_number(i),
		        [SLICE_THREAD] = st_profile_value_number(s->thread),
		        [SLICE_TID] = st_profile_value_number((uint64_t)t->threads.v[s->thread]),
		        [SLICE_LEVEL] = st_profile_value_number(s->level),
		        [SLICE_BEGIN] = st_profile_value_number(s->begin_ns),
		        [SLICE_FUNCTION] = st_profile_value_text(p, f->name),
		        [SLICE_IMAGE] = st_profile_value_text(p, f->image),
		        [SLICE_KIND] = st_profile_value_text(p, kind_names[f->kind]),
		        [SLICE_NS] = st_profile_value_number(s->end_ns - s->begin_ns),
		        [SLICE_CALLS] = st_profile_value_number(s->calls)};
		if (st_profile_table_add_row(out, row))
			return ST_FAILED;
	}
	return out ? ST_OK : ST_FAILED;
}

st_status
st_blow_put_timeline(const struct st_blow *b, struct st_profile *p)
{
	if (!b->timeline)
		return ST_OK;
	return put_recorded(b, p) || put_slices(b->timeline, p) ? ST_FAILED : ST_OK;
}

/* ---- reading ---- */

static st_status
read_recorded_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	struct st_blow_timeline *t = b->timeline;
	if (row[RECORDED_FUNCTION].number >= b->functions.n ||
	    !st_blow_noise_named(st_profile_text_of(&row[RECORDED_TYPE]), &t->noise.type) ||
	    !st_blow_fault_named(st_profile_text_of(&row[RECORDED_FAULT]), &t->fault))
		return ST_FAILED;
	t->function = (uint32_t)row[RECORDED_FUNCTION].number;
	t->noise.strength = row[RECORDED_STRENGTH].number;
	t->indicator = strtod(st_profile_text_of(&row[RECORDED_INDICATOR]), NULL);
	t->width_ns = row[RECORDED_WIDTH].number;
	t->too_deep = row[RECORDED_TOO_DEEP].number;
	t->lost = row[RECORDED_LOST].number;
	t->total_ns = row[RECORDED_TOTAL].number;
	t->calls = row[RECORDED_CALLS].number;
	return ST_OK;
}

/* The function of the timeline with that name; ST_LANE_SEVERAL: the name is empty, or memory is
 * exhausted. */
static uint32_t
named_function(struct st_blow_timeline *t, const char *name, const char *image,
               enum st_blow_kind kind)
{
	for (uint32_t i = 0; i < t->functions.n; i++) {
		const struct st_blow_named *f = &t->functions.v[i];
		if (f->kind == kind && !strcmp(f->name, name) && !strcmp(f->image, image))
			return i;
	}
	struct st_blow_named *f = *name ? ST_PUSH(&t->functions) : NULL;
	if (!f)
		return ST_LANE_SEVERAL;
	*f = (struct st_blow_named){name, image, kind};
	return (uint32_t)t->functions.n - 1;
}

static st_status
read_slice_row(void *into, const struct st_profile_value *row)
{
	struct st_blow_timeline *t = ((struct st_blow *)into)->timeline;
	const uint64_t thread = row[SLICE_THREAD].number, level = row[SLICE_LEVEL].number,
	               ns = row[SLICE_NS].number, begin = row[SLICE_BEGIN].number;
	const char *kind = st_profile_text_of(&row[SLICE_KIND]);
	unsigned which = 0;
	while (which < ST_BLOW_KINDS && strcmp(kind_names[which], kind) != 0)
		which++;
	if (thread > t->threads.n || level >= ST_LANE_LEVELS || which == ST_BLOW_KINDS ||
	    begin > INT64_MAX || ns > INT64_MAX)
		return ST_FAILED;
	int64_t *tid = thread == t->threads.n ? ST_PUSH(&t->threads) : &t->threads.v[thread];
	struct st_blow_slice *s = tid ? ST_PUSH(&t->slices) : NULL;
	if (!s)
		return ST_FAILED;
	*tid = (int64_t)row[SLICE_TID].number;
	*s = (struct st_blow_slice){
	        .thread = (uint32_t)thread,
	        .level = (uint32_t)level,
	        .function = named_function(t, st_profile_text_of(&row[SLICE_FUNCTION]),
	                                   st_profile_text_of(&row[SLICE_IMAGE]),
	                                   (enum st_blow_kind)which),
	        .begin_ns = begin,
	        .end_ns = begin + ns,
	        .calls = row[SLICE_CALLS].number};
	return ST_OK;
}

st_status
st_blow_read_timeline(struct st_blow *b, const struct st_profile *p)
{
	const struct st_profile_table *recorded =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_RECORDED, RECORDED_COLUMNS);
	const struct st_profile_table *slices =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_TIMELINE, SLICE_COLUMNS);
	if (!recorded || !slices)
		return ST_OK;
	b->timeline = calloc(1, sizeof *b->timeline);
	if (!b->timeline)
		return ST_FAILED;
	return st_profile_table_read(recorded, b, read_recorded_row) ||
	                       st_profile_table_read_sorted(slices, b, read_slice_row)
	               ? ST_FAILED
	               : ST_OK;
}
