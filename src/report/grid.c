/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which table, which of its columns, and which rows in which order. */
#include "report/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

/* Tables that profiles have beside those of their tools: B(name, source, whether there is one). */
#define GRID_BUILT_IN(B)                                                                           \
	B("functions", st_grid_of_functions, p->functions.n)                                       \
	B("lines", st_grid_of_lines, p->lines.n)                                                   \
	B("images", st_grid_of_images, p->images.n)                                                \
	B("threads", st_grid_of_threads, p->threads.n)                                             \
	B("processes", st_grid_of_processes, p->processes.n)                                       \
	B("series", st_grid_of_series, p->measurements.series.n)                                   \
	B("measurements", st_grid_of_measurements, p->measurements.series.n)

struct st_grid_column *
st_grid_add(struct st_grid *g, const char *name, bool number, size_t of)
{
	struct st_grid_column *c = ST_PUSH(&g->columns);
	if (!c)
		return NULL;
	snprintf(c->name, sizeof c->name, "%.79s", name);
	c->number = number;
	c->left = !number;
	c->data = true;
	c->position = g->columns.n;
	c->of = of;
	return c;
}

void
st_grid_free(struct st_grid *g)
{
	if (g->release)
		g->release(g->owned);
	free(g->columns.v);
	*g = (struct st_grid){0};
}

char *
st_grid_suggest(const char *word, const char *all, size_t n,
                const char *(*get)(const void *, size_t), const void *of)
{
	const char *near = st_nearest(word, n, get, of);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	if (near)
		fprintf(out, "did you mean '%s'?", near);
	else
		fprintf(out, "its %s: ", all);
	for (size_t i = 0; !near && i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", get(of, i));
	char *text = st_text_end(&built), *clean = text ? st_printable(text) : NULL;
	free(text);
	return clean;
}

static const char *
name_of_list(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static st_status
names_push(struct st_grid_names *names, const char *name)
{
	const char **slot = ST_PUSH(names);
	if (slot)
		*slot = name;
	return slot ? ST_OK : ST_FAILED;
}

st_status
st_grid_names(const struct st_profile *p, struct st_grid_names *names)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (names_push(names, p->tables.v[i].name))
			return ST_FAILED;
#define B(title, source, has)                                                                      \
	if ((has) && names_push(names, title))                                                     \
		return ST_FAILED;
	GRID_BUILT_IN(B)
#undef B
	return ST_OK;
}

static st_status
no_such_table(const struct st_profile *p, const char *name, struct st_error *e)
{
	struct st_grid_names names = {0};
	ST_IGNORE(st_grid_names(p, &names)); /* fewer names to suggest */
	char *rest = names.n ? st_grid_suggest(name, "tables", names.n, name_of_list, names.v)
	                     : strdup("it has none");
	st_cause(e, ST_EXIT_USAGE, "the profile has no table '%s'; %s", name, rest ? rest : "");
	free(rest);
	free(names.v);
	return ST_FAILED;
}

/* The source of a table that profiles have beside those of their tools. */
static st_status
open_built_in(struct st_grid *g, const struct st_profile *p, const char *name, bool *found)
{
	const struct {
		const char *name;
		st_status (*make)(struct st_grid *, const struct st_profile *);
		size_t n;
	} all[] = {
#define B(title, source, has) {title, source, has},
	        GRID_BUILT_IN(B)
#undef B
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, name) && all[i].n) {
			*found = true;
			g->name = all[i].name;
			return all[i].make(g, p);
		}
	return ST_OK;
}

st_status
st_grid_open(struct st_grid *g, const struct st_profile *p, const char *name, struct st_error *e)
{
	bool found = false;
	st_status status = ST_OK;
	*g = (struct st_grid){.profile = p, .name = name, .help = ""};
	for (size_t i = 0; i < p->tables.n && !found; i++)
		if (!strcmp(p->tables.v[i].name, name)) {
			found = true;
			status = st_grid_of_table(g, p, &p->tables.v[i]);
		}
	if (!found)
		status = open_built_in(g, p, name, &found);
	if (!found)
		return no_such_table(p, name, e);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the table") : ST_OK;
}

static const char *
grid_column_name(const void *columns, size_t i)
{
	return ((const struct st_grid_column *)columns)[i].name;
}

const struct st_grid_column *
st_grid_column_of(const struct st_grid *g, const char *name, struct st_error *e)
{
	for (size_t i = 0; i < g->columns.n; i++)
		if (!strcmp(g->columns.v[i].name, name))
			return &g->columns.v[i];
	char *rest = st_grid_suggest(name, "columns", g->columns.n, grid_column_name, g->columns.v);
	st_cause(e, ST_EXIT_USAGE, "the table %s has no column '%s'; %s", g->name, name,
	         rest ? rest : "");
	free(rest);
	return NULL;
}

const struct st_grid_column *
st_grid_shown_column(const struct st_grid *g, size_t i)
{
	for (size_t at = 1; at <= g->columns.n + 1; at++)
		for (size_t c = 0; c < g->columns.n; c++)
			if (g->columns.v[c].position == at && !i--)
				return &g->columns.v[c];
	return NULL;
}

static st_status
view_push(struct st_grid_view *v, const struct st_grid_column *c)
{
	const struct st_grid_column **slot = ST_PUSH(&v->columns);
	if (slot)
		*slot = c;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
usual_columns(struct st_grid_view *v, const struct st_grid *g, bool data)
{
	for (size_t i = 0; i < g->columns.n && data; i++)
		if (g->columns.v[i].data && view_push(v, &g->columns.v[i]))
			return ST_FAILED;
	const struct st_grid_column *c;
	for (size_t i = 0; !data && (c = st_grid_shown_column(g, i)); i++)
		if (view_push(v, c))
			return ST_FAILED;
	return ST_OK;
}

/* The columns of a list, "caller,count". */
static st_status
named_columns(struct st_grid_view *v, const struct st_grid *g, const char *list, struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	st_status status =
	        copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the table");
	for (char *word; !status && (word = strsep(&rest, ","));) {
		const struct st_grid_column *c = st_grid_column_of(g, word, e);
		if (!c)
			status = ST_FAILED;
		else if (view_push(v, c))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the table");
	}
	free(copy);
	return status;
}

static st_status
view_rows(struct st_grid_view *v, const struct st_grid *g, const struct st_report *r,
          const struct st_table_choice *choice, struct st_error *e)
{
	const struct st_grid_column *by = NULL;
	size_t n = g->rows - g->others;
	if (choice->sort && !(by = st_grid_column_of(g, choice->sort, e)))
		return ST_FAILED;
	v->rows = calloc(n + 1, sizeof *v->rows);
	for (size_t i = 0; v->rows && i < n; i++)
		v->rows[i] = (uint32_t)i;
	if (v->rows && st_grid_filter(g, choice->where, choice->n_where, v->rows, &n, e))
		return ST_FAILED;
	if (!v->rows || st_grid_order(g, by, v->rows, n))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to sort the table");
	v->all = n;
	v->n = r->top && r->top < n ? r->top : n;
	v->others = g->others && !choice->n_where;
	return ST_OK;
}

st_status
st_grid_view_make(struct st_grid_view *v, const struct st_grid *g, const struct st_report *r,
                  const struct st_table_choice *choice, struct st_error *e)
{
	const bool data = choice->format == ST_FORMAT_CSV || choice->format == ST_FORMAT_JSON;
	*v = (struct st_grid_view){.grid = g};
	if (choice->columns ? named_columns(v, g, choice->columns, e)
	                    : usual_columns(v, g, data) &&
	                              st_fail(e, ST_EXIT_FAILED, "no memory left for the table"))
		return ST_FAILED;
	return view_rows(v, g, r, choice, e);
}

void
st_grid_view_free(struct st_grid_view *v)
{
	free(v->columns.v);
	free(v->rows);
	*v = (struct st_grid_view){0};
}
