/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The declarations of a tool: its counters, tables and streams. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "session/tool.h"
#include "session/toolset.h"

/* The built-in tools are one program: an entry names its source file, which is named as the tool.
 */
struct listed {
	const void *what;
	const char *file;
	uint64_t line, unused;
};
extern const struct listed __start_strobe_counters[], __stop_strobe_counters[];
extern const struct listed __start_strobe_tables[], __stop_strobe_tables[];
extern const struct listed __start_strobe_streams[], __stop_strobe_streams[];

static bool
tool_results_is_of(const struct listed *l, const strobe_tool *tool)
{
	const char *base = strrchr(l->file, '/');
	size_t n = strlen(tool->name);
	base = base ? base + 1 : l->file;
	return !strncmp(base, tool->name, n) && !strcmp(base + n, ".c");
}

static size_t
columns_of(const strobe_column *columns)
{
	size_t n = 0;
	while (n < STROBE_MOST_COLUMNS && columns[n].name)
		n++;
	return n;
}

static void
tool_results_add(struct st_tool_results *r, struct st_tool_result one)
{
	if (r->n < ST_MOST_RESULTS)
		r->list[r->n++] = one;
}

static void
list_builtin(const strobe_tool *tool, struct st_tool_results *r)
{
	for (const struct listed *l = __start_strobe_counters; l != __stop_strobe_counters; l++) {
		const strobe_counter *c = l->what;
		if (tool_results_is_of(l, tool))
			tool_results_add(r, (struct st_tool_result){ST_TOOL_COUNTER, l->line,
			                                            c->name, c->help, NULL, 0});
	}
	for (const struct listed *l = __start_strobe_tables; l != __stop_strobe_tables; l++) {
		const strobe_table *t = l->what;
		if (tool_results_is_of(l, tool))
			tool_results_add(r, (struct st_tool_result){ST_TOOL_TABLE, l->line, t->name,
			                                            t->help, t->columns,
			                                            columns_of(t->columns)});
	}
	for (const struct listed *l = __start_strobe_streams; l != __stop_strobe_streams; l++) {
		const strobe_stream *s = l->what;
		if (tool_results_is_of(l, tool) && !s->consume)
			tool_results_add(r, (struct st_tool_result){ST_TOOL_STREAM, l->line,
			                                            s->name, s->help, s->columns,
			                                            columns_of(s->columns)});
	}
}

/* Compilers leave them in any order. */
static int
by_line(const void *a, const void *b)
{
	const struct st_tool_result *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void
st_tool_list(const strobe_tool *tool, const struct st_tool_file *file, struct st_tool_results *r)
{
	const struct st_tool_result *of_file;
	r->n = 0;
	if (!file)
		list_builtin(tool, r);
	size_t n = file ? st_tool_file_results(file, &of_file) : 0;
	for (size_t i = 0; i < n; i++)
		tool_results_add(r, of_file[i]);
	qsort(r->list, r->n, sizeof *r->list, by_line);
}

struct st_profile_declared *
st_toolset_counters(const struct st_toolset *set, size_t *n)
{
	struct st_tool_results r;
	struct st_profile_declared *list = calloc(ST_MAX_TOOLS * ST_MOST_RESULTS, sizeof *list);
	*n = 0;
	for (uint32_t i = 0; list && i < set->n; i++) {
		st_tool_list(set->about[i], set->files[i], &r);
		for (size_t k = 0; k < r.n && r.list[k].kind == ST_TOOL_COUNTER; k++)
			list[(*n)++] =
			        (struct st_profile_declared){i, r.list[k].name, r.list[k].help};
	}
	return list;
}

static bool
has_key(const struct st_tool_result *r, enum st_shape_of_value shape)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (r->columns[i].role == STROBE_IS_KEY &&
		    st_profile_shape(r->columns[i].type) == shape)
			return true;
	return false;
}

bool
st_toolset_shows(const struct st_toolset *set, enum st_shape_of_value shape)
{
	struct st_tool_results r;
	for (size_t i = 0; i < set->n; i++) {
		st_tool_list(set->about[i], set->files[i], &r);
		for (size_t k = 0; k < r.n; k++)
			if (r.list[k].kind == ST_TOOL_TABLE && has_key(&r.list[k], shape))
				return true;
	}
	return false;
}
