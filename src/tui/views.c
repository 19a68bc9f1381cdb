/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views that a profile has. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/allocations.h"
#include "tui/pages.h"

static struct st_tui_page *
views_functions(struct st_tui *t, const char *name, struct st_error *e)
{
	(void)name;
	if (t->profile->run.has_functions && t->calls.threads == ST_TUI_ALL_THREADS)
		return st_tui_functions_page(t->profile, t->function_metric, e);
	return st_tui_labels_page(&t->calls, e);
}

static struct st_tui_page *
views_tree(struct st_tui *t, const char *name, struct st_error *e)
{
	return st_tui_tree_page(&t->calls, !strcmp(name, "callers"), e);
}

static struct st_tui_page *
views_table(struct st_tui *t, const char *name, struct st_error *e)
{
	return st_tui_table_page(t->profile, name, e);
}

/* A page with the text that strobe show prints. */
static struct st_tui_page *
views_printed(struct st_tui *t, const char *name, struct st_error *e)
{
	const struct st_report r = {.profile = t->profile, .top = 20, .no_tables = true};
	const struct st_table_choice all = {.format = ST_FORMAT_TEXT};
	const bool summary = !strcmp(name, "summary");
	struct st_text built;
	FILE *out = st_text_begin(&built);
	st_status status = ST_OK;
	if (out && summary)
		st_report_summary(&r, out);
	else if (out)
		status = st_report_table(&r, out, name, &all, e);
	char *text = out ? st_text_end(&built) : NULL;
	if (!status)
		return st_tui_text_page(name, text, e);
	free(text);
	return NULL;
}

static void
views_add(st_tui_views *views, bool *bad, const char *name,
          struct st_tui_page *(*open)(struct st_tui *t, const char *name, struct st_error *e))
{
	struct st_tui_view *v = ST_PUSH(views);
	if (v)
		*v = (struct st_tui_view){name, open};
	else
		*bad = true;
}

static void
views_add_tables(st_tui_views *views, bool *bad, const struct st_profile *p)
{
	struct st_grid_names names = {0};
	if (st_grid_names(p, &names))
		*bad = true;
	for (size_t i = 0; i < names.n; i++) {
		const bool tool = i < p->tables.n;
		if (tool ? st_is_table_of_frames(&p->tables.v[i])
		         : !strcmp(names.v[i], "functions"))
			continue;
		views_add(views, bad, names.v[i], views_table);
	}
	free(names.v);
}

st_status
st_tui_views_of(const struct st_profile *p, st_tui_views *views)
{
	bool bad = false;
	*views = (st_tui_views){0};
	if ((p->run.has_functions && p->functions.n) || st_tui_has_calls(p))
		views_add(views, &bad, "functions", views_functions);
	if (st_tui_has_calls(p)) {
		views_add(views, &bad, "calls", views_tree);
		views_add(views, &bad, "callers", views_tree);
	}
	views_add_tables(views, &bad, p);
	if (p->overshoots.n)
		views_add(views, &bad, "overshoots", views_printed);
	if (p->qos.source)
		views_add(views, &bad, "qos", views_printed);
	views_add(views, &bad, "summary", views_printed);
	return bad ? ST_FAILED : ST_OK;
}
