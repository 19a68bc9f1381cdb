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
	/* Of the text that was searched last: whether each label has it, and for each node whether
	 * one below it does (upwards: above it). NULL: nothing was searched. */
	char *searched;
	bool *labels, **nodes;
};

/* As in struct st_tui_kind. */
bool st_tui_tree_reveal(struct st_tui *t, struct st_tui_page *p, const char *text, bool forward,
                        size_t *row);
/* Frees what is known of the text that was searched. */
void st_tui_tree_forget(struct st_tui_tree *of);

#endif
