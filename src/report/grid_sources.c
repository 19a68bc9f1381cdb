/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of tools, and those of functions, images, threads and processes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/fields.h"
#include "report/grid.h"

/* Of a column of lines: file and line together, which data has apart. */
enum { WHOLE_LINE = ST_COLUMN_FIELDS };

static const struct st_profile_value *
value_at(const struct st_profile_table *t, size_t row, size_t column)
{
	size_t n = st_profile_rows(t);
	if (row < n)
		return &t->values.v[row * t->n_columns + column];
	return column < t->n_keys ? NULL : &t->others[column];
}

static void
table_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
           struct st_grid_cell *out)
{
	const struct st_profile_table *t = g->of;
	const struct st_profile_column *column = &t->columns[c->of];
	const struct st_profile_value *v = value_at(t, row, c->of);
	struct st_field fields[ST_COLUMN_FIELDS];
	*out = (struct st_grid_cell){0};
	if (!v)
		return;
	if (c->part == WHOLE_LINE) {
		*out = (struct st_grid_cell){ST_GRID_TEXT, v->number, 0, v->text};
		return;
	}
	(void)st_fields(g->profile, column, c->of == st_first_address(t->columns, t->n_columns), v,
	                fields);
	const struct st_field *f = &fields[c->part];
	out->number = f->kind == ST_FIELD_TEXT || f->kind == ST_FIELD_NULL ? v->number : f->number;
	if (column->type == STROBE_HEX)
		out->kind = ST_GRID_HEX;
	else if (f->kind == ST_FIELD_NUMBER)
		*out = (struct st_grid_cell){ST_GRID_COUNT, f->number, 0, v->text};
	else if (f->kind == ST_FIELD_SIGNED)
		out->kind = ST_GRID_SIGNED;
	else if (f->kind == ST_FIELD_TEXT)
		*out = (struct st_grid_cell){ST_GRID_TEXT, v->number, 0, f->text};
}

static char *
table_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	const struct st_profile_table *t = g->of;
	const struct st_profile_value *v = value_at(t, row, c->of);
	if (!v)
		return strdup(c->of + 1 == t->n_keys && c->position ? "(others)" : "");
	if (c->position)
		return st_value_text(g->profile, &t->columns[c->of], v);
	struct st_grid_cell cell;
	table_cell(g, row, c, &cell);
	return st_grid_plain(&cell);
}

/* Counts come before their keys, because the last key may be long. */
static size_t
shown_position(const struct st_profile_table *t, size_t c)
{
	return c < t->n_keys ? t->n_columns - t->n_keys + c + 1 : c - t->n_keys + 1;
}

static st_status
add_table_column(struct st_grid *g, const struct st_profile_table *t, size_t c)
{
	const struct st_profile_column *column = &t->columns[c];
	const bool first = c == st_first_address(t->columns, t->n_columns);
	const enum st_shape_of_value shape = st_profile_shape(column->type);
	const bool line = shape == ST_VALUE_LINE;
	struct st_profile_value none = {.image = UINT32_MAX, .function = UINT32_MAX, .text = ""};
	struct st_field fields[ST_COLUMN_FIELDS];
	size_t n = st_fields(g->profile, column, first, &none, fields);
	for (size_t i = 0; i < n + line; i++) {
		const bool whole = i == n;
		const bool number =
		        !whole &&
		        (column->type == STROBE_HEX || strstr(fields[i].name, "_offset") != NULL ||
		         (line && i == 1) || (i == 0 && shape == ST_VALUE_NUMBER));
		struct st_grid_column *out =
		        st_grid_add(g, whole ? column->name : fields[i].name, number, c);
		if (!out)
			return ST_FAILED;
		out->part = whole ? WHOLE_LINE : i;
		out->data = !whole;
		out->position = whole || (i == 0 && !line) ? shown_position(t, c) : 0;
		if (out->position)
			out->left = column->role == STROBE_IS_KEY && shape != ST_VALUE_NUMBER;
	}
	return ST_OK;
}

st_status
st_grid_of_table(struct st_grid *g, const struct st_profile *p, const struct st_profile_table *t)
{
	g->profile = p;
	g->of = t;
	g->name = t->name;
	g->help = t->help;
	g->rows = st_profile_rows(t) + t->has_others;
	g->others = t->has_others;
	g->cell = table_cell;
	g->text = table_text;
	for (size_t c = 0; c < t->n_columns; c++)
		if (add_table_column(g, t, c))
			return ST_FAILED;
	return ST_OK;
}

static void
set_grid_count(struct st_grid_cell *out, uint64_t value)
{
	*out = (struct st_grid_cell){.kind = ST_GRID_COUNT, .number = value};
}

static void
set_grid_text(struct st_grid_cell *out, const char *text)
{
	*out = (struct st_grid_cell){.kind = text ? ST_GRID_TEXT : ST_GRID_NULL, .text = text};
}

static const char *
path_of_image(const struct st_profile *p, uint32_t image)
{
	return image < p->images.n ? p->images.v[image].path : NULL;
}

/* The columns of a built-in table: C(identifier, "name", is a number, how it is set). */
#define FUNCTION_COLUMNS(C)                                                                        \
	C(F_SAMPLES, "samples", true, set_grid_count(out, f->samples))                             \
	C(F_TOTAL, "samples_total", true, set_grid_count(out, f->samples_total))                   \
	C(F_INSTRUCTIONS, "instructions", true, set_grid_count(out, f->instructions))              \
	C(F_CALLS, "calls", true, set_grid_count(out, f->calls))                                   \
	C(F_EXECUTIONS, "executions", true, set_grid_count(out, f->executions))                    \
	C(F_KERNEL, "samples_kernel", true, set_grid_count(out, f->samples_kernel))                \
	C(F_LINE, "line", true, f->line ? set_grid_count(out, f->line) : set_grid_text(out, NULL)) \
	C(F_FILE, "file", false, set_grid_text(out, f->file))                                      \
	C(F_OFFSET, "offset", true, set_grid_count(out, f->offset))                                \
	C(F_IMAGE, "image", false, set_grid_text(out, path_of_image(g->profile, f->image)))        \
	C(F_NAME, "function", false, set_grid_text(out, f->name))
#define IMAGE_COLUMNS(C)                                                                           \
	C(I_SAMPLES, "samples", true, set_grid_count(out, m->samples))                             \
	C(I_EXECUTIONS, "executions", true, set_grid_count(out, m->executions))                    \
	C(I_INSTRUCTIONS, "instructions", true, set_grid_count(out, m->instructions))              \
	C(I_SYMBOLS, "symbols", false, set_grid_text(out, m->symbols))                             \
	C(I_BUILD_ID, "build_id", false, set_grid_text(out, m->build_id))                          \
	C(I_PATH, "image", false, set_grid_text(out, m->path))
#define THREAD_COLUMNS(C)                                                                          \
	C(T_SAMPLES, "samples", true, set_grid_count(out, t->samples))                             \
	C(T_TID, "tid", true, set_grid_count(out, (uint64_t)t->tid))                               \
	C(T_BEGIN, "begin_ns", true, set_grid_count(out, (uint64_t)t->begin_ns))                   \
	C(T_END, "end_ns", true,                                                                   \
	  t->end_ns < 0 ? set_grid_text(out, NULL) : set_grid_count(out, (uint64_t)t->end_ns))     \
	C(T_NAME, "thread", false, set_grid_text(out, t->name))
/* A process that ended before its first instruction has no time. */
#define PROCESS_COLUMNS(C)                                                                         \
	C(P_TIME, "wall_ns", true,                                                                 \
	  o->wall_ns < 0 ? set_grid_text(out, NULL) : set_grid_count(out, (uint64_t)o->wall_ns))   \
	C(P_EXECUTIONS, "executions", true, set_grid_count(out, o->executions))                    \
	C(P_INSTRUCTIONS, "instructions", true, set_grid_count(out, o->instructions))              \
	C(P_PPID, "ppid", true, set_grid_count(out, (uint64_t)o->ppid))                            \
	C(P_PID, "pid", true, set_grid_count(out, (uint64_t)o->pid))                               \
	C(P_STATE, "state", false, set_grid_text(out, st_profile_state_name(o->state)))            \
	C(P_COMMAND, "command", false, set_grid_text(out, o->command))

enum {
#define C(id, name, number, set) id,
	FUNCTION_COLUMNS(C) FUNCTION_COLUMN_COUNT
};
enum { IMAGE_COLUMNS(C) IMAGE_COLUMN_COUNT };
enum { PROCESS_COLUMNS(C) PROCESS_COLUMN_COUNT };
enum {
	THREAD_COLUMNS(C) THREAD_COLUMN_COUNT
#undef C
};

#define C(id, name, number, set)                                                                   \
	case id:                                                                                   \
		set;                                                                               \
		break;

static void
function_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
              struct st_grid_cell *out)
{
	const struct st_profile_function *f = &g->profile->functions.v[row];
	switch (c->of) {
		FUNCTION_COLUMNS(C)
	}
}

static void
image_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
           struct st_grid_cell *out)
{
	const struct st_profile_image *m = &g->profile->images.v[row];
	switch (c->of) {
		IMAGE_COLUMNS(C)
	}
}

static void
thread_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
            struct st_grid_cell *out)
{
	const struct st_profile_thread *t = &g->profile->threads.v[row];
	switch (c->of) {
		THREAD_COLUMNS(C)
	}
}

static void
process_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
             struct st_grid_cell *out)
{
	const struct st_profile_process *o = &g->profile->processes.v[row];
	switch (c->of) {
		PROCESS_COLUMNS(C)
	}
}

/* For people, IDs have no commas, and times have a unit. */
static char *
id_or_time_text(const struct st_grid_cell *cell, const struct st_grid_column *c, bool id)
{
	char number[ST_NUMBER_SIZE];
	if (id)
		return st_text_of("%" PRId64, (int64_t)cell->number);
	if (c->timed && cell->kind == ST_GRID_COUNT)
		return st_text_of("%s", st_duration(number, (int64_t)cell->number));
	return st_grid_plain(cell);
}

static char *
thread_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	struct st_grid_cell cell = {0};
	thread_cell(g, row, c, &cell);
	return id_or_time_text(&cell, c, c->of == T_TID);
}

static char *
process_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	struct st_grid_cell cell = {0};
	process_cell(g, row, c, &cell);
	return id_or_time_text(&cell, c, c->of == P_PID || c->of == P_PPID);
}
#undef C

/* Of threads and processes: the columns whose names end with their unit. */
static void
mark_times(struct st_grid *g)
{
	for (size_t i = 0; i < g->columns.n; i++) {
		struct st_grid_column *c = &g->columns.v[i];
		const size_t length = strlen(c->name);
		c->timed = length > 3 && !strcmp(c->name + length - 3, "_ns");
	}
}

#define C(id, name, number, set) bad |= !st_grid_add(g, name, number, id);

st_status
st_grid_of_functions(struct st_grid *g, const struct st_profile *p)
{
	bool bad = false;
	g->rows = p->functions.n;
	g->cell = function_cell;
	FUNCTION_COLUMNS(C)
	return bad ? ST_FAILED : ST_OK;
}

st_status
st_grid_of_images(struct st_grid *g, const struct st_profile *p)
{
	bool bad = false;
	g->rows = p->images.n;
	g->cell = image_cell;
	IMAGE_COLUMNS(C)
	return bad ? ST_FAILED : ST_OK;
}

st_status
st_grid_of_threads(struct st_grid *g, const struct st_profile *p)
{
	bool bad = false;
	g->rows = p->threads.n;
	g->cell = thread_cell;
	g->text = thread_text;
	THREAD_COLUMNS(C)
	mark_times(g);
	return bad ? ST_FAILED : ST_OK;
}

st_status
st_grid_of_processes(struct st_grid *g, const struct st_profile *p)
{
	bool bad = false;
	g->rows = p->processes.n;
	g->cell = process_cell;
	g->text = process_text;
	PROCESS_COLUMNS(C)
	mark_times(g);
	return bad ? ST_FAILED : ST_OK;
}
#undef C
