/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/budget.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/frequency.h"
#include "probe/probes.h"
#include "probe/strata.h"

/* Seconds between looks: short at first, when nothing is known of the program. */
static const double first_wait = 0.002, most_wait = 0.1;
/* CPU time that says enough of how often functions are called. */
static const double least_cpu = 0.001;
/* Seconds of CPU time within which overspending is made up for; and the part of the budget that
 * plans may use. */
static const double makes_up_in = 0.25, planned = 0.9;
/* Probes are removed only if the overspending exceeds the budget of this many seconds of CPU time,
 * because a function may be called often for a short time only. */
static const double drops_after = 0.1;
/* Seconds for all threads to stop, of which those that have stopped wait for the others. */
static const double first_patience = 0.05, most_patience = 1;

/* ---- what it has cost ---- */

static double
cpu_of_process(pid_t pid)
{
	clockid_t clock;
	return clock_getcpuclockid(pid, &clock) ? 0 : (double)st_cpu_ns(clock) * 1e-9;
}

static double
ticks_per_second(const struct st_probing *p)
{
	return p->uses_cpu ? 1e9 : st_moments_frequency(p->begin, st_moment_now());
}

static uint32_t
records_of(const struct st_probes *p)
{
	const uint32_t n = __atomic_load_n(&p->process.area->n_records, __ATOMIC_ACQUIRE);
	return n < ST_PROBE_MOST_RECORDS ? n : ST_PROBE_MOST_RECORDS;
}

/* In ticks. */
static double
cost_of_probes(const struct st_probes *p)
{
	double sum = 0;
	for (uint32_t i = 0; i < records_of(p); i++)
		sum += (double)p->process.area->records[i].spent / 256;
	return sum;
}

/* ---- the numbers of the threads ---- */

/* By the function's place in the thread's list of cells; NULL: there is none. */
static struct st_probe_cell *
cell_in(const struct st_probes *p, const uint32_t *cells, uint32_t function)
{
	return (struct st_probe_cell *)st_probes_at(p, cells[function] / 2,
	                                            sizeof(struct st_probe_cell));
}

/* The list of cells; NULL: the record is not complete. */
static uint32_t *
cells_of(const struct st_probes *p, uint32_t record, uint32_t *n)
{
	const struct st_probe_record *r = &p->process.area->records[record];
	const uint32_t room = __atomic_load_n(&r->room, __ATOMIC_ACQUIRE);
	*n = room < p->functions.n ? room : (uint32_t)p->functions.n;
	return (uint32_t *)st_probes_at(p, r->cells, sizeof(uint32_t) * room);
}

static void
count_calls_of_record(struct st_probes *p, uint32_t record)
{
	uint32_t n;
	const uint32_t *cells = cells_of(p, record, &n);
	for (uint32_t i = 0; cells && i < n; i++) {
		struct st_probe_cell *c = cell_in(p, cells, i);
		const uint64_t calls = c ? c->calls + c->counted + c->lost : 0;
		if (c && calls > c->seen) {
			p->budget.functions.v[i].calls += calls - c->seen;
			c->seen = calls;
		}
	}
}

/* Where a thread has spent nothing on probes it has called nothing. */
static st_status
count_calls_again(struct st_probes *p)
{
	struct st_probe_budget *b = &p->budget;
	const uint32_t n = records_of(p);
	for (size_t i = 0; i < b->functions.n; i++)
		b->functions.v[i].calls = 0;
	while (b->spent.n < n)
		if (!ST_PUSH(&b->spent))
			return ST_FAILED;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t spent = p->process.area->records[i].spent;
		if (spent == b->spent.v[i])
			continue;
		b->spent.v[i] = spent;
		count_calls_of_record(p, i);
	}
	return ST_OK;
}

/* ---- what is decided ---- */

static bool
is_timed_kind(uint32_t kind)
{
	return kind == ST_PROBE_TIME || kind == ST_PROBE_PATCHED;
}

/* Functions that have come since. Those of other kinds than these serve the engine, and stay. */
static st_status
add_new_functions(struct st_probes *p)
{
	struct st_probe_budget *b = &p->budget;
	while (b->functions.n < p->functions.n) {
		const struct st_probe_action *a = &p->process.area->actions[b->functions.n];
		const uint32_t every = a->amount > 1 ? a->amount : 1;
		struct st_limited *f = ST_PUSH(&b->functions);
		uint32_t *shown = ST_PUSH(&b->shown);
		if (!f || !shown)
			return ST_FAILED;
		*shown = every;
		if (is_timed_kind(a->kind))
			*f = (struct st_limited){.every = every, .least = every};
		else
			f->gone = a->kind != ST_PROBE_COUNT;
	}
	return ST_OK;
}

/* Is it worth a step of its own? */
static bool
differs(uint32_t shown, const struct st_limited *f)
{
	return f->every != shown &&
	       (f->every >= shown + shown / 2 || f->every <= shown / 2 || f->every == f->least);
}

/* every 0: it has been taken out. */
static st_status
add_step(struct st_probes *p, uint32_t function, uint32_t every)
{
	struct st_probe_budget *b = &p->budget;
	if (every && !differs(b->shown.v[function], &b->functions.v[function]))
		return ST_OK;
	struct st_probe_step *step = ST_PUSH(&b->steps);
	if (!step)
		return ST_FAILED;
	b->shown.v[function] = every;
	*step = (struct st_probe_step){function, every, st_now_raw() - b->begin};
	return ST_OK;
}

/* The cell of a function whose calls are all timed is used the quick way. */
static void
change_cells(struct st_probes *p, const uint32_t *was)
{
	const uint32_t n_records = records_of(p);
	uint32_t n;
	for (uint32_t record = 0; record < n_records; record++) {
		uint32_t *cells = cells_of(p, record, &n);
		for (uint32_t i = 0; cells && i < n; i++) {
			const uint32_t every = p->budget.functions.v[i].every;
			struct st_probe_cell *c = every ? cell_in(p, cells, i) : NULL;
			if (!c)
				continue;
			if (every > 1 && cells[i] & 1)
				__atomic_fetch_and(&cells[i], ~1u, __ATOMIC_RELEASE);
			if (every < was[i])
				__atomic_store_n(&c->next, 0, __ATOMIC_RELEASE);
		}
	}
}

/* changed NULL: those of all functions. */
static void
end_stretches(struct st_probes *p, const bool *changed, void (*end_cell)(struct st_probe_cell *),
              void (*end_pair)(struct st_probe_pair *))
{
	const uint32_t n_records = records_of(p);
	uint32_t n;
	for (uint32_t record = 0; record < n_records; record++) {
		const uint32_t *cells = cells_of(p, record, &n);
		for (uint32_t i = 0; cells && i < n; i++) {
			struct st_probe_cell *c =
			        !changed || changed[i] ? cell_in(p, cells, i) : NULL;
			if (c)
				end_cell(c);
		}
		struct st_probe_pairs all = st_probe_pairs_of(p, record);
		for (struct st_probe_pair *pair; (pair = st_probe_next_pair(&all));)
			if (pair->callee && pair->callee <= p->budget.functions.n &&
			    (!changed || changed[pair->callee - 1]))
				end_pair(pair);
	}
}

static st_status
apply_changes(struct st_probes *p, const uint32_t *was, const bool *changed)
{
	struct st_probe_budget *b = &p->budget;
	if (!b->on || b->is_off)
		end_stretches(p, changed, st_probe_close_cell, st_probe_close_pair);
	else
		end_stretches(p, changed, st_probe_settle_cell, st_probe_settle_pair);
	for (uint32_t i = 0; i < b->functions.n; i++) {
		const uint32_t every = b->functions.v[i].every;
		if (!changed[i])
			continue;
		__atomic_store_n(&p->process.area->actions[i].amount, every, __ATOMIC_RELEASE);
		if (!b->on && add_step(p, i, every))
			return ST_FAILED;
	}
	change_cells(p, was);
	return ST_OK;
}

static st_status
take_out_probes(struct st_probes *p, bool *drops)
{
	struct st_probe_budget *b = &p->budget;
	bool some = false;
	for (size_t i = 0; i < b->functions.n; i++)
		some |= drops[i] = b->functions.v[i].drops && !b->functions.v[i].gone;
	const bool done = some && st_probing_remove(&p->process, drops, b->patience);
	b->patience = some && !done ? fmin(b->patience * 2, most_patience) : first_patience;
	for (uint32_t i = 0; i < b->functions.n; i++) {
		b->functions.v[i].drops = false;
		if (!done || !drops[i])
			continue;
		b->functions.v[i].gone = true;
		if (add_step(p, i, 0))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Decides for calls like those of the `cpu` seconds without probes that have passed. */
static st_status
limit_functions(struct st_probe_budget *b, const struct st_probing *process, double cpu, double hz)
{
	const struct st_limit_costs costs = {process->cost / 256.0, process->cost_counted / 256.0};
	const double debt = b->cost - b->share * (b->cpu - b->cost),
	             share = fmin(fmax(b->share - debt / makes_up_in, b->share / 2), b->share),
	             ticks = planned * cpu * hz,
	             counting = debt > b->share * drops_after ? b->share * ticks : INFINITY;
	return st_limit(b->functions.v, b->functions.n, &costs, share * ticks, counting);
}

static st_status
decide(struct st_probes *p, double cpu, double hz)
{
	struct st_probe_budget *b = &p->budget;
	const size_t n = b->functions.n;
	uint32_t *was = calloc(n + 1, sizeof *was);
	/* Patches may be those of a function that comes to nothing, after the last one. */
	bool *changed = calloc(n + 2, sizeof *changed);
	st_status status = was && changed ? ST_OK : ST_FAILED;
	for (size_t i = 0; !status && i < n; i++)
		was[i] = b->functions.v[i].every;
	if (!status)
		status = limit_functions(b, &p->process, cpu, hz);
	for (size_t i = 0; !status && i < n; i++)
		changed[i] = b->functions.v[i].every != was[i];
	if (!status)
		status = apply_changes(p, was, changed);
	if (!status)
		status = take_out_probes(p, changed);
	free(was);
	free(changed);
	return status;
}

/* ---- timed sampling ---- */

/* A stretch ends when timing does. What is timed until it begins again are calls that strobe
 * interrupted to switch: they stand for themselves. */
static st_status
switch_timing(struct st_probes *p, bool off)
{
	struct st_probe_budget *b = &p->budget;
	const size_t n = b->functions.n;
	uint32_t *was = calloc(n + 1, sizeof *was);
	bool *changed = calloc(n + 1, sizeof *changed);
	st_status status = was && changed ? ST_OK : ST_FAILED;
	for (size_t i = 0; !status && i < n; i++) {
		struct st_limited *f = &b->functions.v[i];
		was[i] = f->every;
		if (f->every && !f->gone)
			f->every = off ? ST_LIMIT_MOST_EVERY : f->least;
		changed[i] = f->every != was[i];
	}
	b->is_off = off;
	b->n_windowed = n;
	if (!status)
		status = apply_changes(p, was, changed);
	free(was);
	free(changed);
	return status;
}

static st_status
look_at_windows(struct st_probes *p, double now, bool ended)
{
	struct st_probe_budget *b = &p->budget;
	const bool off = fmod(now - b->begin, b->period) >= b->on;
	if (ended && b->is_off)
		end_stretches(p, NULL, st_probe_settle_cell, st_probe_settle_pair);
	if (ended)
		return ST_OK;
	if (add_new_functions(p))
		return ST_FAILED;
	return off != b->is_off || b->n_windowed < b->functions.n ? switch_timing(p, off) : ST_OK;
}

/* ---- looking ---- */

static void
look_first(struct st_probes *p, double now)
{
	struct st_probe_budget *b = &p->budget;
	b->begin = now;
	b->wait = first_wait;
	b->patience = first_patience;
	if (p->process.attached)
		b->cpu_begin = cpu_of_process(p->process.pid);
}

void
st_probes_look(void *probes, bool ended)
{
	struct st_probes *p = probes;
	struct st_probe_budget *b = &p->budget;
	const double now = st_now_raw();
	if (!b->begin)
		look_first(p, now);
	if (b->on > 0 && !b->no_memory)
		b->no_memory = look_at_windows(p, now, ended);
	if (b->on > 0 || b->no_memory || (now < b->next && !ended))
		return;
	const double hz = ticks_per_second(&p->process);
	const double cpu = cpu_of_process(p->process.pid);
	if (!(cpu > 0) || !(hz > 0))
		return; /* it has gone */
	b->cpu = cpu - b->cpu_begin;
	b->cost = cost_of_probes(p) / hz;
	const double passed = b->cpu - b->decided_cpu - (b->cost - b->decided_cost);
	b->next = now + b->wait;
	if (ended || passed < least_cpu)
		return;
	b->decided_cpu = b->cpu;
	b->decided_cost = b->cost;
	b->wait = fmin(b->wait * 2, most_wait);
	b->next = now + b->wait;
	b->no_memory = add_new_functions(p) || count_calls_again(p) || decide(p, passed, hz);
}

void
st_probe_budget_free(struct st_probe_budget *b)
{
	free(b->steps.v);
	free(b->functions.v);
	free(b->shown.v);
	free(b->spent.v);
}
