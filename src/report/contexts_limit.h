/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the contexts is written where all of them would be too much: the hottest ones, each
 * with those above it. Counted first, so that what is left out can be said.
 */
#ifndef STROBE_REPORT_CONTEXTS_LIMIT_H
#define STROBE_REPORT_CONTEXTS_LIMIT_H

#include "base/status.h"
#include "report/contexts.h"

/* What a context takes in a format: bytes that are always there, and what the rest depends on. */
struct st_context_cost {
	void (*label)(const struct st_contexts *c, uint32_t label, FILE *out);
	unsigned node, time, instructions;                /* time: with --time, and so on */
	unsigned level;                                   /* for each level that it is deep */
	void (*loop)(const struct st_loop *l, FILE *out); /* NULL: it has none */
	bool whole_path;                                  /* labels of all that is above it, too */
	bool worth;   /* one number, and nothing when that is 0 */
	bool alike;   /* it is nodes that are counted, not bytes */
	bool callers; /* the format has k-calling context forests */
};

/* The bytes of a text that is always there. */
#define ST_COST_OF(text) (sizeof(text) - 1)

extern const struct st_context_cost st_context_cost_text, st_context_cost_json,
        st_context_cost_nodes;

struct st_context_limit {
	uint64_t bytes;  /* 0: no limit */
	uint32_t levels; /* that a tree may have; 0: no limit */
};

/* The part that was left out. */
struct st_context_cut {
	size_t contexts, of; /* nodes of all forests that the format has */
	size_t callers;      /* of contexts: nodes of k-calling context forests */
	uint64_t bytes;      /* that all of them would take, about */
	double worth;        /* of what was left out, as a share of all: 0 to 1 */
};

/* Nodes that k-calling context forests need not be larger than for a limit: st_context_choice. */
size_t st_contexts_most_callers(const struct st_context_limit *limit);
/* Takes away what is too much for a format. Totals, and the numbers of nodes that headers have,
 * stay as they are. 0, or -1 with *e. */
st_status st_contexts_cut(struct st_contexts *c, const struct st_context_cost *cost,
                          const struct st_context_limit *limit, struct st_context_cut *cut,
                          struct st_error *e);

#endif
