/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/trace_limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/json.h"
#include "report/report.h"

/* The steps of one function. */
struct limited {
	const struct st_trace_step *steps;
	size_t n;
	uint64_t calls, timed;
};

static bool
is_of_same_function(const struct st_trace_step *a, const struct st_trace_step *b)
{
	const char *x = a->image ? a->image : "", *y = b->image ? b->image : "";
	return a->offset == b->offset && !strcmp(x, y) && !strcmp(a->name, b->name);
}

/* Those of the function whose steps begin with the i-th. */
static struct limited
limited_at(const struct st_trace *t, size_t i)
{
	struct limited l = {.steps = &t->steps.v[i]};
	while (i + l.n < t->steps.n && is_of_same_function(l.steps, &l.steps[l.n]))
		l.n++;
	for (size_t k = 0; k < t->functions.n; k++) {
		const struct st_trace_function *f = &t->functions.v[k];
		if (!st_trace_is_step_of(l.steps, f))
			continue;
		l.calls += f->calls + f->lost;
		l.timed += f->calls - f->counted;
	}
	return l;
}

static bool
was_dropped(const struct limited *l)
{
	return l->steps[l->n - 1].every == 0;
}

static bool
was_sampled(const struct limited *l)
{
	return l->steps[0].every != 0;
}

/* ---- for people ---- */

static void
add_limited_name(struct st_table *table, const struct st_trace_step *step)
{
	char *name = st_printable(step->name);
	st_table_cell(table, "%s%s%s%s", name ? name : "", step->image ? " [" : "",
	              step->image ? st_base_name(step->image) : "", step->image ? "]" : "");
	free(name);
}

static void
add_when(struct st_table *table, uint64_t ns)
{
	char text[ST_NUMBER_SIZE];
	st_table_cell(table, "%s", st_duration(text, (int64_t)ns));
}

static uint64_t
most_every(const struct limited *l)
{
	uint64_t most = 1;
	for (size_t i = 0; i < l->n; i++)
		most = l->steps[i].every > most ? l->steps[i].every : most;
	return most;
}

static void
add_sampled_row(struct st_table *table, const struct limited *l)
{
	st_table_count(table, l->calls);
	st_table_count(table, l->timed);
	st_table_count(table, most_every(l));
	add_when(table, l->steps[0].at_ns);
	add_limited_name(table, l->steps);
}

static void
add_dropped_row(struct st_table *table, const struct limited *l)
{
	st_table_count(table, l->calls);
	add_when(table, l->steps[l->n - 1].at_ns);
	add_limited_name(table, l->steps);
}

/* One of two tables. */
static void
print_limited(const struct st_trace *t, size_t top, bool dropped, FILE *out)
{
	static const struct st_table_column sampled_columns[] = {{"calls", false},
	                                                         {"timed", false},
	                                                         {"at least 1 of", false},
	                                                         {"since", false},
	                                                         {"function", true}},
	                                    dropped_columns[] = {{"calls before", false},
	                                                         {"at", false},
	                                                         {"function", true}};
	struct st_table *table =
	        dropped ? st_table_new(dropped_columns, 3) : st_table_new(sampled_columns, 5);
	size_t n = 0;
	for (size_t i = 0; i < t->steps.n;) {
		const struct limited l = limited_at(t, i);
		i += l.n;
		if (!(dropped ? was_dropped(&l) : was_sampled(&l)) || (n++ >= top && top))
			continue;
		(dropped ? add_dropped_row : add_sampled_row)(table, &l);
	}
	if (n) {
		fprintf(out, "\nfunctions %s to keep the budget\n",
		        dropped ? "whose probes were taken out"
		                : "whose calls were not all timed,");
		st_table_print(table, out, st_style_of(out));
		if (top && n > top)
			fprintf(out, "  ... and %s more (-n 0 prints all)\n", ST_NUMBER(n - top));
	}
	st_table_free(table);
}

void
st_trace_limits_text(const struct st_trace *t, size_t top, FILE *out)
{
	const struct st_trace_budget *b = &t->budget;
	char cost[ST_NUMBER_SIZE], cpu[ST_NUMBER_SIZE];
	if (!(b->share > 0))
		return;
	fprintf(out,
	        "\n  budget: %g %% of the CPU time without probes; the probes have taken %s of %s, "
	        "which is %.2g %% (and may be a quarter off)\n",
	        100 * b->share, st_duration(cost, (int64_t)b->cost_ns),
	        st_duration(cpu, (int64_t)b->cpu_ns), 100 * st_trace_cost_share(b));
	print_limited(t, top, false, out);
	print_limited(t, top, true, out);
}

/* ---- as JSON ---- */

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

static json_t *
steps_json(const struct limited *l)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < l->n && !bad; i++)
		if (l->steps[i].every)
			bad = json_array_append_new(
			        out,
			        json_pack("{s:o, s:o}", "at_ns", st_json_count(l->steps[i].at_ns),
			                  "every", st_json_count(l->steps[i].every)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
limited_json(const struct limited *l, bool dropped)
{
	const struct st_trace_step *first = l->steps, *last = &l->steps[l->n - 1];
	json_t *out = json_object();
	int bad = 0;
	SET(out, "name", st_json_text(first->name));
	SET(out, "image", first->image ? st_json_text(first->image) : json_null());
	SET(out, "offset", first->image ? st_json_count(first->offset) : json_null());
	if (dropped) {
		SET(out, "at_ns", st_json_count(last->at_ns));
		SET(out, "calls", st_json_count(l->calls));
	} else {
		SET(out, "calls", st_json_count(l->calls));
		SET(out, "timed", st_json_count(l->timed));
		SET(out, "steps", steps_json(l));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
budget_json(const struct st_trace_budget *b)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "share", json_real(b->share));
	SET(out, "cost_share", json_real(st_trace_cost_share(b)));
	SET(out, "cost_ns", st_json_count(b->cost_ns));
	SET(out, "cost_error_ns",
	    st_json_count((uint64_t)((double)b->cost_ns * ST_TRACE_COST_ERROR + 0.5)));
	SET(out, "cpu_ns", st_json_count(b->cpu_ns));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

int
st_trace_add_limits(json_t *root, const struct st_trace *t)
{
	json_t *sampled, *dropped;
	int bad = 0;
	if (!(t->budget.share > 0))
		return 0;
	sampled = json_array();
	dropped = json_array();
	for (size_t i = 0; i < t->steps.n && !bad;) {
		const struct limited l = limited_at(t, i);
		i += l.n;
		if (was_sampled(&l))
			bad |= json_array_append_new(sampled, limited_json(&l, false));
		if (was_dropped(&l))
			bad |= json_array_append_new(dropped, limited_json(&l, true));
	}
	SET(root, "budget", budget_json(&t->budget));
	SET(root, "sampled", sampled);
	SET(root, "dropped", dropped);
	return bad;
}
