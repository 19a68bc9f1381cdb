/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tool declares: its counters, tables and streams. */
#include <stdlib.h>
#include <string.h>

#include "cli/tools.h"
#include "cli/toolset.h"
#include "profile/profile.h"

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
is_of(const struct listed *l, const strobe_tool *tool)
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
add(struct st_tool_results *r, struct st_tool_result one)
{
	if (r->n < ST_MOST_RESULTS)
		r->list[r->n++] = one;
}

static void
list_builtin(const strobe_tool *tool, struct st_tool_results *r)
{
	for (const struct listed *l = __start_strobe_counters; l != __stop_strobe_counters; l++) {
		const strobe_counter *c = l->what;
		if (is_of(l, tool))
			add(r, (struct st_tool_result){ST_TOOL_COUNTER, l->line, c->name, c->help,
			                               NULL, 0});
	}
	for (const struct listed *l = __start_strobe_tables; l != __stop_strobe_tables; l++) {
		const strobe_table *t = l->what;
		if (is_of(l, tool))
			add(r, (struct st_tool_result){ST_TOOL_TABLE, l->line, t->name, t->help,
			                               t->columns, columns_of(t->columns)});
	}
	for (const struct listed *l = __start_strobe_streams; l != __stop_strobe_streams; l++) {
		const strobe_stream *s = l->what;
		if (is_of(l, tool) && !s->consume)
			add(r, (struct st_tool_result){ST_TOOL_STREAM, l->line, s->name, s->help,
			                               s->columns, columns_of(s->columns)});
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
		add(r, of_file[i]);
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

static const char *const kinds[ST_TOOL_KINDS] = {"counters", "tables", "streams"};

/* "caller (function), callee (function), count": numbers need no word. */
static void
print_columns(const struct st_tool_result *r)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		const strobe_column *c = &r->columns[i];
		const char *type = st_profile_type_name(c->type);
		bool plain = c->type == STROBE_NUMBER || !strcmp(type, c->name);
		printf("%s%s%s%s%s", i ? ", " : "", c->name, plain ? "" : " (", plain ? "" : type,
		       plain ? "" : ")");
	}
	printf("\n");
}

void
st_tool_print_results(const struct st_tool_results *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct st_tool_result *one = &r->list[i];
		if (!i || one->kind != r->list[i - 1].kind)
			printf("  %s:\n", kinds[one->kind]);
		printf("    %-14s%s\n", one->name, one->help);
		if (one->n_columns) {
			printf("    %-14s", "");
			print_columns(one);
		}
	}
}

static json_t *
json_of_columns(const struct st_tool_result *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->n_columns; i++) {
		const strobe_column *c = &r->columns[i];
		json_array_append_new(list,
		                      json_pack("{s:o, s:s, s:s}", "name", st_tool_text(c->name),
		                                "type", st_profile_type_name(c->type), "role",
		                                st_profile_role_name(c->role)));
	}
	return list;
}

int
st_tool_json_results(json_t *out, const struct st_tool_results *r)
{
	int bad = 0;
	for (int k = 0; k < ST_TOOL_KINDS; k++) {
		json_t *list = json_array();
		for (size_t i = 0; i < r->n; i++) {
			const struct st_tool_result *one = &r->list[i];
			if (one->kind != (enum st_tool_result_kind)k)
				continue;
			json_t *item = json_pack("{s:o, s:o}", "name", st_tool_text(one->name),
			                         "help", st_tool_text(one->help));
			if (k != ST_TOOL_COUNTER)
				bad |= json_object_set_new(item, "columns", json_of_columns(one));
			bad |= json_array_append_new(list, item);
		}
		bad |= json_object_set_new(out, kinds[k], list);
	}
	return bad;
}
