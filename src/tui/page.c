/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct st_tui_page *
st_tui_page_new(const struct st_tui_kind *kind, const char *title, ...)
{
	struct st_tui_page *p = calloc(1, sizeof *p);
	va_list ap;
	if (!p)
		return NULL;
	p->kind = kind;
	p->sorted = ST_TUI_UNSORTED;
	va_start(ap, title);
	if (vasprintf(&p->title, title, ap) < 0)
		p->title = NULL;
	va_end(ap);
	if (p->title)
		return p;
	free(p);
	return NULL;
}

void
st_tui_page_free(struct st_tui_page *p)
{
	if (!p)
		return;
	p->kind->free(p);
	free(p->columns.v);
	free(p->title);
	free(p);
}

st_status
st_tui_page_add_column(struct st_tui_page *p, const char *title, bool left)
{
	struct st_tui_column *c = ST_PUSH(&p->columns);
	if (!c)
		return ST_FAILED;
	snprintf(c->title, sizeof c->title, "%s", title);
	c->left = left;
	return ST_OK;
}

enum st_tui_look
st_tui_look_of_percent(double percent)
{
	return percent >= 5 ? ST_TUI_HOT : percent >= 0.5 ? ST_TUI_WARM : ST_TUI_PLAIN;
}

void
st_tui_page_go(struct st_tui_page *p, size_t row)
{
	p->cursor = row < p->n ? row : p->n ? p->n - 1 : 0;
}

void
st_tui_page_scroll(struct st_tui_page *p, size_t height)
{
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (height && p->cursor - p->top >= height)
		p->top = p->cursor - height + 1;
	if (p->n <= height)
		p->top = 0;
	else if (p->top > p->n - height)
		p->top = p->n - height;
}

st_status
st_tui_page_sort(struct st_tui_page *p, size_t column, bool reverse)
{
	if (p->kind->sort(p, column, reverse))
		return ST_FAILED;
	p->sorted = (long)column;
	p->reversed = reverse;
	p->cursor = p->top = 0;
	return ST_OK;
}
