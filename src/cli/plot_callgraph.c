/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot callgraph: draws functions as boxes and their calls as arrows. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/plot.h"
#include "cli/show_stored.h"
#include "plot/graph.h"
#include "report/measurements.h"
#include "views/callgraph.h"

enum { CALLGRAPH_USUAL_NODES = 60, CALLGRAPH_MOST_NODES = 200, CALLGRAPH_USUAL_LEVELS = 2 };
#define CALLGRAPH_USUAL_LEAST 0.01

struct callgraph_plot {
	const struct st_plot_arguments *a;
	struct st_profile *profile;
	struct st_callgraph graph;
	struct st_callgraph_choice choice;
	struct st_callgraph_chosen chosen;
	struct st_graph_node *boxes;
	struct st_graph_edge *arrows;
	ST_VEC(char *) texts;
};

/* ---- options ---- */

/* Reads a share such as 1% or 0.5%. */
static st_status
callgraph_parse_least(const char *text, double *least, struct st_error *e)
{
	const char *end;
	double value;
	if (st_parse_real(text, &value, &end) || strcmp(end, "%") != 0 || !(value >= 0) ||
	    value > 100)
		return st_fail(e, ST_EXIT_USAGE,
		               "--least takes a share of 0%% to 100%%, such as 1%%, not '%s'",
		               text);
	*least = value / 100;
	return ST_OK;
}

static st_status
callgraph_read_options(struct callgraph_plot *x, struct st_error *e)
{
	const struct st_plot_arguments *a = x->a;
	x->choice = (struct st_callgraph_choice){.least = CALLGRAPH_USUAL_LEAST,
	                                         .centre = ST_CALLGRAPH_NONE,
	                                         .levels = CALLGRAPH_USUAL_LEVELS,
	                                         .most = CALLGRAPH_USUAL_NODES};
	if (a->least && callgraph_parse_least(a->least, &x->choice.least, e))
		return ST_FAILED;
	if (a->levels >= 0)
		x->choice.levels = a->levels ? (size_t)a->levels : SIZE_MAX;
	if (a->levels >= 0 && !a->of)
		return st_fail(e, ST_EXIT_USAGE,
		               "--levels needs --of NAME, the function that is in the middle");
	if (a->top > CALLGRAPH_MOST_NODES)
		return st_fail(e, ST_EXIT_USAGE,
		               "a call graph has at most %d functions: -n takes 1 to %d, and 0 for "
		               "as many as possible",
		               CALLGRAPH_MOST_NODES, CALLGRAPH_MOST_NODES);
	if (a->top >= 0)
		x->choice.most = a->top ? (size_t)a->top : CALLGRAPH_MOST_NODES;
	return ST_OK;
}

static st_status
callgraph_find_centre(struct callgraph_plot *x, struct st_error *e)
{
	if (!x->a->of)
		return ST_OK;
	x->choice.centre = st_callgraph_find(&x->graph, x->a->of);
	return x->choice.centre != ST_CALLGRAPH_NONE
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED,
	                         "no function of %s fits --of %s: strobe show lists the functions",
	                         x->a->files.v[0], x->a->of);
}

/* ---- texts ---- */

/* Takes over a text; "": no memory. */
static const char *
callgraph_keep(struct callgraph_plot *x, char *text)
{
	char **slot = text ? ST_PUSH(&x->texts) : NULL;
	if (!slot) {
		free(text);
		return "";
	}
	*slot = text;
	return text;
}

static double
callgraph_percent(const struct callgraph_plot *x, double value)
{
	return 100 * value / x->graph.all;
}

static void
callgraph_box(struct callgraph_plot *x, size_t i)
{
	const struct st_callgraph *g = &x->graph;
	const struct st_callgraph_node *n = &g->nodes.v[x->chosen.nodes.v[i]];
	char self[2 * ST_NUMBER_SIZE], total[2 * ST_NUMBER_SIZE];
	char *line =
	        g->alone ? st_text_of("%s", ST_COUNT(n->calls, "call", "calls"))
	                 : st_text_of("self %.2f %%, total %.2f %%", callgraph_percent(x, n->self),
	                              callgraph_percent(x, n->total));
	char *hint = g->alone ? st_text_of("%s: %s", n->name, ST_COUNT(n->calls, "call", "calls"))
	                      : st_text_of("%s: itself %s, with callees %s (%s)%s%s%s", n->name,
	                                   st_measured_text(self, g->unit, n->self),
	                                   st_measured_text(total, g->unit, n->total), g->metric,
	                                   g->counted ? ", " : "",
	                                   g->counted ? ST_COUNT(n->calls, "call", "calls") : "",
	                                   n->recursive ? ", recursive" : "");
	x->boxes[i] = (struct st_graph_node){.name = n->name,
	                                     .line = callgraph_keep(x, line),
	                                     .hint = callgraph_keep(x, hint),
	                                     .share = (g->alone ? n->self : n->total) / g->all,
	                                     .recursive = n->recursive,
	                                     .centre = x->chosen.nodes.v[i] == x->choice.centre};
}

static void
callgraph_other_boxes(struct callgraph_plot *x)
{
	const struct st_callgraph_chosen *chosen = &x->chosen;
	char self[2 * ST_NUMBER_SIZE];
	if (chosen->others_to != ST_CALLGRAPH_NONE)
		x->boxes[chosen->others_to] = (struct st_graph_node){
		        .name = "(other)",
		        .line = callgraph_keep(
		                x, st_text_of("self %.2f %%",
		                              callgraph_percent(x, chosen->others_self))),
		        .hint = callgraph_keep(
		                x, st_text_of("functions that are not drawn: themselves %s (%s)",
		                              st_measured_text(self, x->graph.unit,
		                                               chosen->others_self),
		                              x->graph.metric)),
		        .other = true};
	if (chosen->others_from != ST_CALLGRAPH_NONE)
		x->boxes[chosen->others_from] =
		        (struct st_graph_node){.name = "(other callers)",
		                               .line = "not drawn",
		                               .hint = "functions that are not drawn, where they "
		                                       "call others",
		                               .other = true};
}

static void
callgraph_arrow(struct callgraph_plot *x, size_t i)
{
	const struct st_callgraph *g = &x->graph;
	const struct st_callgraph_edge *edge = &x->chosen.edges.v[i];
	const struct st_graph_node *from = &x->boxes[edge->from], *to = &x->boxes[edge->to];
	const double percent = callgraph_percent(x, edge->value);
	char number[ST_NUMBER_SIZE], value[2 * ST_NUMBER_SIZE];
	char *text = from->other || to->other ? NULL
	             : g->alone ? st_text_of("%s \u00d7", st_number(number, edge->calls))
	             : g->counted && edge->calls ? st_text_of("%.2f %%, %s \u00d7", percent,
	                                                      st_number(number, edge->calls))
	                                         : st_text_of("%.2f %%", percent);
	const bool calls = g->counted && edge->calls;
	char *hint =
	        st_text_of("%s \u2192 %s: %s (%s), %.2f %% of all%s%s", from->name, to->name,
	                   st_measured_text(value, g->unit, edge->value), g->metric, percent,
	                   calls ? ", " : "", calls ? ST_COUNT(edge->calls, "call", "calls") : "");
	x->arrows[i] = (struct st_graph_edge){.from = edge->from,
	                                      .to = edge->to,
	                                      .text = text ? callgraph_keep(x, text) : NULL,
	                                      .hint = callgraph_keep(x, hint),
	                                      .share = edge->value / g->all};
}

/* ---- the picture ---- */

static char *
callgraph_note(const struct callgraph_plot *x)
{
	const struct st_callgraph_chosen *chosen = &x->chosen;
	const size_t drawn = chosen->nodes.n, all = x->graph.n_functions;
	char n[ST_NUMBER_SIZE];
	return st_text_of(
	        "Colours and widths are shares of all %s. %s of %s drawn (--least %.4g%%); the "
	        "others are in (other).%s%s",
	        x->graph.metric, st_number(n, drawn), ST_COUNT(all, "function is", "functions are"),
	        100 * x->choice.least, chosen->left_out ? " The limit -n leaves out " : "",
	        chosen->left_out ? ST_COUNT(chosen->left_out, "function.", "functions.") : "");
}

static st_status
callgraph_draw(struct callgraph_plot *x, FILE *out, struct st_error *e)
{
	const struct st_callgraph_chosen *chosen = &x->chosen;
	const size_t others = (chosen->others_to != ST_CALLGRAPH_NONE) +
	                      (chosen->others_from != ST_CALLGRAPH_NONE);
	char *title = st_plot_title_of(x->a, x->profile), *note = callgraph_note(x);
	x->boxes = calloc(chosen->nodes.n + 2, sizeof *x->boxes);
	x->arrows = calloc(chosen->edges.n + 1, sizeof *x->arrows);
	bool good = title && note && x->boxes && x->arrows;
	for (size_t i = 0; good && i < chosen->nodes.n; i++)
		callgraph_box(x, i);
	if (good)
		callgraph_other_boxes(x);
	for (size_t i = 0; good && i < chosen->edges.n; i++)
		callgraph_arrow(x, i);
	if (good)
		good = !st_plot_graph(&(struct st_graph){.title = title,
		                                         .note = note,
		                                         .nodes = x->boxes,
		                                         .n_nodes = chosen->nodes.n + others,
		                                         .edges = x->arrows,
		                                         .n_edges = chosen->edges.n},
		                      out);
	free(title);
	free(note);
	return good ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the call graph");
}

static st_status
callgraph_make(struct callgraph_plot *x, FILE *out, struct st_error *e)
{
	const char *file = x->a->files.v[0];
	if (!(x->profile = st_show_load(file, e)))
		return ST_FAILED;
	if (st_callgraph_open(&x->graph, x->profile, file, x->a->metric, e) ||
	    callgraph_find_centre(x, e))
		return ST_FAILED;
	if (st_callgraph_choose(&x->graph, &x->choice, &x->chosen))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the call graph");
	if (!x->chosen.nodes.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "no function of %s has %.4g %% of the %s: use a smaller --least",
		               file, 100 * x->choice.least, x->graph.metric);
	return callgraph_draw(x, out, e);
}

st_status
st_plot_callgraph(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct callgraph_plot x = {.a = a};
	if (st_plot_count_files(a, 1, 1, e) || callgraph_read_options(&x, e))
		return ST_FAILED;
	const st_status status = callgraph_make(&x, out, e);
	for (size_t i = 0; i < x.texts.n; i++)
		free(x.texts.v[i]);
	free(x.texts.v);
	free(x.boxes);
	free(x.arrows);
	st_callgraph_chosen_free(&x.chosen);
	st_callgraph_free(&x.graph);
	st_profile_free(x.profile);
	return status;
}
