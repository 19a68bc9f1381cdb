/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of text, such as the summary and the help. */
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "tui/pages.h"

struct text_page {
	char *text;
	ST_VEC(const char *) lines; /* in text */
};

static char *
text_page_cell(const struct st_tui_page *p, size_t row, size_t column)
{
	const struct text_page *of = p->of;
	(void)column;
	return st_printable(of->lines.v[row] + (*of->lines.v[row] == '='));
}

static enum st_tui_look
text_page_look(const struct st_tui_page *p, size_t row)
{
	const struct text_page *of = p->of;
	return *of->lines.v[row] == '=' ? ST_TUI_HEAD : ST_TUI_PLAIN;
}

static void
text_page_free(struct st_tui_page *p)
{
	struct text_page *of = p->of;
	if (!of)
		return;
	free(of->lines.v);
	free(of->text);
	free(of);
}

static const struct st_tui_kind text_page_kind = {
        .cell = text_page_cell, .look = text_page_look, .free = text_page_free};

static st_status
text_page_divide(struct text_page *of)
{
	for (char *line = of->text, *end; *line; line = end) {
		const char **slot = ST_PUSH(&of->lines);
		if (!slot)
			return ST_FAILED;
		*slot = line;
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
	}
	return ST_OK;
}

struct st_tui_page *
st_tui_text_page(const char *title, char *text, struct st_error *e)
{
	struct st_tui_page *p = st_tui_page_new(&text_page_kind, "%s", title);
	struct text_page *of = p ? calloc(1, sizeof *of) : NULL;
	if (of) {
		p->of = of;
		of->text = text;
	} else {
		free(text);
	}
	if (of && text && !text_page_divide(of) && !st_tui_page_add_column(p, "", true)) {
		p->n = of->lines.n;
		return p;
	}
	st_tui_page_free(p);
	st_cause(e, ST_EXIT_FAILED, "no memory left for the text");
	return NULL;
}

struct st_tui_page *
st_tui_help_page(struct st_error *e)
{
	static const char help[] =
	        "=Move\n"
	        "  Up Down, k j            one row\n"
	        "  PgUp PgDn, Space        one screen\n"
	        "  Home End, g G           to the first row, to the last row\n"
	        "  [ ]                     to the heading before, to the next heading\n"
	        "  < >                     show more columns, then move long lines to the side\n"
	        "=Open and close\n"
	        "  Enter                   open the function of the row: callers, source, code\n"
	        "  Left, Esc, Backspace    go back\n"
	        "  v                       choose a view: functions, calls, tables, summary\n"
	        "  Tab                     go to the next view\n"
	        "=In a tree\n"
	        "  + Right                 expand the row\n"
	        "  - Left                  collapse the row, then go to the one above it\n"
	        "  *                       expand what has at least half, level by level\n"
	        "=Find and sort\n"
	        "  /                       search names; a capital letter makes case matter\n"
	        "  n N                     next match, previous match\n"
	        "  s                       choose the column to sort by\n"
	        "  r                       reverse the order of the rows\n"
	        "=Choose\n"
	        "  m                       the metric: time, instructions, calls, bytes\n"
	        "  t                       the threads: all, a process, one thread\n"
	        "=Other\n"
	        "  ?, F1                   this help\n"
	        "  Ctrl-L                  draw the screen again\n"
	        "  q                       quit; here, close the help\n";
	struct st_tui_page *p = st_tui_text_page("keys", strdup(help), e);
	if (p)
		p->transient = true;
	return p;
}
