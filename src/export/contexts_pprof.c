/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as a profile.proto for pprof, not compressed: a sample is a context with what it is
 * worth by itself, a location and a function stand for each label. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/contexts.h"
#include "export/protobuf.h"
#include "report/json.h"

/* Fields of profile.proto, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	LINE_COLUMN = 3,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

/* No field begins like this, so that readers refuse a file that is not complete. */
enum { NO_FIELD = 7 };

/* Texts that stand for themselves, at the beginning of the table of strings. */
#define TEXTS(T)                                                                                   \
	T(NOTHING, "")                                                                             \
	T(ACTIVATIONS, "activations")                                                              \
	T(COUNT, "count")                                                                          \
	T(TIME, "time")                                                                            \
	T(NANOSECONDS, "nanoseconds")                                                              \
	T(INSTRUCTIONS, "instructions")                                                            \
	T(THREAD, "thread")
/* And what is counted, with its unit. */
enum {
#define T(id, text) TEXT_##id,
	TEXTS(T)
#undef T
	        TEXT_COUNTED,
	TEXT_UNIT,
};

/* Parts are written as they are made, in the file's one message. */
struct writer {
	const struct st_contexts *c;
	FILE *out;
	struct st_protobuf file, part, inner;
	uint64_t n_strings;
	bool out_of_memory;
};

static void
write_part(struct writer *w, unsigned field)
{
	st_protobuf_nest(&w->file, field, &w->part);
	w->out_of_memory |= w->file.out_of_memory;
	st_protobuf_flush(&w->file, w->out);
}

/* Its number in the table. */
static uint64_t
add_string(struct writer *w, const char *bytes)
{
	json_t *clean = st_json_text(bytes); /* for its UTF-8 */
	const char *text = clean ? json_string_value(clean) : "";
	st_protobuf_bytes(&w->file, PROFILE_STRING, text, strlen(text));
	w->out_of_memory |= !clean;
	json_decref(clean);
	return w->n_strings++;
}

static void
add_texts(struct writer *w)
{
#define T(id, text) add_string(w, text);
	TEXTS(T)
#undef T
	if (w->c->counted) {
		add_string(w, w->c->counted);
		add_string(w, w->c->unit);
	}
}

/* ---- what is measured ---- */

static void
add_type(struct writer *w, uint64_t type, uint64_t unit)
{
	st_protobuf_number(&w->part, VALUE_TYPE, type);
	st_protobuf_number(&w->part, VALUE_UNIT, unit);
	write_part(w, PROFILE_SAMPLE_TYPE);
}

static void
add_types(struct writer *w)
{
	const struct st_contexts *c = w->c;
	if (c->counted)
		add_type(w, TEXT_COUNTED, TEXT_UNIT);
	else
		add_type(w, TEXT_ACTIVATIONS, TEXT_COUNT);
	if (c->timed)
		add_type(w, TEXT_TIME, TEXT_NANOSECONDS);
	if (c->with_instructions)
		add_type(w, TEXT_INSTRUCTIONS, TEXT_COUNT);
	st_protobuf_number(&w->file, PROFILE_DEFAULT_SAMPLE_TYPE,
	                   c->timed               ? TEXT_TIME
	                   : c->with_instructions ? TEXT_INSTRUCTIONS
	                   : c->counted           ? TEXT_COUNTED
	                                          : TEXT_ACTIVATIONS);
}

/* ---- places ---- */

static void
add_mapping(struct writer *w, uint64_t id, const char *image, uint64_t last)
{
	uint64_t file = add_string(w, image);
	st_protobuf_number(&w->part, MAPPING_ID, id);
	st_protobuf_number(&w->part, MAPPING_LIMIT, last + 1);
	st_protobuf_number(&w->part, MAPPING_FILE, file);
	/* pprof need not look for them. */
	st_protobuf_number(&w->part, MAPPING_HAS_FUNCTIONS, true);
	st_protobuf_number(&w->part, MAPPING_HAS_FILES, true);
	st_protobuf_number(&w->part, MAPPING_HAS_LINES, true);
	write_part(w, PROFILE_MAPPING);
}

/* A location and its function have their label's number, from 1. */
static void
contexts_pprof_add_label(struct writer *w, uint32_t label, uint64_t mapping)
{
	const struct st_context_label *l = &w->c->labels[label];
	const struct st_context_label *f = &w->c->labels[l->function];
	bool is_function = l->function == label;
	if (is_function) {
		uint64_t name = add_string(w, f->name), file = f->file ? add_string(w, f->file) : 0;
		st_protobuf_number(&w->part, FUNCTION_ID, label + 1);
		st_protobuf_number(&w->part, FUNCTION_NAME, name);
		st_protobuf_number(&w->part, FUNCTION_SYSTEM_NAME, name);
		st_protobuf_number(&w->part, FUNCTION_FILE, file);
		st_protobuf_number(&w->part, FUNCTION_LINE, f->line);
		write_part(w, PROFILE_FUNCTION);
	}
	st_protobuf_number(&w->inner, LINE_FUNCTION, l->function + 1);
	st_protobuf_number(&w->inner, LINE_LINE, l->line);
	st_protobuf_number(&w->inner, LINE_COLUMN, l->column);
	st_protobuf_number(&w->part, LOCATION_ID, label + 1);
	st_protobuf_number(&w->part, LOCATION_MAPPING, mapping);
	st_protobuf_number(&w->part, LOCATION_ADDRESS, l->offset);
	st_protobuf_nest(&w->part, LOCATION_LINE, &w->inner);
	write_part(w, PROFILE_LOCATION);
}

/* The last label of the image of a label. Labels are ordered by place: those of one image stand
 * together. */
static uint32_t
contexts_pprof_last(const struct st_contexts *c, uint32_t label)
{
	uint32_t last = label;
	while (last + 1 < c->n_labels && c->labels[last + 1].image == c->labels[label].image)
		last++;
	return last;
}

/* The mapping of the program itself comes first: pprof takes the first one for it. Returns its
 * image; NULL: no label is in it. */
static const char *
contexts_pprof_add_program(struct writer *w)
{
	const struct st_contexts *c = w->c;
	for (uint32_t i = 0; i < c->n_labels; i++) {
		const char *image = c->labels[i].image;
		if (!image || !st_profile_is_program(c->profile, image))
			continue;
		add_mapping(w, 1, image, c->labels[contexts_pprof_last(c, i)].offset);
		return image;
	}
	return NULL;
}

static void
contexts_pprof_add_labels(struct writer *w)
{
	const struct st_contexts *c = w->c;
	const char *program = contexts_pprof_add_program(w);
	uint64_t mapping = 0, made = program != NULL;
	for (uint32_t i = 0; i < c->n_labels; i++) {
		const char *image = c->labels[i].image;
		const bool first = image && (!i || c->labels[i - 1].image != image);
		if (first)
			mapping = image == program ? 1 : ++made;
		if (first && image != program)
			add_mapping(w, mapping, image, c->labels[contexts_pprof_last(c, i)].offset);
		contexts_pprof_add_label(w, i, image ? mapping : 0);
	}
}

/* ---- contexts ---- */

static void
add_sample(struct writer *w, const struct st_context_group *g, const struct st_tree_node *n)
{
	const struct st_tree_node *nodes = g->ksf.nodes;
	const struct st_weight *own = &n->weight;
	for (; n; n = n->parent == ST_NO_NODE ? NULL : &nodes[n->parent])
		st_protobuf_varint(&w->inner, n->label + 1);
	st_protobuf_nest(&w->part, SAMPLE_LOCATION, &w->inner);
	st_protobuf_varint(&w->inner, own->count);
	if (w->c->timed)
		st_protobuf_varint(&w->inner, own->self_ns);
	if (w->c->with_instructions)
		st_protobuf_varint(&w->inner, own->instructions);
	st_protobuf_nest(&w->part, SAMPLE_VALUE, &w->inner);
	if (g->thread != UINT32_MAX) {
		st_protobuf_number(&w->inner, LABEL_KEY, TEXT_THREAD);
		st_protobuf_number(&w->inner, LABEL_NUM, (uint64_t)g->thread + 1);
		st_protobuf_nest(&w->part, SAMPLE_LABEL, &w->inner);
	}
	write_part(w, PROFILE_SAMPLE);
}

static void
contexts_pprof_add_samples(struct writer *w, const struct st_context_group *g)
{
	for (uint32_t i = 0; i < g->ksf.n; i++) {
		const struct st_tree_node *n = &g->ksf.nodes[i];
		if (n->weight.count || n->weight.self_ns || n->weight.instructions)
			add_sample(w, g, n);
	}
}

void
st_contexts_pprof(const struct st_contexts *c, FILE *out)
{
	struct writer w = {.c = c, .out = out};
	const struct st_profile_run *run = &c->profile->run;
	add_texts(&w);
	add_types(&w);
	contexts_pprof_add_labels(&w);
	for (size_t i = 0; i < c->groups.n; i++)
		contexts_pprof_add_samples(&w, &c->groups.v[i]);
	st_protobuf_number(&w.file, PROFILE_TIME_NANOS, (uint64_t)run->start_ns);
	st_protobuf_number(&w.file, PROFILE_DURATION_NANOS, (uint64_t)run->wall_ns);
	st_protobuf_flush(&w.file, out);
	if (w.out_of_memory)
		fputc(NO_FIELD, out);
	st_protobuf_free(&w.file);
	st_protobuf_free(&w.part);
	st_protobuf_free(&w.inner);
}

/* ---- what a context takes ---- */

/* As many bytes as it takes with seven bits in each. */
static void
write_varint(const struct st_contexts *c, uint32_t label, FILE *out)
{
	(void)c;
	for (uint64_t rest = (uint64_t)label + 1; rest >> 7; rest >>= 7)
		fputc(0, out);
}

const struct st_context_cost st_context_cost_pprof = {
        .label = write_varint,
        .node = 24,
        .time = 10,
        .instructions = 10,
        .whole_path = true,
};
