/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/costs.h"

#include <string.h>

#include "export/mem.h"

static const struct {
	const char *name, *unit;
	size_t field;
} cost_metrics[] = {
        {"time", "ns", offsetof(struct st_weight, self_ns)},
        {"instructions", "", offsetof(struct st_weight, instructions)},
        {"count", "", offsetof(struct st_weight, count)},
};
enum { COST_TIME, COST_INSTRUCTIONS, COST_COUNT, COST_METRICS };

static bool
costs_has(const struct st_contexts *c, size_t metric)
{
	return metric == COST_COUNT || (metric == COST_TIME ? c->timed : c->with_instructions);
}

static st_status
costs_of_contexts(struct st_costs *c, const struct st_profile *p, const char *name,
                  const char *metric, struct st_error *e)
{
	struct st_context_choice choice = {.join_threads = true};
	const char *part = metric && st_wall_part_named(metric, &choice.part) ? metric : NULL;
	size_t i = 0;
	if (part) /* its name says which time, and contexts have no other */
		metric = choice.part == ST_WALL_SAMPLES ? "count" : "time";
	if (st_contexts_make(&c->contexts, p, &choice, e))
		return ST_FAILED;
	while (i < COST_METRICS &&
	       (metric ? strcmp(cost_metrics[i].name, metric) != 0 : !costs_has(&c->contexts, i)))
		i++;
	if (i == COST_METRICS)
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric '%s' of contexts; --metric takes time, instructions or "
		               "count, and with hot:wall " ST_WALL_WORDS,
		               metric);
	if (!costs_has(&c->contexts, i))
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has no %s: measure it with strobe paths --%s, or take --metric "
		               "count",
		               name, metric, metric);
	c->metric = part ? part : cost_metrics[i].name;
	c->unit = cost_metrics[i].unit;
	c->field = cost_metrics[i].field;
	return ST_OK;
}

static st_status
costs_of_memory(struct st_costs *c, const struct st_profile *p, const char *metric, bool lines,
                struct st_error *e)
{
	enum st_mem_metric which = st_mem_usual_metric(p);
	if (metric && !st_mem_metric_named(metric, &which))
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric '%s' of allocations; --metric takes peak, live, total or "
		               "calls",
		               metric);
	if (st_mem_read(&c->mem, p, e))
		return ST_FAILED;
	c->metric = st_mem_metric_name(which);
	c->unit = which == ST_MEM_CALLS ? "" : "B";
	c->lines = lines;
	c->field = offsetof(struct st_weight, count);
	return st_mem_contexts_make(&c->contexts, &c->mem, p, which, lines, e);
}

/* Fails with the reason, and names the command that shows the profile instead. */
static st_status
costs_none(const struct st_profile *p, const char *name, struct st_error *e)
{
	if (st_profile_has_tool(p, "calltimes"))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has times of pairs of callers and callees, and no stacks of "
		               "calls: strobe paths --time measures them",
		               name);
	if (p->measurements.series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the measurements of %s have no stacks of calls: strobe plot bars "
		               "and strobe plot scatter show them",
		               name);
	if (st_profile_has_tool(p, "hot"))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no stacks of calls, because no sample was in the code of "
		               "the program: it ended too soon, or --sample-hz was 0",
		               name);
	return st_fail(e, ST_EXIT_FAILED,
	               "%s has no stacks of calls: strobe run -t hot, strobe paths and strobe mem "
	               "record them; strobe plot bars shows its functions",
	               name);
}

st_status
st_costs_open(struct st_costs *c, const struct st_profile *p, const char *name, const char *metric,
              bool lines, struct st_error *e)
{
	struct st_context_options o;
	*c = (struct st_costs){.scale = 1};
	if (st_contexts_options(p, &o))
		return costs_of_contexts(c, p, name, metric, e);
	if (st_mem_tool(p))
		return costs_of_memory(c, p, metric, lines, e);
	for (size_t i = 0; i < p->measurements.series.n; i++)
		if (p->measurements.series.v[i].key.n_frames)
			return st_costs_of_series(c, p, name, metric, lines, e);
	return costs_none(p, name, e);
}

void
st_costs_free(struct st_costs *c)
{
	st_contexts_free(&c->contexts);
	st_mem_free(&c->mem);
}

double
st_costs_value(const struct st_costs *c, const struct st_weight *w)
{
	uint64_t value;
	memcpy(&value, (const char *)w + c->field, sizeof value);
	return (double)value * c->scale;
}
