/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal browser of strobe show -i. Its state and what keys do to it are here, without a
 * terminal; frame.h makes the lines of a screen from it, and browse.h shows them.
 */
#ifndef STROBE_TUI_TUI_H
#define STROBE_TUI_TUI_H

#include "base/error.h"
#include "profile/profile.h"
#include "report/branches.h"
#include "report/places.h"
#include "tui/calls.h"
#include "tui/keys.h"
#include "tui/page.h"

enum { ST_TUI_TEXT = 256 };

/* The search that `/` opens. */
struct st_tui_prompt {
	bool open;
	char text[ST_TUI_TEXT];
	size_t cursor, top; /* those of the page when the search was opened */
};

struct st_tui {
	const struct st_profile *profile;
	const char *file;                   /* the profile's name */
	ST_VEC(struct st_tui_page *) pages; /* the last one is shown, the others are below it */
	size_t view;                        /* of the first page: an index into st_tui_views */
	struct st_tui_calls calls;
	size_t function_metric; /* of which the list of functions has shares */
	/* Read when the first function is shown; annotates: they have been. */
	bool annotates;
	struct st_places places;
	struct st_branches branches;
	struct st_tui_prompt prompt;
	char search[ST_TUI_TEXT]; /* the text that n and N search; empty: none yet */
	char message[512];        /* shown until the next key */
	size_t height;            /* the number of rows on the last screen */
	bool quit;
};

/* The first page; a field that is NULL has its default. */
struct st_tui_begin {
	const char *table; /* the name of a view or of a table */
	const char *sort;  /* a column of it */
	/* The function, by its name or by a part of it, whose page is opened above the first. */
	const char *function;
};

/* Opens the first page. -1 with *e: there is no such table or column, or no memory. The caller
 * frees in both cases; the profile has to outlive it. */
st_status st_tui_open(struct st_tui *t, const struct st_profile *p, const char *file,
                      const struct st_tui_begin *begin, struct st_error *e);
void st_tui_close(struct st_tui *t);
/* Handles a key. */
void st_tui_press(struct st_tui *t, int key);
/* The page that is shown. */
struct st_tui_page *st_tui_top(const struct st_tui *t);

/* Shows a view instead of all pages: an index into st_tui_views, after the last one the first. */
void st_tui_show_view(struct st_tui *t, size_t view);
/* Closes all pages, before st_tui_reopen or st_tui_replace. */
void st_tui_close_pages(struct st_tui *t);
/* Makes the first view again, after the choice of threads or of the metric has changed. */
void st_tui_reopen(struct st_tui *t);

/* Shows a page above the others; it belongs to t from then on. NULL: a message says that there is
 * no memory. */
void st_tui_push(struct st_tui *t, struct st_tui_page *p);
/* Does the same with a menu; bad: filling it has failed. */
void st_tui_push_menu(struct st_tui *t, struct st_tui_page *menu, bool bad);
/* Closes the page that is shown, unless it is the first. */
void st_tui_pop(struct st_tui *t);
/* Shows this page instead of all that are open. */
void st_tui_replace(struct st_tui *t, struct st_tui_page *p);
__attribute__((format(printf, 2, 3))) void st_tui_say(struct st_tui *t, const char *format, ...);

#endif
