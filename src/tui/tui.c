/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack of pages, and its first page. */
#include "tui/tui.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tui/pages.h"

struct st_tui_page *
st_tui_top(const struct st_tui *t)
{
	return t->pages.v[t->pages.n - 1];
}

void
st_tui_say(struct st_tui *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(t->message, sizeof t->message, format, ap);
	va_end(ap);
}

void
st_tui_push(struct st_tui *t, struct st_tui_page *p)
{
	struct st_tui_page **slot = p ? ST_PUSH(&t->pages) : NULL;
	if (slot) {
		*slot = p;
		return;
	}
	st_tui_page_free(p);
	st_tui_say(t, "no memory left");
}

void
st_tui_pop(struct st_tui *t)
{
	if (t->pages.n > 1)
		st_tui_page_free(t->pages.v[--t->pages.n]);
}

void
st_tui_push_menu(struct st_tui *t, struct st_tui_page *menu, bool bad)
{
	if (bad) {
		st_tui_page_free(menu);
		menu = NULL;
	}
	st_tui_push(t, menu);
}

void
st_tui_close_pages(struct st_tui *t)
{
	while (t->pages.n)
		st_tui_page_free(t->pages.v[--t->pages.n]);
}

void
st_tui_replace(struct st_tui *t, struct st_tui_page *p)
{
	st_tui_close_pages(t);
	t->pages.v[t->pages.n++] = p; /* there is space: a page was there */
}

/* Opens the view at an index, which wraps around after the last one. NULL with *e. */
static struct st_tui_page *
tui_open_view(struct st_tui *t, size_t view, struct st_error *e)
{
	st_tui_views views;
	struct st_tui_page *p = NULL;
	st_cause(e, ST_EXIT_FAILED, "no memory left for the views");
	if (!st_tui_views_of(t->profile, &views)) {
		t->view = view % views.n;
		p = views.v[t->view].open(t, views.v[t->view].name, e);
	}
	free(views.v);
	return p;
}

void
st_tui_show_view(struct st_tui *t, size_t view)
{
	const size_t before = t->view;
	struct st_error e;
	struct st_tui_page *p = tui_open_view(t, view, &e);
	if (p) {
		st_tui_replace(t, p);
		return;
	}
	t->view = before;
	st_tui_say(t, "%s", e.text);
}

/* If the view cannot be made, a page shows the error: a browser always has a page. */
void
st_tui_reopen(struct st_tui *t)
{
	struct st_error e;
	struct st_tui_page *p = tui_open_view(t, t->view, &e);
	if (!p)
		p = st_tui_text_page("error", strdup(e.text), &e);
	if (p)
		st_tui_replace(t, p);
	else
		t->quit = true;
}

static const char *
tui_view_name(const void *views, size_t i)
{
	return ((const struct st_tui_view *)views)[i].name;
}

/* Sets t->view to the view of that name; without a name, to the first one. */
static st_status
tui_choose_view(struct st_tui *t, const st_tui_views *views, const char *name, struct st_error *e)
{
	for (t->view = 0; name && t->view < views->n; t->view++)
		if (!strcmp(views->v[t->view].name, name))
			break;
	if (t->view < views->n)
		return ST_OK;
	char *rest = st_grid_suggest(name, "tables", views->n, tui_view_name, views->v);
	st_cause(e, ST_EXIT_USAGE, "the profile has no table '%s'; %s", name, rest ? rest : "");
	free(rest);
	return ST_FAILED;
}

/* Sorts a page by the column of that name; as --sort has it, "time" and "total" are shares. */
static st_status
tui_sort_by(struct st_tui_page *p, const char *name, struct st_error *e)
{
	static const char *const words[][2] = {
	        {"time", "self %"}, {"total", "total %"}, {"name", "function"}};
	const char *other = name;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i][0], name))
			other = words[i][1];
	for (size_t i = 0; i < p->columns.n && p->kind->sort; i++)
		if (!strcmp(p->columns.v[i].title, name) || !strcmp(p->columns.v[i].title, other))
			return st_tui_page_sort(p, i, false)
			               ? st_fail(e, ST_EXIT_FAILED, "no memory left to sort")
			               : ST_OK;
	return st_fail(e, ST_EXIT_USAGE, "the first page has no column '%s'; s lists the columns",
	               name);
}

/* The row whose function has that name, whatever its image is; SIZE_MAX: there is none. */
static size_t
tui_find_name(const struct st_tui_page *p, const char *name)
{
	const size_t n = strlen(name);
	for (size_t row = 0; row < p->n; row++) {
		char *text = st_tui_row_text(p, row);
		const bool same = text && !strncmp(text, name, n) &&
		                  (text[n] == '\n' || !strncmp(text + n, " [", 2));
		free(text);
		if (same)
			return row;
	}
	return SIZE_MAX;
}

/* Opens the function of that name, or else the first one whose name contains the text. */
static st_status
tui_begin_with(struct st_tui *t, const char *name, struct st_error *e)
{
	struct st_tui_page *p = st_tui_top(t);
	size_t row = p->kind->open ? tui_find_name(p, name) : SIZE_MAX;
	if (row == SIZE_MAX && p->kind->open)
		row = st_tui_find(t, p, name, 0, true, true);
	if (row == SIZE_MAX)
		return st_fail(e, ST_EXIT_USAGE,
		               "no function '%s' ran; leave out --func, and search with /", name);
	st_tui_page_go(p, row);
	p->kind->open(t, p, row);
	return t->pages.n > 1 ? ST_OK : st_fail(e, ST_EXIT_FAILED, "%s", t->message);
}

st_status
st_tui_open(struct st_tui *t, const struct st_profile *p, const char *file,
            const struct st_tui_begin *begin, struct st_error *e)
{
	st_tui_views views;
	struct st_tui_page *first = NULL, **slot = NULL;
	*t = (struct st_tui){.profile = p, .file = file, .height = 1};
	st_tui_calls_init(&t->calls, p, file);
	t->function_metric = st_tui_usual_function_metric(p);
	st_status status = st_tui_views_of(p, &views)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for the views")
	                           : tui_choose_view(t, &views, begin->table, e);
	if (!status) {
		const struct st_tui_view *v = &views.v[t->view];
		first = v->open(t, v->name, e);
		slot = first ? ST_PUSH(&t->pages) : NULL;
	}
	free(views.v);
	if (!slot) {
		if (first)
			st_cause(e, ST_EXIT_FAILED, "no memory left for the page");
		st_tui_page_free(first);
		return ST_FAILED;
	}
	*slot = first;
	if (begin->sort && tui_sort_by(first, begin->sort, e))
		return ST_FAILED;
	return begin->function ? tui_begin_with(t, begin->function, e) : ST_OK;
}

void
st_tui_close(struct st_tui *t)
{
	st_tui_close_pages(t);
	free(t->pages.v);
	st_tui_calls_forget(&t->calls);
	if (t->annotates) {
		st_branches_close(&t->branches);
		st_places_close(&t->places);
	}
}
