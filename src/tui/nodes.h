/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of a tree of calls, of which children are made when their row is expanded.
 *
 * A row stands for nodes of the forests of all chosen threads: downwards for those with the same
 * path from the outermost function, and upwards for those with the same callers of one function,
 * of which `at` is the caller that the row shows.
 */
#ifndef STROBE_TUI_NODES_H
#define STROBE_TUI_NODES_H

#include "tui/calls.h"

struct st_tui_node {
	uint32_t group;
	uint32_t node; /* ST_NO_NODE: the parent of all roots of the group */
	uint32_t at;   /* upwards: the caller */
};
typedef ST_VEC(struct st_tui_node) st_tui_nodes;

struct st_tui_branch {
	uint32_t label;
	uint32_t depth;
	bool leaf, expanded;
	double own, total;
	st_tui_nodes nodes;
};
typedef ST_VEC(struct st_tui_branch) st_tui_branches;

/* The outermost rows: downwards the roots, upwards all functions with a self cost. 0, or -1: no
 * memory. The caller frees out in both cases. */
st_status st_tui_nodes_roots(const struct st_tui_calls *c, bool callers, st_tui_branches *out);
/* The rows below one, those with the greatest total first. */
st_status st_tui_nodes_below(const struct st_tui_calls *c, bool callers,
                             const struct st_tui_branch *of, st_tui_branches *out);
void st_tui_nodes_free(st_tui_branches *branches);

#endif
