/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace from the tables that the tool `calltimes` (src/tools/calltimes.c) leaves in a profile. */
#include <math.h>
#include <string.h>

#include "base/hashmap.h"
#include "profile/tables.h"
#include "trace/trace.h"

/* Columns of the tables. */
enum { F_THREAD, F_FUNCTION, F_CALLS, F_INCLUSIVE, F_OUTERMOST, F_EXCLUSIVE, F_MIN, F_MAX, F_LOST };
enum { P_THREAD, P_CALLER, P_CALLEE, P_CALLS, P_INCLUSIVE, P_OUTERMOST };
enum { D_THREAD, D_FUNCTION, D_FROM, D_CALLS };
enum { R_FUNCTION, R_REASON, R_CALLS };
enum { L_WHAT, L_COUNT };
enum { S_FUNCTION, S_AT, S_EVERY };
enum { E_THREAD, E_FUNCTION, E_COUNTED, E_ERROR, E_UNKNOWN };

struct reader {
	struct st_trace *t;
	const struct st_profile *p;
	bool per_thread;
	struct st_hashmap functions, pairs; /* of t */
};

static int64_t
tid_of(const struct reader *r, const struct st_profile_value *thread)
{
	return r->per_thread ? (int64_t)thread->number : -1;
}

static bool
is_function(const struct st_trace_function *f, const struct st_profile *p,
            const struct st_profile_value *v, int64_t tid)
{
	const char *image = v->image < p->images.n ? p->images.v[v->image].path : NULL;
	return f->offset == v->number && f->tid == tid && f->image == image &&
	       !strcmp(f->name, v->text ? v->text : "");
}

/* The function of a table's value, made when it is not there; ST_TRACE_NOBODY: no memory. */
static uint32_t
tables_function_of(struct reader *r, const struct st_profile_value *v, int64_t tid)
{
	const struct st_profile *p = r->p;
	const uint32_t hash = st_hash_numbers(v->number ^ (uint64_t)v->image << 48, (uint64_t)tid);
	uint32_t at = ST_HASHMAP_FIND(&r->functions, hash, i,
	                              is_function(&r->t->functions.v[i], p, v, tid));
	if (at != ST_HASHMAP_NONE)
		return at;
	struct st_trace_function *f = ST_PUSH(&r->t->functions);
	if (!f || st_hashmap_add(&r->functions, hash, (uint32_t)r->t->functions.n - 1))
		return ST_TRACE_NOBODY;
	f->name = v->text ? v->text : "";
	f->offset = v->number;
	f->tid = tid;
	if (v->image < p->images.n) {
		f->image = p->images.v[v->image].path;
		f->build_id = p->images.v[v->image].build_id;
	}
	if (v->function < p->functions.n) {
		f->file = p->functions.v[v->function].file;
		f->line = p->functions.v[v->function].line;
	}
	return (uint32_t)r->t->functions.n - 1;
}

static st_status
read_function_tables(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	uint32_t at = tables_function_of(r, &row[F_FUNCTION], tid_of(r, &row[F_THREAD]));
	if (at == ST_TRACE_NOBODY)
		return ST_FAILED;
	struct st_trace_function *f = &r->t->functions.v[at];
	const uint64_t min = row[F_MIN].number;
	f->min_ns = !f->calls || (min && min < f->min_ns) ? min : f->min_ns;
	f->max_ns = row[F_MAX].number > f->max_ns ? row[F_MAX].number : f->max_ns;
	f->calls += row[F_CALLS].number;
	f->lost += row[F_LOST].number;
	f->inclusive_ns += row[F_INCLUSIVE].number;
	f->outermost_ns += row[F_OUTERMOST].number;
	f->exclusive_ns += row[F_EXCLUSIVE].number;
	r->t->lost_returns += row[F_LOST].number;
	return ST_OK;
}

/* The errors of threads do not depend on each other. */
static st_status
read_estimate(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	uint32_t at = tables_function_of(r, &row[E_FUNCTION], tid_of(r, &row[E_THREAD]));
	if (at == ST_TRACE_NOBODY)
		return ST_FAILED;
	struct st_trace_function *f = &r->t->functions.v[at];
	f->counted += row[E_COUNTED].number;
	f->error_ns = (uint64_t)(hypot((double)f->error_ns, (double)row[E_ERROR].number) + 0.5);
	f->error_unknown |= row[E_UNKNOWN].number != 0;
	return ST_OK;
}

/* An address 0 is nobody's. */
static bool
is_nobody(const struct st_profile_value *v)
{
	return v->image == UINT32_MAX && !v->number;
}

static st_status
read_pair(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	const int64_t tid = tid_of(r, &row[P_THREAD]);
	const uint32_t callee = tables_function_of(r, &row[P_CALLEE], tid);
	uint32_t caller = ST_TRACE_NOBODY;
	if (callee == ST_TRACE_NOBODY)
		return ST_FAILED;
	if (!is_nobody(&row[P_CALLER])) {
		caller = tables_function_of(r, &row[P_CALLER], tid);
		if (caller == ST_TRACE_NOBODY)
			return ST_FAILED;
	}
	const uint32_t hash = st_hash_numbers(caller, callee);
	uint32_t at = ST_HASHMAP_FIND(&r->pairs, hash, i,
	                              r->t->pairs.v[i].caller == caller &&
	                                      r->t->pairs.v[i].callee == callee);
	if (at == ST_HASHMAP_NONE) {
		at = (uint32_t)r->t->pairs.n;
		struct st_trace_pair *new = ST_PUSH(&r->t->pairs);
		if (!new || st_hashmap_add(&r->pairs, hash, at))
			return ST_FAILED;
		*new = (struct st_trace_pair){.caller = caller, .callee = callee};
	}
	r->t->pairs.v[at].calls += row[P_CALLS].number;
	r->t->pairs.v[at].inclusive_ns += row[P_INCLUSIVE].number;
	r->t->pairs.v[at].outermost_ns += row[P_OUTERMOST].number;
	return ST_OK;
}

static st_status
read_duration(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	uint32_t at = tables_function_of(r, &row[D_FUNCTION], tid_of(r, &row[D_THREAD]));
	struct st_trace_class *class =
	        at == ST_TRACE_NOBODY ? NULL : ST_PUSH(&r->t->functions.v[at].classes);
	if (!class)
		return ST_FAILED;
	*class = (struct st_trace_class){row[D_FROM].number, row[D_CALLS].number};
	return ST_OK;
}

static st_status
read_refused(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	const struct st_profile_value *v = &row[R_FUNCTION];
	struct st_trace_refused *refused = ST_PUSH(&r->t->refused);
	if (!refused)
		return ST_FAILED;
	refused->name = v->text ? v->text : "";
	refused->image = v->image < r->p->images.n ? r->p->images.v[v->image].path : NULL;
	refused->offset = v->number;
	refused->reason = row[R_REASON].text;
	return ST_OK;
}

static st_status
read_left_out(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	if (read_refused(r, row))
		return ST_FAILED;
	r->t->refused.v[r->t->refused.n - 1].left_out = true;
	return ST_OK;
}

static st_status
read_lost(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	if (!strcmp(row[L_WHAT].text, ST_TRACE_LOST_RECORDS))
		r->t->lost_records += row[L_COUNT].number;
	else if (!strcmp(row[L_WHAT].text, ST_TRACE_LOST_NESTED))
		r->t->nested_returns += row[L_COUNT].number;
	return ST_OK;
}

static st_status
read_cost(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	struct st_trace_cost *cost = &r->t->probe;
	if (!strcmp(row[L_WHAT].text, ST_TRACE_PROBE_CALL))
		cost->ps = row[L_COUNT].number;
	else if (!strcmp(row[L_WHAT].text, ST_TRACE_PROBE_ERROR))
		cost->error_ps = row[L_COUNT].number;
	else if (!strcmp(row[L_WHAT].text, ST_TRACE_PROBE_LEAST))
		cost->least_ps = row[L_COUNT].number;
	return ST_OK;
}

static st_status
read_step(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	const struct st_profile_value *v = &row[S_FUNCTION];
	struct st_trace_step *step = ST_PUSH(&r->t->steps);
	if (!step)
		return ST_FAILED;
	*step = (struct st_trace_step){v->text ? v->text : "",
	                               v->image < r->p->images.n ? r->p->images.v[v->image].path
	                                                         : NULL,
	                               v->number, row[S_AT].number, row[S_EVERY].number};
	return ST_OK;
}

static st_status
read_budget(void *into, const struct st_profile_value *row)
{
	struct reader *r = into;
	struct st_trace_budget *b = &r->t->budget;
	if (!strcmp(row[L_WHAT].text, ST_TRACE_BUDGET_SHARE))
		b->share = (double)row[L_COUNT].number / 1e6;
	else if (!strcmp(row[L_WHAT].text, ST_TRACE_BUDGET_CPU))
		b->cpu_ns = row[L_COUNT].number;
	else if (!strcmp(row[L_WHAT].text, ST_TRACE_BUDGET_COST))
		b->cost_ns = row[L_COUNT].number;
	return ST_OK;
}

static st_status
read_trace_table(struct reader *r, const char *name, size_t columns, st_profile_row_fn *read)
{
	return st_profile_table_read(st_profile_table_find(r->p, "calltimes", name, columns), r,
	                             read);
}

st_status
st_trace_read(struct st_trace *t, const struct st_profile *p, bool per_thread, struct st_error *e)
{
	const struct st_profile_table *functions = st_profile_table_find(p, "calltimes",
	                                                                 "functions", F_LOST + 1),
	                              *pairs = st_profile_table_find(p, "calltimes", "pairs",
	                                                             P_OUTERMOST + 1),
	                              *durations = st_profile_table_find(p, "calltimes",
	                                                                 "durations", D_CALLS + 1);
	struct reader r = {.t = t, .p = p, .per_thread = per_thread};
	const char *engine = st_profile_option(p, "calltimes", "engine");
	*t = (struct st_trace){.engine = engine ? engine : "jit"};
	if (!functions && strncmp(p->run.tool, "calltimes", 9) != 0)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the result has no trace of functions: it was made with the tool %s, "
		        "not with strobe trace",
		        p->run.tool);
	st_status status = st_profile_table_read(functions, &r, read_function_tables);
	if (!status)
		status = read_trace_table(&r, "estimates", E_UNKNOWN + 1, read_estimate);
	if (!status)
		status = st_profile_table_read(pairs, &r, read_pair);
	if (!status)
		status = st_profile_table_read(durations, &r, read_duration);
	if (!status)
		status = read_trace_table(&r, "refused", R_CALLS + 1, read_refused);
	if (!status)
		status = read_trace_table(&r, "left_out", R_CALLS + 1, read_left_out);
	if (!status)
		status = read_trace_table(&r, "lost", L_COUNT + 1, read_lost);
	if (!status)
		status = read_trace_table(&r, "probe", L_COUNT + 1, read_cost);
	if (!status)
		status = read_trace_table(&r, "steps", S_EVERY + 1, read_step);
	if (!status)
		status = read_trace_table(&r, "budget", L_COUNT + 1, read_budget);
	if (!status)
		status = st_trace_sort(t);
	st_hashmap_free(&r.functions);
	st_hashmap_free(&r.pairs);
	if (!status)
		return ST_OK;
	st_trace_free(t);
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read the trace");
}
