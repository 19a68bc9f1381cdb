/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline of the calls that strobe trace --events recorded, for the page. */
#include <inttypes.h>
#include <string.h>

#include "report/json.h"
#include "report/page.h"
#include "report/page_timeline.h"
#include "rows/rowfile.h"
#include "trace/lanes.h"

/* Columns of the stream `events` of src/tools/calltimes.c. */
enum { THREAD, TIME, EVENT, FUNCTION, DEPTH, COLUMNS };

struct timeline {
	struct st_lanes lanes;
	struct st_hashmap index; /* of functions */
	ST_VEC(struct timeline_function) functions;
};

struct timeline_function {
	uint64_t offset;
	uint32_t image;
	json_t *name; /* a text */
};

static bool
is_timeline_function(const struct timeline_function *f, const struct st_profile_value *v,
                     const char *name)
{
	return f->offset == v->number && f->image == v->image &&
	       !strcmp(json_string_value(f->name), name);
}

/* The number of a function in this timeline; ST_LANE_SEVERAL: no memory. */
static uint32_t
timeline_function_of(struct timeline *t, const struct st_profile_value *v)
{
	char room[24];
	snprintf(room, sizeof room, "0x%" PRIx64, v->number);
	const char *name = v->text ? v->text : room;
	const uint32_t hash = st_hash_numbers(v->number, v->image);
	uint32_t at = ST_HASHMAP_FIND(&t->index, hash, i,
	                              is_timeline_function(&t->functions.v[i], v, name));
	if (at != ST_HASHMAP_NONE)
		return at;
	json_t *text = st_json_text(name);
	struct timeline_function *new = text ? ST_PUSH(&t->functions) : NULL;
	if (!new) {
		json_decref(text);
		return ST_LANE_SEVERAL;
	}
	*new = (struct timeline_function){v->number, v->image, text};
	at = (uint32_t)t->functions.n - 1;
	return st_hashmap_add(&t->index, hash, at) ? ST_LANE_SEVERAL : at;
}

static st_status
timeline_add_row(struct timeline *t, const struct st_row_shown *row)
{
	const char *kind = row->values[EVENT].text;
	const struct st_lane_event event = {
	        .pid = row->pid,
	        .tid = (int64_t)row->values[THREAD].number,
	        .ns = row->values[TIME].number + row->start_ns,
	        .depth = row->values[DEPTH].number,
	        .function = timeline_function_of(t, &row->values[FUNCTION]),
	        .returns = kind && !strcmp(kind, "return"),
	};
	return event.function == ST_LANE_SEVERAL ? ST_FAILED : st_lanes_add(&t->lanes, &event);
}

/* ---- as JSON ---- */

/* Of each slice four numbers: from the end of the one before to its begin, its duration, its
 * function (-1: of several), its calls. */
static json_t *
timeline_row_json(const struct st_lane_row *row)
{
	json_t *out = json_array();
	uint64_t end = 0;
	int bad = !out;
	for (size_t i = 0; i < row->slices.n && !bad; i++) {
		const struct st_lane_slice *s = &row->slices.v[i];
		bad = json_array_append_new(out, st_json_count(s->begin_ns - end));
		bad |= json_array_append_new(out, st_json_count(s->end_ns - s->begin_ns));
		bad |= json_array_append_new(out, json_integer(s->function == ST_LANE_SEVERAL
		                                                       ? -1
		                                                       : (json_int_t)s->function));
		bad |= json_array_append_new(out, st_json_count(s->calls));
		end = s->end_ns;
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
page_timeline_lane_json(const struct st_profile *p, const struct st_lane *lane)
{
	const char *name = st_lane_thread_name(lane, p);
	json_t *rows = json_array();
	int bad = !rows;
	for (size_t i = 0; i < lane->rows.n && !bad; i++)
		bad = json_array_append_new(rows, timeline_row_json(&lane->rows.v[i]));
	if (!bad)
		return json_pack("{s:I, s:I, s:o, s:o}", "pid", (json_int_t)lane->pid, "tid",
		                 (json_int_t)lane->tid, "name", st_json_text(name ? name : ""),
		                 "rows", rows);
	json_decref(rows);
	return NULL;
}

static json_t *
timeline_functions_json(const struct timeline *t, const struct st_profile *rows)
{
	json_t *out = json_array();
	int bad = !out;
	for (size_t i = 0; i < t->functions.n && !bad; i++) {
		const struct timeline_function *f = &t->functions.v[i];
		json_t *image = f->image < rows->images.n
		                        ? st_json_text(rows->images.v[f->image].path)
		                        : json_null();
		bad = json_array_append_new(
		        out, json_pack("{s:O, s:o}", "name", f->name, "image", image));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* Slices that are of more calls than one, and all their calls. */
static void
count_merged(const struct st_lanes *l, uint64_t *slices, uint64_t *calls)
{
	*slices = *calls = 0;
	for (size_t i = 0; i < l->lanes.n; i++)
		for (size_t k = 0; k < l->lanes.v[i].rows.n; k++) {
			const struct st_lane_row *row = &l->lanes.v[i].rows.v[k];
			for (size_t s = 0; s < row->slices.n; s++) {
				*slices += row->slices.v[s].calls > 1;
				*calls += row->slices.v[s].calls > 1 ? row->slices.v[s].calls : 0;
			}
		}
}

json_t *
st_timeline_json(const struct st_lanes *l, const struct st_profile *p, json_t *functions)
{
	uint64_t merged_slices, merged_calls;
	json_t *lanes = json_array(), *out = json_object();
	int bad = !lanes;
	count_merged(l, &merged_slices, &merged_calls);
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
	        {"events", l->events},          {"calls", l->calls},
	        {"begin_ns", l->begin_ns},      {"end_ns", l->end_ns},
	        {"too_deep", l->too_deep},      {"width_ns", l->width_ns},
	        {"merged_calls", merged_calls}, {"merged_slices", merged_slices},
	};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		bad |= json_object_set_new(out, numbers[i].key, st_json_count(numbers[i].value));
	bad |= json_object_set_new(out, "too_many", json_boolean(l->too_many));
	bad |= json_object_set_new(out, "functions", functions);
	for (size_t i = 0; i < l->lanes.n && !l->too_many && !bad; i++)
		bad = json_array_append_new(lanes, page_timeline_lane_json(p, &l->lanes.v[i]));
	bad |= json_object_set_new(out, "lanes", lanes);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* ---- from the file of rows ---- */

static st_status
check_events(const struct st_profile_table *s, struct st_error *e)
{
	if (!strcmp(s->tool, "calltimes") && !strcmp(s->name, "events") && s->n_columns == COLUMNS)
		return ST_OK;
	return st_fail(
	        e, ST_EXIT_FAILED,
	        "the rows are those of '%s' of the tool %s, not the entries and returns that "
	        "strobe trace --events records",
	        s->name, s->tool);
}

/* A file may end too early: what it has until there is shown, and why there is no more. */
static int
read_timeline(struct timeline *t, struct st_row_reader *rows, struct st_error *damage)
{
	struct st_row_shown row;
	int more;
	*damage = (struct st_error){0};
	while ((more = st_row_reader_next(rows, &row, damage)) > 0)
		if (timeline_add_row(t, &row))
			return -1;
	if (!more)
		*damage->text = 0;
	return st_lanes_finish(&t->lanes);
}

static void
timeline_free(struct timeline *t)
{
	for (size_t i = 0; i < t->functions.n; i++)
		json_decref(t->functions.v[i].name);
	free(t->functions.v);
	st_hashmap_free(&t->index);
	st_lanes_free(&t->lanes);
}

st_status
st_page_add_timeline(json_t *page, const struct st_profile *p, struct st_row_reader *rows,
                     struct st_error *e)
{
	struct timeline t = {.lanes = {.most = ST_TIMELINE_SLICES}};
	struct st_error damage;
	if (check_events(st_row_reader_stream(rows), e))
		return ST_FAILED;
	int bad = read_timeline(&t, rows, &damage);
	json_t *functions = bad ? NULL : timeline_functions_json(&t, st_row_reader_profile(rows));
	json_t *out = functions ? st_timeline_json(&t.lanes, p, functions) : NULL;
	if (out && *damage.text)
		bad = json_object_set_new(out, "damage", st_json_text(damage.text));
	bad |= json_object_set_new(st_page_last(page), "timeline", out);
	timeline_free(&t);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the timeline") : ST_OK;
}

int
st_page_add_no_timeline(json_t *page, const char *reason)
{
	return json_object_set_new(st_page_last(page), "timeline",
	                           json_pack("{s:o}", "missing", st_json_text(reason)));
}
