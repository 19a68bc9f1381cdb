/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling contexts of the profile as the pages of calls need them: by one metric, and of all
 * threads or of some. They are read when the first of these pages is opened, because a profile may
 * have millions.
 */
#ifndef STROBE_TUI_CALLS_H
#define STROBE_TUI_CALLS_H

#include "base/error.h"
#include "views/costs.h"

/* The threads that are shown. */
enum st_tui_threads { ST_TUI_ALL_THREADS, ST_TUI_ONE_PROCESS, ST_TUI_ONE_THREAD };

/* A function and its callers or callees, with the cost of these calls. */
struct st_tui_pair {
	uint32_t label;
	double value;
};
typedef ST_VEC(struct st_tui_pair) st_tui_pairs;

struct st_tui_calls {
	const struct st_profile *profile;
	const char *file;
	size_t metric; /* as st_tui_calls_metric numbers them */
	enum st_tui_threads threads;
	uint32_t which; /* index of the process or of the thread */
	/* Read by st_tui_calls_need (known: it has been), for the metric and the threads above. */
	bool known;
	struct st_costs costs;
	double **totals; /* by group and node: the cost of the node with all nodes below it */
	bool *chosen;    /* by group: whether it belongs to the chosen threads */
	double all;      /* the sum of the chosen groups */
	bool paired;
	struct st_forest pairs; /* see contexts/pairs.h */
};

/* Whether the profile has any calling contexts, and whether these are of threads. Reads nothing. */
bool st_tui_has_calls(const struct st_profile *p);
bool st_tui_has_threads(const struct st_profile *p);
/* The name of the i-th metric, NULL: there are no more. */
const char *st_tui_calls_metric(const struct st_tui_calls *c, size_t i);

void st_tui_calls_init(struct st_tui_calls *c, const struct st_profile *p, const char *file);
/* Reads the contexts, unless that has been done. 0, or -1 with *e. */
st_status st_tui_calls_need(struct st_tui_calls *c, struct st_error *e);
/* Forgets what depends on metric and threads, before one of them is changed. */
void st_tui_calls_forget(struct st_tui_calls *c);

/* The cost of a node by itself, and with all nodes below it. */
double st_tui_calls_own(const struct st_tui_calls *c, uint32_t group, uint32_t node);
double st_tui_calls_total(const struct st_tui_calls *c, uint32_t group, uint32_t node);
/* The cost of each label by itself, and with all nodes below it, where a function that is on the
 * stack several times counts once. *own and *total are malloc'ed. -1: no memory. */
st_status st_tui_calls_of_labels(const struct st_tui_calls *c, double **own, double **total);
/* The callers (or the callees) of a label, those with most first. The caller frees out->v. 0, or
 * -1 with *e. */
st_status st_tui_calls_pairs(struct st_tui_calls *c, uint32_t label, bool callers,
                             st_tui_pairs *out, struct st_error *e);
/* The label of a function of the profile; UINT32_MAX: it has none. */
uint32_t st_tui_calls_label(const struct st_tui_calls *c, uint32_t function);

/* "main [app]", for blocks "main+12 [app]", for calls from lines "main (a.c:7) [app]". malloc'ed;
 * NULL: no memory. */
char *st_tui_calls_name(const struct st_tui_calls *c, uint32_t label);
/* Formats a value with its unit. malloc'ed; NULL: no memory. */
char *st_tui_calls_value(const struct st_tui_calls *c, double value);
/* The share that a value has of `all`, in percent. */
double st_tui_calls_percent(const struct st_tui_calls *c, double value);
/* The metric's name, and the threads: "time", "samples of thread 12". malloc'ed; NULL: no memory.
 */
char *st_tui_calls_title(const struct st_tui_calls *c);

#endif
