/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slowdown that a run is estimated to have suffered: the CPU time of the program and of Strobe
 * over what the program alone would have taken. docs/notes/slowdown-estimate.md tells how the
 * constants were found, and what was tried instead.
 *
 * What a translated block costs beyond native execution lies at its end (returns, calls, indirect
 * branches) and in its counter. Which instruction of it a sample hits says little: the processor
 * stalls where it can, not where the cost arises. So samples only tell which blocks the time went
 * to, and of each block's time the share is taken that its kind of end has in a block of its
 * length. Where blocks were counted, the counts give an upper bound.
 */
#include "collect/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "collect/view.h"
#include "control/run.h"
#include "profile/profile.h"

/* Nanoseconds, of which only the ratios matter: to each other and to a native instruction's. */
static const double cost_instruction = 0.124;
static const double cost_call = 0.4; /* at the call, and again at the return */
static const double cost_indirect_jump = 6;
static const double cost_indirect_call = 0.6;
static const double cost_branch = 0.04; /* blocks lie elsewhere than natively */
static const double cost_count = 0.18;
static const double cost_added = 0.14; /* an instruction that a tool has put there */
/* The most that they can be, with nothing else to do meanwhile. */
static const double most_count = 0.45;
static const double most_call = 1.2;
static const double most_indirect = 6;
static const double most_way = 1; /* of a branch, counted */

/* Nanoseconds of the engine's work outside translated code. */
static const double cost_start = 3e6; /* mapping and unmapping it */
static const double cost_translate =
        400; /* an instruction, with the dispatch and the page faults */
/* The least native time of short runs: they are cold code and the kernel's work. */
static const double least_instruction = 35; /* of the translated ones */
static const double least_syscall = 9000;
/* Of the controller's work after the estimate: writing a row of the result. */
static const double cost_row = 1500;

/* Instructions that counting the ways of a branch is taken for, by the runtime (charge.c). */
enum { most_of_ways = 4 };
/* Samples from which on they say where the time goes. */
static const uint64_t enough_samples = 50;
static const double max_slowdown = 200;
/* The cost of counted events in the tightest loops, as a factor of that elsewhere. */
static const double tight = 6;
/* Ends that are further apart say nothing. */
static const double most_apart = 3;
/* Seconds of CPU time below which the kernel's work at start and exit decides, which no part of the
 * estimate knows: /bin/true took 10 times its native time where 2.7 to 7.4 had been estimated. */
static const double shortest_told = 0.02;

/* Seconds that are beyond native execution: the least, and the most, that they may be. */
struct added {
	double least, about, most;
};
/* How wrong each part may be, as factors of it; docs/notes/slowdown-estimate.md has the
 * measurements. Where tools put more than counts into blocks, the processor's overlap decides. */
static const struct added start_error = {0.5, 1, 2};
static const struct added translate_error = {0.7, 1, 1.5};
static const struct added counts_error = {0.5, 1, 1.7};
static const struct added guess_error = {0.3, 1, 2};
static const struct added actions_error = {0.15, 1, 2.5};
static const struct added account_error = {0.75, 1, 1.75};
/* Within a thread's first period most code is new, which is charged before the clock has corrected
 * the model. */
static const struct added first_account_error = {0.3, 0.6, 1.75};
/* Of the time in plain code. */
static const struct added plain_error = {0, 0.2, 0.6};

/* Samples by the end of the block that they fell into. */
struct mix {
	double samples[ST_END_SYSCALL + 1];
	double inverse[ST_END_SYSCALL + 1]; /* sum of 1 / length of the block */
	double added[ST_END_SYSCALL + 1];   /* sum of tools' instructions for each of its own */
	double runtime, all;
	double most; /* seconds that the counted events can have cost at most */
	double insns, syscalls;
	double native;  /* seconds in native execution */
	double charged; /* seconds, by the budget's account; 0: there is no budget */
	bool brief;     /* with a budget, all processes ended within the first period */
	double plain;   /* with a budget, seconds in plain code of the engine */
	bool counted;
	bool ways;   /* they count ways of branches, at least */
	bool acting; /* tools have put more than that into blocks */
};

static double
end_cost(unsigned end)
{
	switch (end) {
	case ST_END_RETURN:
	case ST_END_CALL:
		return cost_call;
	case ST_END_IJUMP:
		return cost_indirect_jump;
	case ST_END_ICALL:
		return cost_indirect_call;
	case ST_END_BRANCH:
		return cost_branch;
	default:
		return 0;
	}
}

static double
most_cost(unsigned end, bool ways)
{
	switch (end) {
	case ST_END_BRANCH:
		return ways ? most_way : 0;
	case ST_END_RETURN:
	case ST_END_CALL:
		return most_call;
	case ST_END_IJUMP:
	case ST_END_ICALL:
		return most_indirect;
	default:
		return 0;
	}
}

static void
slowdown_add_samples(struct mix *m, const struct st_view *v)
{
	for (uint64_t i = 0; i < v->n_samples; i++) {
		const struct st_sample *s = &v->samples[i];
		m->all++;
		if (s->where == ST_SAMPLE_SYSCALL)
			continue;
		if (s->where == ST_SAMPLE_RUNTIME && s->end == ST_END_NONE)
			m->runtime++; /* between blocks, too */
		if (s->end == ST_END_NONE || s->end > ST_END_SYSCALL)
			continue;
		m->samples[s->end]++;
		m->inverse[s->end] += s->insns ? 1.0 / s->insns : 0;
		m->added[s->end] += s->added / 8.0;
		m->ways |= s->added != 0;
		m->acting |= s->added * s->insns > 8 * most_of_ways;
	}
}

static void
slowdown_add_counts(struct mix *m, const struct st_view *v)
{
	struct st_view_counts counts;
	if (!v->counting || st_view_count(v, &counts))
		return;
	m->counted = true;
	for (uint32_t b = ST_FIRST_ID; b < v->n_blocks; b++)
		if (st_view_is_block(v, b))
			m->most += (double)counts.executions[b] *
			           (most_count + most_cost(v->blocks[b].end, m->ways)) / 1e9;
	st_view_counts_free(&counts);
}

static void
slowdown_add_budget(struct mix *m, const struct st_results_header *h)
{
	const struct st_budget_results *b = &h->budget;
	double plain = (double)b->ticks[ST_TICK_PLAIN],
	       rest = plain + (double)b->ticks[ST_TICK_NATIVE];
	m->brief &= b->cpu_ns && b->cpu_ns < h->plan.budget.period_ns;
	m->charged +=
	        (double)b->charged / ST_BUDGET_UNITS / (double)h->plan.budget.ticks_per_second -
	        (double)st_budget_elsewhere(&h->control) / 1e9;
	if (rest > 0 && b->cpu_ns > b->measured_ns)
		m->plain += (double)(b->cpu_ns - b->measured_ns) / 1e9 * plain / rest;
}

static void
slowdown_add_process(struct mix *m, const struct st_run *run, const struct st_process *process)
{
	struct st_view v;
	if (st_view_open(&v, process->results, process->results_size, NULL))
		return;
	double cpu = run->cpu_user + run->cpu_system, left = (double)v.header->run.left_ns / 1e9;
	if (left > 0 && left < cpu)
		m->native = fmin(m->native + cpu - left, cpu);
	const struct st_budget_plan *plan = &v.header->plan.budget;
	if (plan->period_ns && plan->ticks_per_second)
		slowdown_add_budget(m, v.header);
	m->insns += (double)v.header->stats[ST_STAT_insns];
	m->syscalls += (double)v.header->stats[ST_STAT_syscalls];
	slowdown_add_samples(m, &v);
	slowdown_add_counts(m, &v);
}

/* The share of the samples that the engine's code in blocks accounts for. */
static double
inline_samples(const struct mix *m)
{
	double sum = 0;
	for (unsigned end = ST_END_NONE + 1; end <= ST_END_SYSCALL; end++) {
		double cost = end_cost(end) + (m->counted ? cost_count : 0);
		double length = m->inverse[end] > 0 ? m->samples[end] / m->inverse[end] : 4;
		if (m->samples[end] > 0)
			cost += length * cost_added * m->added[end] / m->samples[end];
		sum += m->samples[end] * cost / (cost + length * cost_instruction);
	}
	return sum / m->all;
}

static struct added
times(double seconds, const struct added *error)
{
	return (struct added){seconds * error->least, seconds * error->about,
	                      seconds * error->most};
}

static void
slowdown_add(struct added *sum, struct added part)
{
	sum->least += part.least;
	sum->about += part.about;
	sum->most += part.most;
}

/* A share of the CPU time that samples tell: it is known as well as they are many. */
static struct added
sampled_share(const struct mix *m, double cpu, double share)
{
	double error = 2 * sqrt(share * (1 - share) / m->all);
	return (struct added){cpu * fmax(share - error, 0), cpu * share, cpu * (share + error)};
}

static struct added
in_runtime(const struct mix *m, double cpu, bool sampled)
{
	if (sampled)
		return sampled_share(m, cpu, m->runtime / m->all);
	return times(m->insns * cost_translate / 1e9, &translate_error);
}

/* rest: seconds that are neither the start nor the runtime. */
static struct added
in_blocks(const struct mix *m, double cpu, double rest, bool sampled)
{
	bool counts = m->counted && !m->acting;
	/* The clock of a short stretch is too coarse to take counts at their word. */
	const double most_share = 0.75;
	if (!sampled)
		return times(counts ? fmin(m->most / 2, most_share * fmax(rest, 0)) : 0,
		             &guess_error);
	const struct added *error = m->acting ? &actions_error : &counts_error;
	struct added is = sampled_share(m, cpu, inline_samples(m));
	is.least *= error->least;
	is.most *= error->most;
	if (counts) {
		is.about = fmin(is.about, m->most);
		is.least = fmin(is.least, m->most * error->least);
		is.most = fmin(is.most, m->most * tight);
	}
	return is;
}

/* Seconds of CPU, of cpu, that the processes under the engine would not have taken natively. */
static struct added
added_seconds(const struct mix *m, double cpu, size_t n_processes)
{
	struct added sum = times(cost_start * (double)n_processes / 1e9, &start_error);
	if (m->charged > 0) { /* samples cannot tell plain code from measured */
		slowdown_add(&sum,
		             times(m->charged, m->brief ? &first_account_error : &account_error));
		slowdown_add(&sum, times(m->plain, &plain_error));
		return sum;
	}
	bool sampled = m->all >= (double)enough_samples;
	struct added runtime = in_runtime(m, cpu, sampled);
	double rest = cpu - sum.about - runtime.about;
	slowdown_add(&sum, runtime);
	slowdown_add(&sum, in_blocks(m, cpu, rest, sampled));
	return sum;
}

/* Returns the native part of `cpu`: the rest, but at least the minimum of short blocks, and that at
 * most a fair part of the measured time. */
static double
native_seconds(const struct mix *m, double cpu, double added, double fair)
{
	double least = (m->insns * least_instruction + m->syscalls * least_syscall) / 1e9;
	if (m->charged > 0)
		least = cpu;
	return fmax(cpu - added, fmin(least, cpu * fair));
}

static double
bounded(double slowdown)
{
	return fmin(fmax(slowdown, 1), max_slowdown);
}

struct st_slowdown
st_slowdown_estimate(const struct st_run *run, size_t rows)
{
	const struct st_slowdown unknown = {0};
	double cpu = run->cpu_user + run->cpu_system, all = cpu + run->cpu_controller;
	struct mix m = {.brief = true};
	/* Without a process under the engine, something else than the engine measures. */
	if (cpu < shortest_told || !(run->tsc_hz > 0) || !run->n_processes)
		return unknown;
	for (size_t i = 0; i < run->n_processes; i++)
		slowdown_add_process(&m, run, &run->processes[i]);
	if (run->cpu_controller > 0)
		all += (double)rows * cost_row / 1e9;
	double here = cpu - m.native;
	struct added added = added_seconds(&m, here, run->n_processes);
	const double fair = 1.0 / 3, least_fair = 1.0 / 12;
	struct st_slowdown is = {
	        .least = bounded(all / (native_seconds(&m, here, added.least, fair) + m.native)),
	        .about = bounded(all / (native_seconds(&m, here, added.about, fair) + m.native)),
	        .most = bounded(all /
	                        (native_seconds(&m, here, added.most, least_fair) + m.native)),
	};
	return is.most > most_apart * is.least || is.most >= max_slowdown ? unknown : is;
}
