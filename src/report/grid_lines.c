/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of source lines, the hottest first, with the text of each where its file is found. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "report/grid.h"
#include "report/source.h"

struct line_file {
	const char *path; /* of the profile */
	struct st_source source;
};

/* The data of the table that the profile does not have. */
struct line_rows {
	uint32_t *order; /* of the profile's lines */
	ST_VEC(struct line_file)
	files; /* those that were read: each when its first text is shown */
	struct st_hashmap by_path;
};

#define LINE_COLUMNS(C)                                                                            \
	C(PERCENT, "percent", true)                                                                \
	C(SAMPLES, "samples", true)                                                                \
	C(EXECUTIONS, "executions", true)                                                          \
	C(INSTRUCTIONS, "instructions", true)                                                      \
	C(LINE, "line", true)                                                                      \
	C(FILE, "file", false)                                                                     \
	C(FUNCTION, "function", false)                                                             \
	C(TEXT, "text", false)

enum {
#define C(id, name, number) LINES_##id,
	LINE_COLUMNS(C)
#undef C
};

static uint32_t
path_hash(const char *path)
{
	uint32_t hash = 2166136261u;
	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return hash;
}

/* A file that cannot be read is kept without lines. NULL: no memory. */
static const struct st_source *
line_source(struct line_rows *rows, const char *path)
{
	const uint32_t hash = path_hash(path);
	uint32_t i =
	        ST_HASHMAP_FIND(&rows->by_path, hash, at, !strcmp(rows->files.v[at].path, path));
	if (i != ST_HASHMAP_NONE)
		return &rows->files.v[i].source;
	struct line_file *file = ST_PUSH(&rows->files);
	if (!file)
		return NULL;
	*file = (struct line_file){.path = path};
	(void)st_source_read(&file->source, path, ST_SOURCE_FOR_READER);
	if (st_hashmap_add(&rows->by_path, hash, (uint32_t)rows->files.n - 1)) {
		st_source_free(&file->source);
		rows->files.n--;
		return NULL;
	}
	return &file->source;
}

/* Without its indentation; NULL: its file cannot be read, or is shorter by now. */
static const char *
line_text(const struct st_grid *g, const struct st_profile_line *l)
{
	const struct st_source *s = line_source(g->owned, l->file);
	if (!s || !l->line || l->line > s->lines.n)
		return NULL;
	const char *text = s->lines.v[l->line - 1];
	return text + strspn(text, " \t\f");
}

static void
lines_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
           struct st_grid_cell *out)
{
	const struct st_profile *p = g->profile;
	const struct line_rows *rows = g->owned;
	const struct st_profile_line *l = &p->lines.v[rows->order[row]];
	*out = (struct st_grid_cell){.kind = ST_GRID_COUNT};
	switch (c->of) {
	case LINES_PERCENT:
		out->kind = ST_GRID_REAL;
		out->real = 100 * st_profile_line_share(p, l);
		return;
	case LINES_SAMPLES:
		out->number = l->samples;
		return;
	case LINES_EXECUTIONS:
		out->number = l->executions;
		return;
	case LINES_INSTRUCTIONS:
		out->number = l->instructions;
		return;
	case LINES_LINE:
		out->number = l->line;
		return;
	case LINES_FILE:
		out->text = l->file;
		break;
	case LINES_FUNCTION:
		out->text = p->functions.v[l->function].name;
		break;
	case LINES_TEXT:
		out->text = line_text(g, l);
		break;
	}
	out->kind = out->text ? ST_GRID_TEXT : ST_GRID_NULL;
}

/* For people: a share has two digits, and what is a tab in the source is one blank. */
static char *
lines_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	struct st_grid_cell cell;
	char *text = NULL;
	lines_cell(g, row, c, &cell);
	if (cell.kind == ST_GRID_REAL)
		return asprintf(&text, "%.2f", cell.real) < 0 ? NULL : text;
	if (c->of == LINES_LINE) /* which is no number of things */
		return asprintf(&text, "%" PRIu64, cell.number) < 0 ? NULL : text;
	text = st_grid_plain(&cell);
	for (char *at = text; at && *at; at++)
		if (*at == '\t' || (*at == '\r' && !at[1]))
			*at = *at == '\t' ? ' ' : 0;
	return text;
}

static void
lines_release(void *owned)
{
	struct line_rows *rows = owned;
	for (size_t i = 0; i < rows->files.n; i++)
		st_source_free(&rows->files.v[i].source);
	free(rows->files.v);
	st_hashmap_free(&rows->by_path);
	free(rows->order);
	free(rows);
}

st_status
st_grid_of_lines(struct st_grid *g, const struct st_profile *p)
{
	const struct st_report by_heat = {.profile = p, .sort = ST_SORT_TIME};
	struct line_rows *rows = calloc(1, sizeof *rows);
	if (!rows)
		return ST_FAILED;
	g->owned = rows;
	g->release = lines_release;
	g->rows = p->lines.n;
	g->cell = lines_cell;
	g->text = lines_text;
	rows->order = st_report_line_order(&by_heat);
	bool bad = !rows->order;
#define C(id, name, number) bad |= !st_grid_add(g, name, number, LINES_##id);
	LINE_COLUMNS(C)
#undef C
	return bad ? ST_FAILED : ST_OK;
}
