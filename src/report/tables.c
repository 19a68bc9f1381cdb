/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools' tables, and any table by its name. */
#include <string.h>

#include "profile/allocations.h"
#include "report/grid.h"

static void
table_print_text(const struct st_report *r, FILE *out, const struct st_profile_table *t)
{
	struct st_grid g = {0};
	struct st_grid_view v = {0};
	const struct st_table_choice all = {.format = ST_FORMAT_TEXT};
	struct st_error e;
	if (st_grid_of_table(&g, r->profile, t) || st_grid_view_make(&v, &g, r, &all, &e) ||
	    st_grid_print(&v, r, out, ST_FORMAT_TEXT, &e))
		fputs("  out of memory\n", out);
	st_grid_view_free(&v);
	st_grid_free(&g);
}

void
st_report_tables(const struct st_report *r, FILE *out)
{
	for (size_t i = 0; i < r->profile->tables.n; i++)
		if (!st_is_table_of_frames(&r->profile->tables.v[i]))
			table_print_text(r, out, &r->profile->tables.v[i]);
}

/* Tables over time, which are not made of columns that can be chosen. */
static st_status
print_over_time(const struct st_report *r, FILE *out, const char *name,
                const struct st_table_choice *c, struct st_error *e)
{
	if (c->columns || c->n_where || c->format == ST_FORMAT_MARKDOWN ||
	    c->format == ST_FORMAT_LATEX)
		return st_fail(e, ST_EXIT_USAGE,
		               "the table %s is printed whole, as text, json or csv: leave out "
		               "--columns, --where and other formats",
		               name);
	return strcmp(name, "qos") != 0 ? st_report_overshoots(r, out, c->format, e)
	                                : st_report_qos(r, out, c->format, e);
}

static bool
has_table(const struct st_profile *p, const char *name)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!strcmp(p->tables.v[i].name, name))
			return true;
	return false;
}

st_status
st_report_table(const struct st_report *r, FILE *out, const char *name,
                const struct st_table_choice *c, struct st_error *e)
{
	const struct st_profile *p = r->profile;
	if (!has_table(p, name) && ((!strcmp(name, "overshoots") && p->overshoots.n) ||
	                            (!strcmp(name, "qos") && p->qos.source)))
		return print_over_time(r, out, name, c, e);
	struct st_grid g;
	struct st_grid_view v = {0};
	st_status status = st_grid_open(&g, p, name, e);
	if (!status)
		status = st_grid_view_make(&v, &g, r, c, e);
	if (!status)
		status = st_grid_print(&v, r, out, c->format, e);
	st_grid_view_free(&v);
	st_grid_free(&g);
	return status;
}
