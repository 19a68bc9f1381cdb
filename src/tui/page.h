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
	size_t width; /* of what was shown so far: columns of a terminal */
};

/* How a row looks. */
enum st_tui_look {
	ST_TUI_PLAIN,
	ST_TUI_HOT,  /* at least 5 % of the total */
	ST_TUI_WARM, /* at least 0.5 % */
	ST_TUI_HEAD, /* a heading between rows */
};

/* What a kind of page does. All but `cell` and `free` may be NULL. */
struct st_tui_kind {
	const char *keys; /* its own keys, for the last line */
	/* A text, malloc'ed; NULL: no memory. */
	char *(*cell)(const struct st_tui_page *p, size_t row, size_t column);
	enum st_tui_look (*look)(const struct st_tui_page *p, size_t row);
	/* Puts the rows in the order of a column; reverse: the other way round. */
	st_status (*sort)(struct st_tui_page *p, size_t column, bool reverse);
	/* Enter. Failures and what it has to say are t->message. */
	void (*open)(struct st_tui *t, struct st_tui_page *p, size_t row);
	/* Whether a row was expanded (collapsed); what cannot be leaves everything as it is. */
	bool (*expand)(struct st_tui *t, struct st_tui_page *p, size_t row);
	bool (*collapse)(struct st_tui_page *p, size_t row);
	/* The row whose child a row is; SIZE_MAX: none. */
	size_t (*parent)(const struct st_tui_page *p, size_t row);
	/* Whether the next row with the text may not be shown yet; makes that it is. */
	bool (*reveal)(struct st_tui *t, struct st_tui_page *p, const char *text, bool forward,
	               size_t *row);
	/* Expands the row, of its children the one with most, and so on: the last row of these. */
	size_t (*follow)(struct st_tui *t, struct st_tui_page *p, size_t row);
	void (*free)(struct st_tui_page *p);
};

/* What a page can show the numbers of. */
struct st_tui_metrics {
	const char *(*name)(const struct st_tui *t, size_t i); /* NULL: there are no more */
	size_t (*chosen)(const struct st_tui *t);
	/* The page is made again afterwards. */
	void (*choose)(struct st_tui *t, size_t i);
};

struct st_tui_page {
	const struct st_tui_kind *kind;
	const struct st_tui_metrics *metrics; /* NULL: it has one only */
	char *title;                          /* malloc'ed */
	ST_VEC(struct st_tui_column) columns;
	size_t n;           /* rows */
	size_t cursor, top; /* rows: that of the cursor, the first on the screen */
	size_t first;       /* the first column that is shown */
	bool more;          /* further columns had no space on the last screen */
	size_t shift;       /* characters that the last column is moved to the left */
	long sorted;        /* column; ST_TUI_UNSORTED: as the rows came */
	bool reversed;
	bool transient; /* a menu or help: q closes it */
	void *of;       /* of the kind */
};

/* A page without rows; title is printed. NULL: no memory. The page is freed by st_tui_page_free. */
__attribute__((format(printf, 2, 3))) struct st_tui_page *
st_tui_page_new(const struct st_tui_kind *kind, const char *title, ...);
void st_tui_page_free(struct st_tui_page *p);
st_status st_tui_page_add_column(struct st_tui_page *p, const char *title, bool left);
/* Moves the cursor to a row, at most to the last one. */
void st_tui_page_go(struct st_tui_page *p, size_t row);
/* Chooses the first row on a screen of so many rows, so that the cursor is on it. */
void st_tui_page_scroll(struct st_tui_page *p, size_t height);
/* Sorts by a column; by the same one again: the other way round. The cursor goes to the top. */
st_status st_tui_page_sort(struct st_tui_page *p, size_t column, bool reverse);

#endif
