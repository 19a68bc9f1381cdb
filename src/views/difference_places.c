/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the items of a difference by source line, and those that follow from calling contexts:
 * by context, and by function of profiles that have nothing but contexts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/mem.h"
#include "views/costs.h"
#include "views/difference.h"

static st_status
places_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
}

/* Adds an item, whose texts it takes over. */
static st_status
places_add(struct st_difference_items *items, struct st_difference_item x, const char *metric,
           const char *unit, double value)
{
	struct st_difference_item *slot = ST_PUSH(&items->v);
	if (!slot) {
		free(x.name);
		free(x.key);
		return ST_FAILED;
	}
	x.additive = x.sum = true;
	x.image = x.image ? strdup(x.image) : NULL;
	x.build_id = strdup(x.build_id ? x.build_id : "");
	x.file = x.file ? strdup(x.file) : NULL;
	x.metric = strdup(metric);
	x.unit = strdup(unit);
	*slot = x;
	double *number = ST_PUSH(&slot->values);
	if (!number || !x.name || !x.build_id || !x.metric || !x.unit)
		return ST_FAILED;
	*number = value;
	return ST_OK;
}

/* ---- source lines ---- */

/* Metrics of lines of a profile: their names and fields. */
static const struct {
	const char *name;
	size_t field;
} line_metrics[] = {
        {"instructions", offsetof(struct st_profile_line, instructions)},
        {"executions", offsetof(struct st_profile_line, executions)},
        {"samples", offsetof(struct st_profile_line, samples)},
};
enum { LINE_METRICS = sizeof line_metrics / sizeof *line_metrics };

static enum st_metric_noise
line_noise(size_t metric)
{
	return !strcmp(line_metrics[metric].name, "samples") ? ST_METRIC_SAMPLED : ST_METRIC_EXACT;
}

/*
 * The key of a line has its distance from the first line of the function, and not the name of the
 * file, so that lines are the same in another file, or if something above the function was added or
 * removed. The first line is that of the declaration or, where it is not known, of the first
 * instruction, so that a few lines of the function may be above. Lines further above are of
 * functions that were inlined: they are known by their numbers, and lines of other files by file
 * and number.
 */
enum { LINES_ABOVE = 10 };

static char *
lines_key(const struct st_profile_function *f, const struct st_profile_line *l)
{
	const bool own = f->line && f->file && !strcmp(f->file, l->file);
	if (!own)
		return st_text_of("%s\n%s\n%" PRIu32, f->name, st_base_name(l->file), l->line);
	if ((uint64_t)l->line + LINES_ABOVE < f->line)
		return st_text_of("%s\n%" PRIu32, f->name, l->line);
	return st_text_of("%s\n+%" PRId64, f->name, (int64_t)l->line - f->line);
}

static st_status
lines_add(struct st_difference_items *items, const struct st_profile *p,
          const struct st_profile_line *l, size_t metric)
{
	const struct st_profile_function *f = &p->functions.v[l->function];
	const bool named =
	        st_match_is_name(f->name, p->images.v[f->image].path, f->offset) && l->line;
	uint64_t value;
	memcpy(&value, (const char *)l + line_metrics[metric].field, sizeof value);
	if (!value)
		return ST_OK;
	struct st_difference_item x = {
	        .name = st_text_of("%s (%s:%" PRIu32 ")", f->name, st_base_name(l->file), l->line),
	        .key = named ? lines_key(f, l) : NULL,
	        .image = (char *)(uintptr_t)p->images.v[f->image].path,
	        .build_id = (char *)(uintptr_t)p->images.v[f->image].build_id,
	        .file = (char *)(uintptr_t)f->file,
	        .offset = f->offset + l->line,
	        .noise = line_noise(metric)};
	if (named && !x.key) {
		free(x.name);
		return ST_FAILED;
	}
	return places_add(items, x, line_metrics[metric].name, "", (double)value);
}

static bool
lines_have(const struct st_profile *p, size_t metric)
{
	return strcmp(line_metrics[metric].name, "samples") != 0 || st_profile_share_is_time(p);
}

static st_status
lines_choose(struct st_difference_metric *chosen, const struct st_profile *const both[ST_SIDES],
             const struct st_difference_choice *c, size_t *metric, struct st_error *e)
{
	for (*metric = 0; c->metric && *metric < LINE_METRICS; ++*metric)
		if (!strcmp(line_metrics[*metric].name, c->metric))
			break;
	if (*metric == LINE_METRICS)
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric '%s' of source lines; --metric takes instructions, "
		               "executions or samples",
		               c->metric);
	for (int side = 0; side < ST_SIDES; side++)
		if (!lines_have(both[side], *metric))
			return st_fail(e, ST_EXIT_USAGE,
			               "%s has too few samples to compare their numbers: leave out "
			               "--metric samples",
			               c->names[side]);
	chosen->metric = strdup(line_metrics[*metric].name);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < LINE_METRICS; i++)
		if (i != *metric && lines_have(both[ST_A], i) && lines_have(both[ST_B], i))
			fprintf(out, ", %s", line_metrics[i].name);
	chosen->others = out ? st_text_end(&built) : NULL;
	return chosen->metric && chosen->others ? ST_OK : places_no_memory(e);
}

static st_status
lines_collect(struct st_difference_items items[ST_SIDES], struct st_difference_metric *chosen,
              const struct st_profile *const both[ST_SIDES], const struct st_difference_choice *c,
              struct st_error *e)
{
	size_t metric;
	if (lines_choose(chosen, both, c, &metric, e))
		return ST_FAILED;
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < both[side]->lines.n; i++)
			if (lines_add(&items[side], both[side], &both[side]->lines.v[i], metric))
				return places_no_memory(e);
	return ST_OK;
}

/* ---- lines that allocate ---- */

static st_status
sites_add(struct st_difference_items *items, const struct st_mem *m,
          const struct st_mem_site_row *row, enum st_mem_metric metric)
{
	const struct st_mem_frame *f = &m->frames.v[row->frame];
	struct st_difference_item x = {
	        .name = *f->file && f->line ? st_text_of("%s (%s:%" PRIu32 ")", f->function,
	                                                 st_base_name(f->file), f->line)
	                                    : strdup(f->function),
	        .image = *f->image ? (char *)(uintptr_t)f->image : NULL,
	        .file = *f->file ? (char *)(uintptr_t)f->file : NULL};
	/* The file may have another name on the other side. */
	x.key = st_text_of("%s\n%" PRIu32, f->function, f->line);
	if (!x.name || !x.key) {
		free(x.name);
		free(x.key);
		return ST_FAILED;
	}
	return places_add(items, x, st_mem_metric_name(metric), metric == ST_MEM_CALLS ? "" : "B",
	                  (double)st_mem_value(&row->sum, metric));
}

static st_status
sites_of_side(struct st_difference_items *items, const struct st_profile *p,
              enum st_mem_metric metric, struct st_error *e)
{
	struct st_mem m = {0};
	struct st_mem_sites sites = {0};
	st_status status = st_mem_read(&m, p, e);
	if (!status && st_mem_group(&m, &sites))
		status = places_no_memory(e);
	for (size_t i = 0; i < sites.rows.n && !status; i++)
		if (!sites.rows.v[i].mapped && sites_add(items, &m, &sites.rows.v[i], metric))
			status = places_no_memory(e);
	free(sites.rows.v);
	st_mem_free(&m);
	return status;
}

static st_status
sites_collect(struct st_difference_items items[ST_SIDES], struct st_difference_metric *chosen,
              const struct st_profile *const both[ST_SIDES], const struct st_difference_choice *c,
              struct st_error *e)
{
	enum st_mem_metric metric = st_mem_usual_metric(both[ST_A]);
	if (c->metric && !st_mem_metric_named(c->metric, &metric))
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric '%s' of allocations; --metric takes peak, live, total or "
		               "calls",
		               c->metric);
	chosen->metric = strdup(st_mem_metric_name(metric));
	chosen->others = strdup("");
	if (!chosen->metric || !chosen->others)
		return places_no_memory(e);
	for (int side = 0; side < ST_SIDES; side++)
		if (sites_of_side(&items[side], both[side], metric, e))
			return ST_FAILED;
	return ST_OK;
}

/* ---- contexts ---- */

static char *
costs_path(const struct st_contexts *c, const struct st_forest *f, uint32_t node)
{
	uint32_t *path = malloc((f->n + 1) * sizeof *path), n = 0;
	struct st_text built;
	FILE *out = path ? st_text_begin(&built) : NULL;
	for (; out && node != ST_NO_NODE; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	while (out && n-- > 0)
		fprintf(out, "%s%s", c->labels[path[n]].name, n ? ";" : "");
	free(path);
	return out ? st_text_end(&built) : NULL;
}

static st_status
costs_add_context(struct st_difference_items *items, const struct st_costs *costs,
                  const struct st_forest *f, uint32_t node)
{
	const double value = st_costs_value(costs, &f->nodes[node].weight);
	if (!(value > 0))
		return ST_OK;
	struct st_difference_item x = {.name = costs_path(&costs->contexts, f, node)};
	x.noise = *costs->unit && strcmp(costs->unit, "B") != 0 ? ST_METRIC_NOISY : ST_METRIC_EXACT;
	x.key = x.name ? strdup(x.name) : NULL;
	if (x.name && !x.key) {
		free(x.name);
		return ST_FAILED;
	}
	return places_add(items, x, costs->metric, costs->unit, value);
}

static st_status
costs_add_function(struct st_difference_items *items, const struct st_costs *costs,
                   const struct st_profile *p, uint32_t label, double value)
{
	const struct st_context_label *l = &costs->contexts.labels[label];
	if (!(value > 0) || l->root)
		return ST_OK;
	const bool named = st_match_is_name(l->name, l->image, l->offset);
	struct st_difference_item x = {
	        .name = strdup(l->name),
	        .key = named ? strdup(l->name) : NULL,
	        .image = (char *)(uintptr_t)l->image,
	        .build_id = l->in_image < p->images.n
	                            ? (char *)(uintptr_t)p->images.v[l->in_image].build_id
	                            : NULL,
	        .file = (char *)(uintptr_t)l->file,
	        .offset = l->offset,
	        .noise = *costs->unit ? ST_METRIC_NOISY : ST_METRIC_EXACT};
	if (named && !x.key) {
		free(x.name);
		return ST_FAILED;
	}
	return places_add(items, x, costs->metric, costs->unit, value);
}

static st_status
costs_by_function(struct st_difference_items *items, const struct st_costs *costs,
                  const struct st_profile *p)
{
	const struct st_contexts *c = &costs->contexts;
	double *sums = calloc(c->n_labels + 1, sizeof *sums);
	st_status status = sums ? ST_OK : ST_FAILED;
	for (size_t g = 0; g < c->groups.n && !status; g++) {
		const struct st_forest *f = &c->groups.v[g].ksf;
		for (uint32_t i = 0; i < f->n; i++)
			sums[c->labels[f->nodes[i].label].function] +=
			        st_costs_value(costs, &f->nodes[i].weight);
	}
	for (uint32_t i = 0; i < c->n_labels && !status; i++)
		status = costs_add_function(items, costs, p, i, sums[i]);
	free(sums);
	return status;
}

static st_status
costs_by_context(struct st_difference_items *items, const struct st_costs *costs)
{
	const struct st_contexts *c = &costs->contexts;
	for (size_t g = 0; g < c->groups.n; g++)
		for (uint32_t i = 0; i < c->groups.v[g].ksf.n; i++)
			if (costs_add_context(items, costs, &c->groups.v[g].ksf, i))
				return ST_FAILED;
	return ST_OK;
}

/* Collects the items of both sides, by default with the metric of the first. */
static st_status
costs_collect(struct st_difference_items items[ST_SIDES], struct st_difference_metric *chosen,
              const struct st_profile *const both[ST_SIDES], const struct st_difference_choice *c,
              struct st_error *e)
{
	st_status status = ST_OK;
	for (int side = 0; side < ST_SIDES && !status; side++) {
		struct st_costs costs;
		status = st_costs_open(&costs, both[side], c->names[side],
		                       side == ST_A ? c->metric : chosen->metric, false, e);
		if (!status && side == ST_A) {
			chosen->metric = strdup(costs.metric);
			chosen->others = strdup("");
			if (!chosen->metric || !chosen->others)
				status = places_no_memory(e);
		}
		if (!status &&
		    (c->by == ST_BY_CONTEXT ? costs_by_context(&items[side], &costs)
		                            : costs_by_function(&items[side], &costs, both[side])))
			status = places_no_memory(e);
		st_costs_free(&costs);
	}
	return status;
}

/* ---- all of them ---- */

/* Whether the items follow from contexts: profiles of counted contexts have no other costs of
 * functions, and the wall time of functions is in the stacks of samples. */
static bool
places_are_contexts(const struct st_profile *p, const struct st_difference_choice *c)
{
	struct st_context_options o;
	if (c->by != ST_BY_FUNCTION)
		return c->by == ST_BY_CONTEXT;
	if (!st_contexts_options(p, &o))
		return false;
	return !o.sampled || (o.time && c->metric &&
	                      (!strcmp(c->metric, "time") ||
	                       st_wall_part_named(c->metric, &(enum st_wall_part){0})));
}

bool
st_difference_has_places(const struct st_profile *const both[ST_SIDES],
                         const struct st_difference_choice *c)
{
	return c->by == ST_BY_LINE || places_are_contexts(both[ST_A], c) ||
	       places_are_contexts(both[ST_B], c);
}

st_status
st_difference_collect_places(struct st_difference_items items[ST_SIDES],
                             struct st_difference_metric *chosen,
                             const struct st_profile *const both[ST_SIDES],
                             const struct st_difference_choice *c, struct st_error *e)
{
	*chosen = (struct st_difference_metric){0};
	if (c->by != ST_BY_LINE)
		return costs_collect(items, chosen, both, c, e);
	if (st_mem_tool(both[ST_A]) && st_mem_tool(both[ST_B]))
		return sites_collect(items, chosen, both, c, e);
	for (int side = 0; side < ST_SIDES; side++)
		if (!both[side]->lines.n)
			return st_fail(e, ST_EXIT_USAGE,
			               "%s has no counts of source lines: strobe run counts them, "
			               "and strobe mem the lines that allocate, of programs with "
			               "debug information (-g)",
			               c->names[side]);
	return lines_collect(items, chosen, both, c, e);
}
