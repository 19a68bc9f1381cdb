/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page of the terminal browser: rows of cells with a cursor. Each kind of page makes the cells
 * of a row when they are asked for, so that only the rows on the screen cost anything.
 */
#ifndef STROBE_TUI_PAGE_H
#define STROBE_TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/vec.h"

enum { ST_TUI_UNSORTED = -1 };

struct st_tui;
struct st_tui_page;

struct st_tui_column {
	char title[80];
	bool left;    /* else aligned to the right */
	size_t width; /* columns of the terminal: of the widest cell that was shown so far */
};

/* The importance of a row, which decides its colour. */
enum st_tui_look {
	ST_TUI_PLAIN,
	ST_TUI_HOT,  /* at least 5 % of the total */
	ST_TUI_WARM, /* at least 0.5 % */
	ST_TUI_HEAD, /* a heading between rows */
};
/* By the share of the total that a row has. */
enum st_tui_look st_tui_look_of_percent(double percent);

/* The functions of a kind of page. All except `cell` and `free` may be NULL. */
struct st_tui_kind {
	const char *keys; /* its own keys, for the last line */
	/* A text, malloc'ed; NULL: no memory. */
	char *(*cell)(const struct st_tui_page *p, size_t row, size_t column);
	enum st_tui_look (*look)(const struct st_tui_page *p, size_t row);
	/* Sorts the rows by a column; reverse: in the opposite order. */
	st_status (*sort)(struct st_tui_page *p, size_t column, bool reverse);
	/* Handles Enter. Failures and hints are written to t->message. */
	void (*open)(struct st_tui *t, struct st_tui_page *p, size_t row);
	/* Expands (collapses) a row. false: nothing has changed, because the row cannot be. */
	bool (*expand)(struct st_tui *t, struct st_tui_page *p, size_t row);
	bool (*collapse)(struct st_tui_page *p, size_t row);
	/* The parent of a row; SIZE_MAX: it has none. */
	size_t (*parent)(const struct st_tui_page *p, size_t row);
	/* Finds the next row with the text after (or before) *row, and expands the rows above it.
	 * false: no row has the text. */
	bool (*reveal)(struct st_tui *t, struct st_tui_page *p, const char *text, bool forward,
	               size_t *row);
	/* Expands the row and, level by level, its hottest child; returns the last row. */
	size_t (*follow)(struct st_tui *t, struct st_tui_page *p, size_t row);
	void (*free)(struct st_tui_page *p);
};

/* The metrics that a page can show. */
struct st_tui_metrics {
	const char *(*name)(const struct st_tui *t, size_t i); /* NULL: there are no more */
	size_t (*chosen)(const struct st_tui *t);
	/* The caller makes the page again afterwards. */
	void (*choose)(struct st_tui *t, size_t i);
};

struct st_tui_page {
	const struct st_tui_kind *kind;
	const struct st_tui_metrics *metrics; /* NULL: the page has no choice */
	char *title;                          /* malloc'ed */
	ST_VEC(struct st_tui_column) columns;
	size_t n;           /* rows */
	size_t cursor, top; /* the row of the cursor, and the first row on the screen */
	size_t first;       /* the first column that is shown */
	bool more;          /* the last screen had no space for some columns */
	size_t shift;       /* columns of the terminal by which the last column is scrolled */
	long sorted;        /* the column of the order; ST_TUI_UNSORTED: the original order */
	bool reversed;
	bool transient; /* a menu or help: q closes it */
	void *of;       /* data of the kind */
};

/* Makes a page without rows; the title is formatted as by printf. NULL: no memory. The caller frees
 * it with st_tui_page_free. */
__attribute__((format(printf, 2, 3))) struct st_tui_page *
st_tui_page_new(const struct st_tui_kind *kind, const char *title, ...);
void st_tui_page_free(struct st_tui_page *p);
st_status st_tui_page_add_column(struct st_tui_page *p, const char *title, bool left);
/* Moves the cursor to a row, at most to the last one. */
void st_tui_page_go(struct st_tui_page *p, size_t row);
/* Scrolls so that the row of the cursor is on a screen that has space for `height` rows. */
void st_tui_page_scroll(struct st_tui_page *p, size_t height);
/* Sorts by a column, or in the opposite order; the cursor goes to the first row. */
st_status st_tui_page_sort(struct st_tui_page *p, size_t column, bool reverse);

#endif
