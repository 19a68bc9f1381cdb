/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe plot, and the kinds of pictures. */
#ifndef STROBE_CLI_PLOT_H
#define STROBE_CLI_PLOT_H

#include <stdio.h>

#include "base/vec.h"
#include "profile/profile.h"

struct st_blow;

struct st_plot_arguments {
	const char *kind, *output, *of, *metric, *x, *csv, *rev, *title;
	const char *per, *func, *by;
	const char *kept; /* a file of annotations */
	ST_VEC(const char *) files;
	bool no_model, logarithmic, inverted, shares, help;
	bool stacked, grouped, accumulate;
	long top, levels;  /* -1: not given */
	const char *least; /* NULL: not given */
	const char *up_to; /* NULL: not given */
};

/* Each draws into a stream; the caller checks the stream for errors. ST_FAILED with *e: the
 * profiles do not suit the picture or cannot be read, or memory is exhausted. */
st_status st_plot_history(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_scatter(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_flame_graph(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_bars_of(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_flow_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_heat_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Draw records of calls with the models of their annotations, the distances from these, and the
 * distribution of the calls that are as predicted. */
st_status st_plot_cost(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_residuals(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
st_status st_plot_passed(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Reads the campaign of strobe blow, of which one file is given, and draws it. 0, or -1 with *e. */
st_status st_plot_campaign(const struct st_plot_arguments *a, FILE *out, struct st_error *e,
                           st_status (*draw)(const struct st_plot_arguments *a,
                                             const struct st_blow *b, FILE *out,
                                             struct st_error *e));
/* Draws functions and their calls. */
st_status st_plot_callgraph(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Draws the experiments of strobe blow. */
st_status st_plot_causal(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Draws the calls of the experiment that strobe blow has recorded. */
st_status st_plot_blow_timeline(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Draws when threads waited for each other. */
st_status st_plot_thread_waits(const struct st_plot_arguments *a, FILE *out, struct st_error *e);
/* Draws the bars of one profile over a feature or over time. */
st_status st_plot_bars_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e);

/* Returns --title, or the command of the profile, or the name of the first file. malloc'ed; NULL:
 * no memory. */
char *st_plot_title_of(const struct st_plot_arguments *a, const struct st_profile *p);

/* Fails with a usage error unless from least to most profiles are given. */
st_status st_plot_count_files(const struct st_plot_arguments *a, size_t least, size_t most,
                              struct st_error *e);

#endif
