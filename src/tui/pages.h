/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of pages of the terminal browser. Each function returns a page, or NULL with *e. */
#ifndef STROBE_TUI_PAGES_H
#define STROBE_TUI_PAGES_H

#include "report/grid.h"
#include "tui/tui.h"

/* The rows of a table; order: indices of rows, malloc'ed, NULL: no memory. Takes over both, also on
 * failure. */
struct st_tui_page *st_tui_grid_page(struct st_grid *g, uint32_t *order, const char *title,
                                     struct st_error *e);
/* The order 0, 1, 2, ... malloc'ed; NULL: no memory. */
uint32_t *st_tui_order_of(size_t n);
/* The table of that name. */
struct st_tui_page *st_tui_table_page(const struct st_profile *p, const char *name,
                                      struct st_error *e);
/* A function that a row names: its index in the profile, UINT32_MAX: it has none, and its label in
 * the calling contexts, UINT32_MAX: it is searched by the function. */
struct st_tui_link {
	const char *what; /* the name of the column */
	uint32_t function, label;
};
/* The i-th link of a row of a grid; false: there are no more. */
typedef bool st_tui_links(const struct st_grid *g, size_t row, size_t i, struct st_tui_link *link);
/* Sets the functions that Enter opens in a page of a table. */
void st_tui_grid_links(struct st_tui_page *p, st_tui_links *links);

/* All functions of the profile, with shares of this metric: an index into
 * st_tui_function_metrics. */
struct st_tui_page *st_tui_functions_page(const struct st_profile *p, size_t metric,
                                          struct st_error *e);
size_t st_tui_usual_function_metric(const struct st_profile *p);
extern const struct st_tui_metrics st_tui_function_metrics, st_tui_calls_metrics;
/* The functions by the calling contexts of the chosen threads. */
struct st_tui_page *st_tui_labels_page(struct st_tui_calls *c, struct st_error *e);
/* One function: its costs, callers and callees, source and disassembly. */
struct st_tui_page *st_tui_function_page(struct st_tui *t, const struct st_tui_link *link,
                                         struct st_error *e);
/* The tree of calls from the outermost functions down; callers: from each function up. */
struct st_tui_page *st_tui_tree_page(struct st_tui_calls *c, bool callers, struct st_error *e);

/* Shows the function above the page. */
void st_tui_open_function(struct st_tui *t, const struct st_tui_link *link);

/* Lines of text, malloc'ed and owned by the page from then on; NULL: no memory. A line that begins
 * with "=" is a heading. */
struct st_tui_page *st_tui_text_page(const char *title, char *text, struct st_error *e);
/* The list of keys. */
struct st_tui_page *st_tui_help_page(struct st_error *e);

/* A menu; `choose` is called after the menu was closed. */
typedef void st_tui_choose(struct st_tui *t, size_t value);
struct st_tui_page *st_tui_menu_page(const char *title, st_tui_choose *choose);
/* Adds a choice; chosen: it is the current one, and gets the cursor. */
st_status st_tui_menu_add(struct st_tui_page *menu, const char *text, size_t value, bool chosen);

/* A view of a profile: its name, and the function that opens its page. */
struct st_tui_view {
	const char *name;
	struct st_tui_page *(*open)(struct st_tui *t, const char *name, struct st_error *e);
};
typedef ST_VEC(struct st_tui_view) st_tui_views;
/* All views of a profile, the default one first. The caller frees views->v. -1: no memory. */
st_status st_tui_views_of(const struct st_profile *p, st_tui_views *views);

/* The text of a row that a search reads: its left-aligned columns. malloc'ed; NULL: no memory. */
char *st_tui_row_text(const struct st_tui_page *p, size_t row);
/* Whether a text contains another; capital letters matter only if the latter has some. */
bool st_tui_contains(const char *text, const char *part);
/* The next row after (or before) `from` that contains the text; the search wraps around. here: it
 * begins with `from` itself. SIZE_MAX: no row does. */
size_t st_tui_find(struct st_tui *t, struct st_tui_page *p, const char *text, size_t from,
                   bool forward, bool here);

#endif
