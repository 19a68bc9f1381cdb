/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the results of the probe runtime from its area (wire/probe.h) into a trace. The process
 * could write to the area, so each offset in it is checked.
 */
#include "trace/probe_results.h"

#include "base/hashmap.h"
#include "probe/strata.h"
#include "trace/estimate.h"

struct results {
	struct st_trace *t;
	const struct st_probes *p, *root;
	double ns_per_tick;
	bool lines;
	uint32_t *at; /* of the thread at hand: by a function's number, its index in the trace */
};

static uint64_t
ns(const struct results *r, uint64_t ticks)
{
	return (int64_t)ticks > 0 ? (uint64_t)((double)ticks * r->ns_per_tick + 0.5) : 0;
}

/* The least duration of a class, in ticks: probe_count_duration of rt/probe/cells.c. */
static uint64_t
class_begin(uint32_t octave, uint32_t class)
{
	return octave ? (uint64_t)(class + ST_PROBE_CLASSES) << (octave - 1) : class;
}

static st_status
read_classes(const struct results *r, const struct st_probe_cell *c, struct st_trace_function *f)
{
	for (uint32_t o = 0; o < ST_PROBE_OCTAVES; o++) {
		const uint64_t *counts =
		        st_probes_at(r->p, c->octaves[o], ST_PROBE_CLASSES * sizeof *counts);
		for (uint32_t i = 0; counts && i < ST_PROBE_CLASSES; i++) {
			struct st_trace_class *class = counts[i] ? ST_PUSH(&f->classes) : NULL;
			if (counts[i] && !class)
				return ST_FAILED;
			if (class)
				*class = (struct st_trace_class){ns(r, class_begin(o, i)),
				                                 counts[i]};
		}
	}
	return ST_OK;
}

static void
read_error(const struct results *r, const struct st_probe_cell *c, struct st_trace_function *f)
{
	const double ticks = st_probe_cell_error(c);
	f->error_unknown = ticks < 0;
	if (!f->error_unknown)
		f->error_ns = (uint64_t)(ticks * r->ns_per_tick + 0.5);
}

static st_status
read_cell(struct results *r, uint32_t function, int64_t tid, const struct st_probe_cell *c)
{
	const struct st_probed_function *probed = &r->p->functions.v[function];
	const struct st_probed_image *image = &r->p->images.v[probed->image];
	struct st_line line;
	struct st_trace_function *f = ST_PUSH(&r->t->functions);
	if (!f)
		return ST_FAILED;
	r->at[function] = (uint32_t)r->t->functions.n;
	*f = (struct st_trace_function){
	        .name = probed->name,
	        .image = image->path,
	        .build_id = st_image_build_id(image->image),
	        .offset = probed->offset,
	        .tid = tid,
	        .calls = c->calls + c->counted,
	        .counted = c->counted,
	        .lost = c->lost,
	        .inclusive_ns = ns(r, c->inclusive),
	        .outermost_ns = ns(r, c->outermost),
	        .exclusive_ns = ns(r, c->exclusive),
	        .min_ns = c->shortest == UINT64_MAX ? 0 : ns(r, c->shortest),
	        .max_ns = ns(r, c->longest),
	};
	if (c->counted)
		read_error(r, c, f);
	if (r->lines && !st_image_function_line(image->image, probed->offset, &line) && line.file) {
		f->file = line.file;
		f->line = line.line;
	}
	return read_classes(r, c, f);
}

/* A child of fork has calls of its parent around its own: they are callers, and not called here. */
static st_status
know_caller(struct results *r, uint32_t function, int64_t tid)
{
	static const struct st_probe_cell none = {.shortest = UINT64_MAX};
	return r->at[function] ? ST_OK : read_cell(r, function, tid, &none);
}

static st_status
read_pair_of_probes(struct results *r, const struct st_probe_pair *p, int64_t tid)
{
	const size_t n = r->p->functions.n;
	if (p->caller > n || !p->callee || p->callee > n || !r->at[p->callee - 1])
		return ST_OK; /* its function has no cell: there was no room for it */
	if (p->caller && know_caller(r, p->caller - 1, tid))
		return ST_FAILED;
	struct st_trace_pair *pair = ST_PUSH(&r->t->pairs);
	if (!pair)
		return ST_FAILED;
	*pair = (struct st_trace_pair){
	        .caller = p->caller ? r->at[p->caller - 1] - 1 : ST_TRACE_NOBODY,
	        .callee = r->at[p->callee - 1] - 1,
	        .calls = p->calls + p->counted,
	        .counted = p->counted,
	        .inclusive_ns = ns(r, p->inclusive - p->closed.inclusive),
	        .outermost_ns = ns(r, p->outermost - p->closed.outermost),
	        .earlier = {.calls = p->closed.calls + p->closed.counted,
	                    .counted = p->closed.counted,
	                    .inclusive_ns = p->closed.all_inclusive * r->ns_per_tick,
	                    .outermost_ns = p->closed.all_outermost * r->ns_per_tick},
	};
	return ST_OK;
}

static st_status
read_pairs(struct results *r, uint32_t record)
{
	struct st_probe_pairs all = st_probe_pairs_of(r->p, record);
	for (const struct st_probe_pair *pair; (pair = st_probe_next_pair(&all));)
		if (read_pair_of_probes(r, pair, r->p->process.area->records[record].tid))
			return ST_FAILED;
	return ST_OK;
}

/* ---- what was under way when the program, or the thread, ended ---- */

static uint64_t
time_in_callees(const struct results *r, uint32_t caller, size_t first_pair)
{
	uint64_t sum = 0;
	for (size_t i = first_pair; i < r->t->pairs.n; i++)
		if (r->t->pairs.v[i].caller == caller)
			sum += r->t->pairs.v[i].inclusive_ns;
	return sum;
}

struct open_call {
	uint32_t function; /* in the trace */
	uint64_t since, spent;
	uint32_t active;
};

static int
by_begin(const void *a, const void *b)
{
	const struct open_call *x = a, *y = b;
	return (x->since > y->since) - (x->since < y->since);
}

/* An activation of f that lasted `taken`, of which `below` in what it called, and that was counted
 * as if it had not been. */
static void
close_call(struct results *r, const struct open_call *o, uint64_t taken, uint64_t below,
           size_t first_pair)
{
	struct st_trace_function *f = &r->t->functions.v[o->function];
	const uint64_t ended_below = f->inclusive_ns - f->exclusive_ns,
	               all_below = time_in_callees(r, o->function, first_pair);
	below += all_below > ended_below ? all_below - ended_below : 0;
	f->calls++;
	f->lost += o->active - 1;
	f->inclusive_ns += taken;
	f->outermost_ns += taken;
	f->exclusive_ns += taken > below ? taken - below : 0;
	f->min_ns = f->calls - f->counted == 1 || taken < f->min_ns ? taken : f->min_ns;
	f->max_ns = taken > f->max_ns ? taken : f->max_ns;
}

static st_status
add_open_pair(struct results *r, uint32_t caller, uint32_t callee, uint64_t taken,
              size_t first_pair)
{
	size_t i = first_pair;
	while (i < r->t->pairs.n &&
	       (r->t->pairs.v[i].caller != caller || r->t->pairs.v[i].callee != callee))
		i++;
	struct st_trace_pair *pair = i < r->t->pairs.n ? &r->t->pairs.v[i] : ST_PUSH(&r->t->pairs);
	if (!pair)
		return ST_FAILED;
	pair->caller = caller;
	pair->callee = callee;
	pair->calls++;
	pair->inclusive_ns += taken;
	pair->outermost_ns += taken;
	return ST_OK;
}

static uint64_t
time_of_open(const struct results *r, const struct open_call *o,
             const struct st_probe_record *record, uint64_t end)
{
	const uint64_t cost = (record->spent - o->spent) >> 8;
	const uint64_t taken = end > o->since ? end - o->since : 0;
	return ns(r, taken > cost ? taken - cost : 0);
}

/* Each has called the next one. The innermost comes first, because what a caller has spent itself
 * is what is left. */
static st_status
close_calls(struct results *r, const struct st_probe_record *record, struct open_call *open,
            size_t n, size_t first_pair)
{
	/* CPU time of a thread that has ended is not known. */
	const bool is_first = record->tid == (uint32_t)r->p->process.pid && !r->p->process.uses_cpu;
	const uint64_t end = is_first && r->p->process.end ? r->p->process.end : record->last;
	uint64_t below = 0;
	qsort(open, n, sizeof *open, by_begin);
	for (size_t i = n; i-- > 0;) {
		const uint64_t taken = time_of_open(r, &open[i], record, end);
		close_call(r, &open[i], taken, below, first_pair);
		below = taken;
	}
	for (size_t i = 0; i < n; i++)
		if (add_open_pair(r, i ? open[i - 1].function : ST_TRACE_NOBODY, open[i].function,
		                  time_of_open(r, &open[i], record, end), first_pair))
			return ST_FAILED;
	return ST_OK;
}

/* ---- threads ---- */

static st_status
read_record(struct results *r, uint32_t n)
{
	const struct st_probe_record *record = &r->p->process.area->records[n];
	const size_t n_functions = r->p->functions.n, first_pair = r->t->pairs.n,
	             first = r->t->functions.n;
	ST_VEC(struct open_call) open = {0};
	st_status status = ST_OK;
	memset(r->at, 0, n_functions * sizeof *r->at);
	for (uint32_t i = 0; !status && i < n_functions; i++) {
		const struct st_probe_cell *c = st_probes_cell(r->p, n, i);
		if (!c || (!c->calls && !c->counted && !c->lost && !c->active))
			continue;
		status = read_cell(r, i, record->tid, c);
		if (status || !c->active || c->active > UINT32_MAX / 2)
			continue;
		struct open_call *o = ST_PUSH(&open);
		if (!o)
			status = ST_FAILED;
		else
			*o = (struct open_call){(uint32_t)r->t->functions.n - 1, c->since,
			                        c->since_spent, c->active};
	}
	if (!status)
		status = read_pairs(r, n);
	if (!status && r->p->process.samples)
		status = st_trace_estimate(r->t, first, first_pair);
	if (!status && open.n)
		status = close_calls(r, record, open.v, open.n, first_pair);
	free(open.v);
	return status;
}

/* Was it called in a process in which, sooner or later, threads could not be told apart? */
static bool
is_mixed(const struct st_probes *p, uint32_t function)
{
	const struct st_probe_area *a = p->process.area;
	for (uint32_t i = 0; a->mixes && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++)
		if (st_probes_cell(p, i, function))
			return true;
	return false;
}

/* A file's refused functions are the same in all processes: they are listed for the first one. */
static bool
was_in_earlier_process(const struct results *r, const char *path)
{
	const struct st_probes *before;
	for (size_t i = 0; (before = st_probes_each(r->root, i)) && before != r->p; i++)
		for (size_t k = 0; k < before->images.n; k++)
			if (before->images.v[k].path && path &&
			    !strcmp(before->images.v[k].path, path))
				return true;
	return false;
}

static st_status
read_refused_probes(struct results *r)
{
	static const char mixed[] = "threads with the same thread pointer (clone) cannot be told "
	                            "apart: its calls are counted from then on";
	const struct st_probes *p = r->p;
	for (size_t k = 0; k < p->refused.n + p->functions.n; k++) {
		const struct st_probed_function *f =
		        k < p->refused.n ? &p->refused.v[k] : &p->functions.v[k - p->refused.n];
		const bool counts = !f->refused && k >= p->refused.n &&
		                    is_mixed(p, (uint32_t)(k - p->refused.n));
		if ((!f->refused && !counts) ||
		    was_in_earlier_process(r, p->images.v[f->image].path))
			continue;
		struct st_trace_refused *refused = ST_PUSH(&r->t->refused);
		if (!refused)
			return ST_FAILED;
		*refused = (struct st_trace_refused){f->name, p->images.v[f->image].path,
		                                     counts ? mixed : f->refused, f->offset, false};
	}
	return ST_OK;
}

static struct st_trace_cost
cost_of(const struct st_probing *p)
{
	const double ps_per_tick = 1e12 / p->tsc_hz;
	return (struct st_trace_cost){(uint64_t)(p->cost * ps_per_tick / 256 + 0.5),
	                              (uint64_t)(p->cost_error * ps_per_tick + 0.5),
	                              (uint64_t)(p->cost_within * ps_per_tick / 256 + 0.5)};
}

static st_status
read_steps_of_probes(struct results *r)
{
	const struct st_probe_budget *b = &r->p->budget;
	for (size_t i = 0; i < b->steps.n; i++) {
		const struct st_probed_function *f = &r->p->functions.v[b->steps.v[i].function];
		struct st_trace_step *step = ST_PUSH(&r->t->steps);
		if (!step)
			return ST_FAILED;
		*step = (struct st_trace_step){f->name, r->p->images.v[f->image].path, f->offset,
		                               (uint64_t)(b->steps.v[i].seconds * 1e9),
		                               b->steps.v[i].every};
	}
	r->t->budget = (struct st_trace_budget){b->share, (uint64_t)(b->cpu * 1e9),
	                                        (uint64_t)(b->cost * 1e9)};
	return ST_OK;
}

/* Of one program. */
static st_status
add_probes(struct st_trace *t, const struct st_probes *root, const struct st_probes *probes,
           bool lines)
{
	const struct st_probe_area *a = probes->process.area;
	struct results r = {.t = t, .p = probes, .lines = lines};
	if (!a)
		return ST_OK;
	r.ns_per_tick = 1e9 / probes->process.tsc_hz;
	r.root = root;
	r.at = calloc(probes->functions.n + 1, sizeof *r.at);
	st_status status = r.at ? ST_OK : ST_FAILED;
	for (uint32_t i = 0; !status && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++)
		status = read_record(&r, i);
	t->lost_records += a->no_room + a->too_deep;
	if (!status)
		status = read_refused_probes(&r);
	if (!status)
		status = read_steps_of_probes(&r);
	free(r.at);
	return status;
}

st_status
st_trace_of_probes(struct st_trace *t, const struct st_probes *probes, bool lines)
{
	const struct st_probes *each;
	st_status status = ST_OK;
	*t = (struct st_trace){.engine = "probe"};
	if (probes->process.area)
		t->probe = cost_of(&probes->process);
	for (size_t i = 0; !status && (each = st_probes_each(probes, i)); i++)
		status = add_probes(t, probes, each, lines);
	for (size_t i = 0; i < t->functions.n; i++)
		t->lost_returns += t->functions.v[i].lost;
	if (!status)
		status = st_trace_sort(t);
	if (status)
		st_trace_free(t);
	return status;
}
