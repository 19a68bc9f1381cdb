/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the calling contexts, and choosing among their threads and metrics. */
#include "tui/calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/mem.h"

/* ---- what there is ---- */

static bool
calls_has_series(const struct st_profile *p)
{
	for (size_t i = 0; i < p->measurements.series.n; i++)
		if (p->measurements.series.v[i].key.n_frames)
			return true;
	return false;
}

bool
st_tui_has_calls(const struct st_profile *p)
{
	struct st_context_options o;
	return st_contexts_options(p, &o) || st_mem_tool(p) || calls_has_series(p);
}

bool
st_tui_has_threads(const struct st_profile *p)
{
	struct st_context_options o;
	return st_contexts_options(p, &o) && p->threads.n > 1;
}

/* Metrics of contexts: a name for each that was measured, and for each part of wall time. */
static const char *
calls_context_metric(const struct st_context_options *o, size_t i)
{
	static const char *const parts[] = {
#define P(id, word) word,
	        ST_WALL_PARTS(P)
#undef P
	};
	if (o->sampled && o->time)
		return i < sizeof parts / sizeof *parts ? parts[i] : NULL;
	const struct {
		bool has;
		const char *name;
	} metrics[] = {{o->time, "time"},
	               {o->instructions, "instructions"},
	               {true, o->sampled ? "samples" : "count"}};
	for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
		if (metrics[k].has && !i--)
			return metrics[k].name;
	return NULL;
}

const char *
st_tui_calls_metric(const struct st_tui_calls *c, size_t i)
{
	struct st_context_options o;
	if (st_contexts_options(c->profile, &o))
		return calls_context_metric(&o, i);
	if (st_mem_tool(c->profile)) {
		/* the usual one first */
		const enum st_mem_metric usual = st_mem_usual_metric(c->profile);
		if (i > ST_MEM_CALLS)
			return NULL;
		return st_mem_metric_name(!i ? usual : i <= usual ? i - 1 : i);
	}
	return i ? NULL : "cost";
}

/* ---- reading ---- */

void
st_tui_calls_init(struct st_tui_calls *c, const struct st_profile *p, const char *file)
{
	*c = (struct st_tui_calls){.profile = p, .file = file};
}

void
st_tui_calls_forget(struct st_tui_calls *c)
{
	for (size_t i = 0; c->totals && i < c->costs.contexts.groups.n; i++)
		free(c->totals[i]);
	free(c->totals);
	free(c->chosen);
	if (c->known)
		st_costs_free(&c->costs);
	if (c->paired)
		st_forest_free(&c->pairs);
	c->totals = NULL;
	c->chosen = NULL;
	c->known = c->paired = false;
}

static bool
calls_has_wall(const struct st_profile *p)
{
	struct st_context_options o;
	return st_contexts_options(p, &o) && o.sampled && o.time;
}

/* Reads the contexts by thread, so that the user can choose among the threads. */
static st_status
calls_read_contexts(struct st_tui_calls *c, const char *metric, struct st_error *e)
{
	struct st_context_choice choice = {.join_threads = false};
	const bool part = st_wall_part_named(metric, &choice.part);
	c->costs = (struct st_costs){.metric = metric, .unit = "", .scale = 1};
	c->costs.field = offsetof(struct st_weight, count);
	if (part && choice.part == ST_WALL_SAMPLES && !calls_has_wall(c->profile))
		choice.part = ST_WALL_ANY; /* the profile has samples only */
	if (!strcmp(metric, "time") || (part && strcmp(metric, "samples") != 0)) {
		c->costs.unit = "ns";
		c->costs.field = offsetof(struct st_weight, self_ns);
	} else if (!strcmp(metric, "instructions")) {
		c->costs.field = offsetof(struct st_weight, instructions);
	}
	return st_contexts_make(&c->costs.contexts, c->profile, &choice, e);
}

static st_status
calls_read(struct st_tui_calls *c, struct st_error *e)
{
	const char *metric = st_tui_calls_metric(c, c->metric);
	struct st_context_options o;
	c->known = true; /* c->costs is freed even if reading fails */
	if (st_contexts_options(c->profile, &o))
		return calls_read_contexts(c, metric, e);
	return st_costs_open(&c->costs, c->profile, c->file,
	                     st_mem_tool(c->profile) ? metric : NULL, false, e);
}

static bool
calls_is_chosen(const struct st_tui_calls *c, const struct st_context_group *g)
{
	if (c->threads == ST_TUI_ALL_THREADS)
		return true;
	if (g->thread >= c->profile->threads.n)
		return false;
	return c->threads == ST_TUI_ONE_THREAD
	               ? g->thread == c->which
	               : c->profile->threads.v[g->thread].process == c->which;
}

/* Adds up the totals from the last node to the first: children come after their parents. */
static double *
calls_totals(const struct st_tui_calls *c, const struct st_forest *f)
{
	double *totals = calloc((size_t)f->n + 1, sizeof *totals);
	for (uint32_t i = f->n; totals && i-- > 0;) {
		totals[i] += st_costs_value(&c->costs, &f->nodes[i].weight);
		if (f->nodes[i].parent != ST_NO_NODE)
			totals[f->nodes[i].parent] += totals[i];
	}
	return totals;
}

static st_status
calls_add_up(struct st_tui_calls *c)
{
	const struct st_contexts *contexts = &c->costs.contexts;
	c->totals = calloc(contexts->groups.n + 1, sizeof *c->totals);
	c->chosen = calloc(contexts->groups.n + 1, sizeof *c->chosen);
	c->all = 0;
	if (!c->totals || !c->chosen)
		return ST_FAILED;
	for (size_t i = 0; i < contexts->groups.n; i++) {
		const struct st_context_group *g = &contexts->groups.v[i];
		c->chosen[i] = calls_is_chosen(c, g);
		c->totals[i] = calls_totals(c, &g->ksf);
		if (!c->totals[i])
			return ST_FAILED;
		for (uint32_t k = g->ksf.first; c->chosen[i] && k != ST_NO_NODE;
		     k = g->ksf.nodes[k].next)
			c->all += c->totals[i][k];
	}
	return ST_OK;
}

st_status
st_tui_calls_need(struct st_tui_calls *c, struct st_error *e)
{
	if (c->known)
		return ST_OK;
	st_status status = calls_read(c, e);
	if (!status && calls_add_up(c))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the calling contexts");
	if (status)
		st_tui_calls_forget(c);
	return status;
}

/* ---- values ---- */

double
st_tui_calls_own(const struct st_tui_calls *c, uint32_t group, uint32_t node)
{
	return st_costs_value(&c->costs, &c->costs.contexts.groups.v[group].ksf.nodes[node].weight);
}

double
st_tui_calls_total(const struct st_tui_calls *c, uint32_t group, uint32_t node)
{
	return c->totals[group][node];
}

double
st_tui_calls_percent(const struct st_tui_calls *c, double value)
{
	return c->all > 0 ? 100 * value / c->all : 0;
}

char *
st_tui_calls_value(const struct st_tui_calls *c, double value)
{
	char number[ST_NUMBER_SIZE];
	if (!strcmp(c->costs.unit, "ns"))
		return st_text_of("%s", st_duration(number, llround(value)));
	if (fabs(value - round(value)) > 1e-6)
		return st_text_of("%.3f", value);
	return st_text_of("%s%s", value < 0 ? "-" : "",
	                  st_number(number, (uint64_t)llround(fabs(value))));
}

/* ---- names ---- */

char *
st_tui_calls_name(const struct st_tui_calls *c, uint32_t label)
{
	const struct st_context_label *l = &c->costs.contexts.labels[label];
	char inside[ST_NUMBER_SIZE] = "", image[200] = "";
	if (c->costs.contexts.mode != ST_CONTEXT_FUNC && !l->root)
		snprintf(inside, sizeof inside, "%+" PRId64, l->inside);
	if (l->image && *l->image)
		snprintf(image, sizeof image, st_base_name(l->image)[0] == '[' ? " %s" : " [%s]",
		         st_base_name(l->image));
	if (c->costs.lines && l->file && l->line)
		return st_text_of("%s%s (%s:%" PRIu32 ")%s", l->name, inside, st_base_name(l->file),
		                  l->line, image);
	return st_text_of("%s%s%s", l->name, inside, image);
}

char *
st_tui_calls_title(const struct st_tui_calls *c)
{
	const struct st_profile *p = c->profile;
	const char *metric = st_tui_calls_metric(c, c->metric),
	           *unit = !strcmp(c->costs.unit, "B") ? " in bytes" : "";
	if (c->threads == ST_TUI_ONE_THREAD)
		return st_text_of("%s%s of thread %" PRId64 " %s", metric, unit,
		                  p->threads.v[c->which].tid, p->threads.v[c->which].name);
	if (c->threads == ST_TUI_ONE_PROCESS)
		return st_text_of("%s%s of process %" PRId64, metric, unit,
		                  p->processes.v[c->which].pid);
	return st_text_of("%s%s", metric, unit);
}

uint32_t
st_tui_calls_label(const struct st_tui_calls *c, uint32_t function)
{
	const struct st_contexts *contexts = &c->costs.contexts;
	for (uint32_t i = 0; i < contexts->n_labels; i++)
		if (contexts->labels[i].in_function == function &&
		    contexts->mode == ST_CONTEXT_FUNC)
			return i;
	return UINT32_MAX;
}
