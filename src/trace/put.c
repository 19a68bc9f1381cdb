/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace as the tables of the tool `calltimes` (src/tools/calltimes.c) in a profile. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "profile/tables.h"
#include "trace/trace.h"

/* A function that the tables name. */
struct named {
	const char *name, *image, *build_id, *file;
	uint64_t offset;
	uint32_t line, at; /* in the profile's functions */
	uint32_t image_at; /* UINT32_MAX: no image is known */
};

struct putting {
	const struct st_trace *t;
	struct st_profile *p;
	ST_VEC(struct named) named; /* those of t->functions, t->refused, t->steps */
};

/* ---- images and functions ---- */

/* UINT32_MAX: there is none, or no memory. */
static uint32_t
put_image(struct st_profile *p, const struct named *n)
{
	const char *build_id = n->build_id ? n->build_id : "";
	if (!n->image)
		return UINT32_MAX;
	for (size_t i = p->images.n; i-- > 0;)
		if (!strcmp(p->images.v[i].path, n->image))
			return (uint32_t)i;
	struct st_profile_image *image = ST_PUSH(&p->images);
	if (!image) {
		p->out_of_memory = true;
		return UINT32_MAX;
	}
	image->path = st_profile_text(p, n->image);
	image->build_id = st_profile_text(p, build_id);
	image->symbols = "symbols";
	return (uint32_t)p->images.n - 1;
}

static st_status
list_named(struct putting *w)
{
	const struct st_trace *t = w->t;
	const size_t steps = t->functions.n + t->refused.n;
	for (size_t i = 0; i < steps + t->steps.n; i++) {
		struct named *n = ST_PUSH(&w->named);
		if (!n)
			return ST_FAILED;
		if (i < t->functions.n) {
			const struct st_trace_function *f = &t->functions.v[i];
			*n = (struct named){.name = f->name,
			                    .image = f->image,
			                    .build_id = f->build_id,
			                    .file = f->file,
			                    .offset = f->offset,
			                    .line = f->line};
		} else if (i >= steps) {
			const struct st_trace_step *step = &t->steps.v[i - steps];
			*n = (struct named){
			        .name = step->name, .image = step->image, .offset = step->offset};
		} else {
			const struct st_trace_refused *r = &t->refused.v[i - t->functions.n];
			*n = (struct named){
			        .name = r->name, .image = r->image, .offset = r->offset};
		}
		n->image_at = put_image(w->p, n);
	}
	return ST_OK;
}

static int
named_order(const void *a, const void *b, void *arg)
{
	const struct named *v = arg, *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];
	if (x->image_at != y->image_at)
		return x->image_at < y->image_at ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool
is_same_named(const struct named *a, const struct named *b)
{
	return a->image_at == b->image_at && a->offset == b->offset && !strcmp(a->name, b->name);
}

/* The functions are in the profile's order; one of several threads is there once. */
static st_status
put_functions(struct putting *w)
{
	const size_t n = w->named.n;
	uint32_t *order = calloc(n + 1, sizeof *order);
	const struct named *before = NULL;
	if (!order)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (n)
		qsort_r(order, n, sizeof *order, named_order, w->named.v);
	for (size_t i = 0; i < n; i++) {
		struct named *f = &w->named.v[order[i]];
		struct st_profile_function *to = NULL;
		f->at = UINT32_MAX;
		if (f->image_at == UINT32_MAX)
			continue;
		if (!before || !is_same_named(before, f))
			to = ST_PUSH(&w->p->functions);
		f->at = (uint32_t)w->p->functions.n - 1;
		before = f;
		if (to)
			*to = (struct st_profile_function){
			        .image = f->image_at,
			        .line = f->line,
			        .offset = f->offset,
			        .size = 1,
			        .name = st_profile_text(w->p, f->name),
			        .file = f->file ? st_profile_text(w->p, f->file) : NULL};
	}
	free(order);
	return ST_OK;
}

/* ---- tables ---- */

static struct st_profile_value
function_value(struct putting *w, uint32_t function)
{
	if (function == ST_TRACE_NOBODY)
		return st_profile_value_number(0);
	const struct named *f = &w->named.v[function];
	return (struct st_profile_value){f->offset, st_profile_text(w->p, f->name), f->image_at,
	                                 f->at};
}

static uint64_t
thread_number(const struct st_trace_function *f)
{
	return f->tid < 0 ? 0 : (uint64_t)f->tid;
}

#define TICKS_SUM(name)                                                                            \
	{                                                                                          \
		name, STROBE_TICKS, STROBE_IS_SUM                                                  \
	}
#define N_OF(columns) (sizeof columns / sizeof *columns)

static st_status
put_calls(struct putting *w)
{
	static const struct st_profile_column columns[] = {
	        {"thread", STROBE_THREAD, STROBE_IS_KEY},
	        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
	        ST_SUM("calls"),
	        TICKS_SUM("inclusive"),
	        TICKS_SUM("outermost"),
	        TICKS_SUM("exclusive"),
	        {"shortest", STROBE_TICKS, STROBE_IS_MIN},
	        {"longest", STROBE_TICKS, STROBE_IS_MAX},
	        ST_SUM("lost")};
	struct st_profile_table *table = st_profile_table_add(
	        w->p, "calltimes", "functions", "run time of functions", 2, N_OF(columns), columns);
	for (uint32_t i = 0; table && i < w->t->functions.n; i++) {
		const struct st_trace_function *f = &w->t->functions.v[i];
		const struct st_profile_value row[] = {st_profile_value_number(thread_number(f)),
		                                       function_value(w, i),
		                                       st_profile_value_number(f->calls),
		                                       st_profile_value_number(f->inclusive_ns),
		                                       st_profile_value_number(f->outermost_ns),
		                                       st_profile_value_number(f->exclusive_ns),
		                                       st_profile_value_number(f->min_ns),
		                                       st_profile_value_number(f->max_ns),
		                                       st_profile_value_number(f->lost)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

/* Of functions whose times are estimates. */
static st_status
put_estimates(struct putting *w)
{
	static const struct st_profile_column columns[] = {
	        {"thread", STROBE_THREAD, STROBE_IS_KEY},
	        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
	        ST_SUM("counted"),
	        {"error", STROBE_TICKS, STROBE_IS_MAX},
	        ST_SUM("unknown")};
	struct st_profile_table *table = NULL;
	for (uint32_t i = 0; i < w->t->functions.n; i++) {
		const struct st_trace_function *f = &w->t->functions.v[i];
		const struct st_profile_value row[] = {
		        st_profile_value_number(thread_number(f)), function_value(w, i),
		        st_profile_value_number(f->counted), st_profile_value_number(f->error_ns),
		        st_profile_value_number(f->error_unknown)};
		if (f->counted && !table) {
			table = st_profile_table_add(
			        w->p, "calltimes", "estimates",
			        "calls that were counted, not timed, and the error of "
			        "the inclusive time",
			        2, N_OF(columns), columns);
			if (!table)
				return ST_FAILED;
		}
		if (f->counted && st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
put_pairs(struct putting *w)
{
	static const struct st_profile_column columns[] = {
	        {"thread", STROBE_THREAD, STROBE_IS_KEY},
	        {"caller", STROBE_FUNCTION, STROBE_IS_KEY},
	        {"callee", STROBE_FUNCTION, STROBE_IS_KEY},
	        ST_SUM("calls"),
	        TICKS_SUM("inclusive"),
	        TICKS_SUM("outermost")};
	struct st_profile_table *table =
	        st_profile_table_add(w->p, "calltimes", "pairs", "run time by caller and callee", 3,
	                             N_OF(columns), columns);
	for (size_t i = 0; table && i < w->t->pairs.n; i++) {
		const struct st_trace_pair *pair = &w->t->pairs.v[i];
		const struct st_trace_function *callee = &w->t->functions.v[pair->callee];
		const struct st_profile_value row[] = {
		        st_profile_value_number(thread_number(callee)),
		        function_value(w, pair->caller),
		        function_value(w, pair->callee),
		        st_profile_value_number(pair->calls),
		        st_profile_value_number(pair->inclusive_ns),
		        st_profile_value_number(pair->outermost_ns)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_durations(struct putting *w)
{
	static const struct st_profile_column columns[] = {
	        {"thread", STROBE_THREAD, STROBE_IS_KEY},
	        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
	        {"from", STROBE_TICKS, STROBE_IS_KEY},
	        ST_SUM("calls")};
	struct st_profile_table *table =
	        st_profile_table_add(w->p, "calltimes", "durations", "how many calls took how long",
	                             3, N_OF(columns), columns);
	for (uint32_t i = 0; table && i < w->t->functions.n; i++) {
		const struct st_trace_function *f = &w->t->functions.v[i];
		for (size_t k = 0; k < f->classes.n; k++) {
			const struct st_profile_value row[] = {
			        st_profile_value_number(thread_number(f)), function_value(w, i),
			        st_profile_value_number(f->classes.v[k].from_ns),
			        st_profile_value_number(f->classes.v[k].calls)};
			if (st_profile_table_add_row(table, row))
				return ST_FAILED;
		}
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_refused(struct putting *w, bool left_out)
{
	static const struct st_profile_column columns[] = {
	        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
	        {"reason", STROBE_TEXT, STROBE_IS_KEY},
	        ST_SUM("refused")};
	struct st_profile_table *table = NULL;
	for (size_t i = 0; i < w->t->refused.n; i++) {
		if (w->t->refused.v[i].left_out != left_out)
			continue;
		if (!table)
			table = st_profile_table_add(
			        w->p, "calltimes", left_out ? "left_out" : "refused",
			        left_out ? "functions that were left out"
			                 : "functions that could not be traced",
			        2, N_OF(columns), columns);
		if (!table)
			return ST_FAILED;
		const struct st_profile_value row[] = {
		        function_value(w, (uint32_t)(w->t->functions.n + i)),
		        st_profile_value_text(w->p, w->t->refused.v[i].reason),
		        st_profile_value_number(1)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
put_steps(struct putting *w)
{
	static const struct st_profile_column columns[] = {
	        {"function", STROBE_FUNCTION, STROBE_IS_KEY},
	        {"at", STROBE_TICKS, STROBE_IS_KEY},
	        {"every", STROBE_NUMBER, STROBE_IS_MAX}};
	const size_t first = w->t->functions.n + w->t->refused.n;
	if (!w->t->steps.n)
		return ST_OK;
	struct st_profile_table *table = st_profile_table_add(
	        w->p, "calltimes", "steps",
	        "from when on one of how many calls was timed (0: none was seen)", 2, N_OF(columns),
	        columns);
	for (size_t i = 0; table && i < w->t->steps.n; i++) {
		const struct st_profile_value row[] = {
		        function_value(w, (uint32_t)(first + i)),
		        st_profile_value_number(w->t->steps.v[i].at_ns),
		        st_profile_value_number(w->t->steps.v[i].every)};
		if (st_profile_table_add_row(table, row))
			return ST_FAILED;
	}
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_budget(struct putting *w)
{
	static const struct st_profile_column columns[] = {{"what", STROBE_TEXT, STROBE_IS_KEY},
	                                                   ST_SUM("number")};
	const struct st_trace_budget *b = &w->t->budget;
	if (!(b->share > 0))
		return ST_OK;
	struct st_profile_table *table =
	        st_profile_table_add(w->p, "calltimes", "budget", "what probes might cost, and did",
	                             1, N_OF(columns), columns);
	const struct st_profile_value rows[][2] = {
	        {st_profile_value_text(w->p, ST_TRACE_BUDGET_SHARE),
	         st_profile_value_number((uint64_t)(b->share * 1e6 + 0.5))},
	        {st_profile_value_text(w->p, ST_TRACE_BUDGET_CPU),
	         st_profile_value_number(b->cpu_ns)},
	        {st_profile_value_text(w->p, ST_TRACE_BUDGET_COST),
	         st_profile_value_number(b->cost_ns)}};
	for (size_t i = 0; table && i < N_OF(rows); i++)
		if (st_profile_table_add_row(table, rows[i]))
			return ST_FAILED;
	return table ? ST_OK : ST_FAILED;
}

static st_status
put_lost(struct putting *w)
{
	static const struct st_profile_column columns[] = {{"what", STROBE_TEXT, STROBE_IS_KEY},
	                                                   ST_SUM("count")};
	if (!w->t->lost_records && !w->t->nested_returns)
		return ST_OK;
	struct st_profile_table *table = st_profile_table_add(
	        w->p, "calltimes", "lost", "what the engine has lost", 1, N_OF(columns), columns);
	const struct st_profile_value records[] = {
	        st_profile_value_text(w->p, ST_TRACE_LOST_RECORDS),
	        st_profile_value_number(w->t->lost_records)};
	const struct st_profile_value nested[] = {st_profile_value_text(w->p, ST_TRACE_LOST_NESTED),
	                                          st_profile_value_number(w->t->nested_returns)};
	return table && !st_profile_table_add_row(table, records) &&
	                       !st_profile_table_add_row(table, nested)
	               ? ST_OK
	               : ST_FAILED;
}

static st_status
put_cost(struct putting *w)
{
	static const struct st_profile_column columns[] = {{"what", STROBE_TEXT, STROBE_IS_KEY},
	                                                   ST_SUM("picoseconds")};
	const struct st_trace_cost *cost = &w->t->probe;
	if (!cost->ps)
		return ST_OK;
	struct st_profile_table *table = st_profile_table_add(
	        w->p, "calltimes", "probe", "what a probe costs", 1, N_OF(columns), columns);
	const struct st_profile_value rows[][2] = {
	        {st_profile_value_text(w->p, ST_TRACE_PROBE_CALL),
	         st_profile_value_number(cost->ps)},
	        {st_profile_value_text(w->p, ST_TRACE_PROBE_ERROR),
	         st_profile_value_number(cost->error_ps)},
	        {st_profile_value_text(w->p, ST_TRACE_PROBE_LEAST),
	         st_profile_value_number(cost->least_ps)}};
	for (size_t i = 0; table && i < N_OF(rows); i++)
		if (st_profile_table_add_row(table, rows[i]))
			return ST_FAILED;
	return table ? ST_OK : ST_FAILED;
}

st_status
st_trace_put(const struct st_trace *t, struct st_profile *p)
{
	struct putting w = {.t = t, .p = p};
	st_status status = list_named(&w);
	if (!status)
		status = put_functions(&w);
	if (!status && (put_calls(&w) || put_estimates(&w) || put_pairs(&w) || put_durations(&w) ||
	                put_refused(&w, false) || put_refused(&w, true) || put_lost(&w) ||
	                put_cost(&w) || put_steps(&w) || put_budget(&w)))
		status = ST_FAILED;
	free(w.named.v);
	return status || p->out_of_memory ? ST_FAILED : ST_OK;
}
