/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of the tool alloc. It leaves frames with numbers of its own and the addresses of
 * calls; here these become functions with their lines, and functions that were inlined get frames,
 * too: the tables that strobe mem has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collect/collect.h"
#include "profile/allocations.h"

/* Columns of the tool's own tables. */
enum { RAW_FRAME, RAW_PARENT, RAW_CALL, RAW_FRAME_COLUMNS = 4 };
enum { RAW_CONTEXT, RAW_CONTEXT_COLUMNS = 9 };
enum { MOST_INLINED_CALLS = 16, ALLOC_DEEPEST = 1024 };

/* A frame of the tool. */
struct alloc_raw {
	uint64_t number, parent;
	struct st_profile_value call;
	uint64_t bytes; /* allocated by it, if it is an allocation function */
	uint32_t frame; /* 1 + the innermost of its frames; 0: none yet */
	bool allocates, entered;
};

struct alloc_stacks {
	struct st_collect *c;
	ST_VEC(struct alloc_raw) raw; /* ordered by their numbers */
	struct st_profile_table frames, contexts;
	uint32_t unknown; /* 1 + the frame in place of callers that are not known; 0: none yet */
};

static int
alloc_raw_order(const void *a, const void *b)
{
	const struct alloc_raw *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static struct alloc_raw *
alloc_raw_at(struct alloc_stacks *s, uint64_t number)
{
	const struct alloc_raw key = {.number = number};
	return s->raw.n ? bsearch(&key, s->raw.v, s->raw.n, sizeof key, alloc_raw_order) : NULL;
}

static st_status
alloc_take_raw(void *into, const struct st_profile_value *row)
{
	struct alloc_stacks *s = into;
	struct alloc_raw *raw = ST_PUSH(&s->raw);
	if (!raw)
		return ST_FAILED;
	*raw = (struct alloc_raw){.number = row[RAW_FRAME].number,
	                          .parent = row[RAW_PARENT].number,
	                          .call = row[RAW_CALL]};
	return ST_OK;
}

static st_status
alloc_take_leaf(void *into, const struct st_profile_value *row)
{
	struct alloc_raw *raw = alloc_raw_at(into, row[RAW_CONTEXT].number);
	if (!raw)
		return ST_OK;
	raw->allocates = true;
	raw->bytes = row[CONTEXT_BYTES - 1].number;
	return ST_OK;
}

/* ---- frames ---- */

static struct st_profile_value
alloc_text(struct st_collect *c, const char *text)
{
	return (struct st_profile_value){0, st_collect_intern(c, text ? text : ""), UINT32_MAX,
	                                 UINT32_MAX};
}

/* *frame: 1 + its number. */
static st_status
alloc_add_frame(struct alloc_stacks *s, uint32_t parent, const struct st_profile_value *call,
                const char *function, const struct st_line *line, bool inlined, uint64_t bytes,
                uint32_t *frame)
{
	const struct st_profile *p = s->c->profile;
	const uint32_t n = (uint32_t)(s->frames.values.n / FRAME_COLUMNS);
	const struct st_profile_value row[FRAME_COLUMNS] = {
	        [FRAME_AT] = st_profile_value_number(n),
	        [FRAME_PARENT] = st_profile_value_number(parent ? parent - 1 : ST_FRAME_OUTERMOST),
	        [FRAME_FUNCTION] = alloc_text(s->c, function),
	        [FRAME_IMAGE] = alloc_text(
	                s->c, call->image < p->images.n ? p->images.v[call->image].path : ""),
	        [FRAME_OFFSET] = st_profile_value_number(call->number),
	        [FRAME_FILE] = alloc_text(s->c, line && line->line ? line->file : ""),
	        [FRAME_LINE] = st_profile_value_number(line && line->file ? line->line : 0),
	        [FRAME_INLINED] = st_profile_value_number(inlined),
	        [FRAME_BYTES] = st_profile_value_number(bytes)};
	*frame = n + 1;
	return st_profile_table_add_row(&s->frames, row);
}

/* "0x1234", or "libx.so+0x1234". malloc'ed. */
static char *
alloc_nameless(const struct st_profile *p, const struct st_profile_value *call)
{
	if (call->image < p->images.n)
		return st_text_of("%s+0x%" PRIx64, st_base_name(p->images.v[call->image].path),
		                  call->number);
	return st_text_of("0x%" PRIx64, call->number);
}

/* A function, and those inlined into it where the call is, which are its callees. */
static st_status
alloc_add_call(struct alloc_stacks *s, struct alloc_raw *raw, uint32_t parent)
{
	struct st_collect *c = s->c;
	struct st_image *image =
	        raw->call.image < c->opened.n ? c->opened.v[raw->call.image] : NULL;
	struct st_inlined inlined[MOST_INLINED_CALLS];
	struct st_line line = {0};
	const uint64_t offset = raw->call.number;
	const struct st_function *f = image ? st_image_function(image, offset) : NULL;
	const char *known = f ? f->name : raw->call.text;
	size_t n = image && !raw->allocates
	                   ? st_image_inlined(image, offset, inlined, MOST_INLINED_CALLS)
	                   : 0;
	n = n < MOST_INLINED_CALLS ? n : MOST_INLINED_CALLS;
	if (image && !raw->allocates)
		(void)!st_image_line(image, offset, &line);
	char *name = known ? NULL : alloc_nameless(c->profile, &raw->call);
	st_status status = alloc_add_frame(s, parent, &raw->call, known ? known : name,
	                                   n ? &inlined[n - 1].call : &line, false,
	                                   n ? 0 : raw->bytes, &raw->frame);
	for (size_t i = n; i-- > 0 && !status;)
		status = alloc_add_frame(s, raw->frame, &raw->call, inlined[i].name,
		                         i ? &inlined[i - 1].call : &line, true, 0, &raw->frame);
	free(name);
	return status;
}

static st_status
alloc_unknown(struct alloc_stacks *s, uint32_t *frame)
{
	const struct st_profile_value nowhere = {0, NULL, UINT32_MAX, UINT32_MAX};
	if (!s->unknown &&
	    alloc_add_frame(s, 0, &nowhere, ST_FRAME_UNKNOWN_CALLERS, NULL, false, 0, &s->unknown))
		return ST_FAILED;
	*frame = s->unknown;
	return ST_OK;
}

/* The frame and its callers. The numbers come from the program's memory: a circle of them ends
 * where it began. */
static st_status
alloc_frame_of(struct alloc_stacks *s, struct alloc_raw *leaf)
{
	struct alloc_raw *path[ALLOC_DEEPEST];
	struct alloc_raw *at = leaf;
	size_t n = 0;
	uint32_t parent = 0;
	while (at && !at->frame && !at->entered && n < ALLOC_DEEPEST) {
		at->entered = true;
		path[n++] = at;
		at = at->parent ? alloc_raw_at(s, at->parent) : NULL;
	}
	if (at)
		parent = at->frame;
	/* Callers that were not found, found no room in the table, or are a circle. */
	if (!parent && n && path[n - 1]->parent && alloc_unknown(s, &parent))
		return ST_FAILED;
	for (; n-- > 0; parent = path[n]->frame)
		if (alloc_add_call(s, path[n], parent))
			return ST_FAILED;
	return ST_OK;
}

/* ---- contexts ---- */

static st_status
alloc_add_context(void *into, const struct st_profile_value *raw)
{
	struct alloc_stacks *s = into;
	struct alloc_raw *leaf = alloc_raw_at(s, raw[RAW_CONTEXT].number);
	struct st_profile_value row[CONTEXT_COLUMNS];
	uint32_t frame = leaf ? leaf->frame : 0;
	if (!frame && (leaf ? alloc_frame_of(s, leaf) : alloc_unknown(s, &frame)))
		return ST_FAILED;
	row[CONTEXT_AT] = st_profile_value_number((leaf ? leaf->frame : frame) - 1);
	row[CONTEXT_MAPPED] = st_profile_value_number(0);
	memcpy(&row[CONTEXT_CALLS], &raw[1], (RAW_CONTEXT_COLUMNS - 1) * sizeof *row);
	return st_profile_table_add_row(&s->contexts, row);
}

static struct st_profile_table *
alloc_table(struct st_profile *p, const char *name, size_t columns)
{
	/* The function that finds it takes and returns const; this profile is not. */
	return (struct st_profile_table *)(uintptr_t)st_profile_table_find(p, ST_ALLOC_TOOL, name,
	                                                                   columns);
}

/* An empty table in place of another one. */
static struct st_profile_table
alloc_like(const struct st_profile_table *raw, size_t keys, size_t n,
           const struct st_profile_column *columns)
{
	struct st_profile_table t = {.name = raw->name,
	                             .help = raw->help,
	                             .tool = raw->tool,
	                             .n_keys = keys,
	                             .n_columns = n};
	memcpy(t.columns, columns, n * sizeof *columns);
	return t;
}

static st_status
alloc_convert(struct alloc_stacks *s, struct st_profile_table *frames,
              struct st_profile_table *contexts)
{
	static const struct st_profile_column frame_columns[FRAME_COLUMNS] = ST_FRAME_TABLE;
	static const struct st_profile_column context_columns[CONTEXT_COLUMNS] = ST_CONTEXT_TABLE;
	s->frames = alloc_like(frames, FRAME_BYTES, FRAME_COLUMNS, frame_columns);
	s->contexts = alloc_like(contexts, CONTEXT_CALLS, CONTEXT_COLUMNS, context_columns);
	if (st_profile_table_read(frames, s, alloc_take_raw))
		return ST_FAILED;
	if (s->raw.n)
		qsort(s->raw.v, s->raw.n, sizeof *s->raw.v, alloc_raw_order);
	return st_profile_table_read(contexts, s, alloc_take_leaf) ||
	                       st_profile_table_read(contexts, s, alloc_add_context)
	               ? ST_FAILED
	               : ST_OK;
}

/* What was live at the peak is known when the process has ended. */
static void
alloc_note_peak(struct st_profile *p, const struct st_profile_table *contexts)
{
	uint64_t peak = 0, bytes = 0;
	for (size_t i = 0; i < contexts->values.n; i += CONTEXT_COLUMNS) {
		peak += contexts->values.v[i + CONTEXT_PEAK].number;
		bytes += contexts->values.v[i + CONTEXT_BYTES].number;
	}
	if (bytes && !peak)
		st_profile_note(
		        p, "the bytes of each call stack at the peak are not known, because the "
		           "program's end was not seen");
}

st_status
st_collect_alloc(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	struct st_profile_table *frames = alloc_table(p, "frames", RAW_FRAME_COLUMNS),
	                        *contexts = alloc_table(p, "contexts", RAW_CONTEXT_COLUMNS);
	struct alloc_stacks s = {.c = c};
	if (!frames || !contexts)
		return ST_OK;
	st_status status = alloc_convert(&s, frames, contexts);
	free(s.raw.v);
	if (status) {
		free(s.frames.values.v);
		free(s.contexts.values.v);
		return status;
	}
	free(frames->values.v);
	free(contexts->values.v);
	*frames = s.frames;
	*contexts = s.contexts;
	alloc_note_peak(p, contexts);
	return ST_OK;
}
