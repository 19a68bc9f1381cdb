/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the pages of trees: their rows, and the search in those that are not shown. */
#ifndef STROBE_TUI_TREE_H
#define STROBE_TUI_TREE_H

#include "tui/nodes.h"
#include "tui/pages.h"

struct st_tui_tree {
	struct st_tui_calls *calls;
	bool callers; /* upwards */
	st_tui_branches rows;
	/* The last search: its text, whether each label contains it, and whether the label of a
	 * node below each node does (upwards: above it). NULL: there was no search. */
	char *searched;
	bool *labels, **nodes;
};

/* `reveal` of struct st_tui_kind. */
bool st_tui_tree_reveal(struct st_tui *t, struct st_tui_page *p, const char *text, bool forward,
                        size_t *row);
/* Frees the results of the last search. */
void st_tui_tree_forget(struct st_tui_tree *of);

#endif
