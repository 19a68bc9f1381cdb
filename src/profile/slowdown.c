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
#include "profile/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "control/run.h"
#include "profile/profile.h"
#include "profile/view.h"

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
/* What short runs take natively at least: they are cold code and the kernel's work. */
static const double least_instruction = 35; /* of the translated ones */
static const double least_syscall = 9000;
/* Of the controller's work after the estimate: writing a row of the result. */
static const double cost_row = 1500;

/* Instructions that counting the ways of a branch is taken for, by the runtime (charge.c). */
enum { most_of_ways = 4 };
/* Samples from which on they say where the time goes. */
static const uint64_t enough_samples = 50;
static const double max_slowdown = 200;

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
add_samples(struct mix *m, const struct st_view *v)
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
add_counts(struct mix *m, const struct st_view *v)
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
add_process(struct mix *m, const struct st_run *run, const struct st_process *process)
{
	struct st_view v;
	if (st_view_open(&v, process->results, process->results_size, NULL))
		return;
	double cpu = run->cpu_user + run->cpu_system, left = (double)v.header->left_ns / 1e9;
	if (left > 0 && left < cpu)
		m->native = fmin(m->native + cpu - left, cpu);
	const struct st_budget *b = &v.header->budget;
	if (b->period_ns && b->ticks_per_second)
		m->charged += (double)b->charged / ST_BUDGET_UNITS / (double)b->ticks_per_second -
		              (double)st_budget_elsewhere(b) / 1e9;
	m->insns += (double)v.header->stats[ST_STAT_insns];
	m->syscalls += (double)v.header->stats[ST_STAT_syscalls];
	add_samples(m, &v);
	add_counts(m, &v);
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

/* Seconds of CPU that the processes under the engine would have taken natively, of cpu with it. */
static double
native_seconds(const struct mix *m, double cpu, size_t n_processes)
{
	double start = cost_start * (double)n_processes / 1e9;
	if (m->charged > 0) /* samples cannot tell plain code from measured */
		return fmax(cpu - start - m->charged, cpu / 3);
	double runtime = m->insns * cost_translate / 1e9;
	double least = (m->insns * least_instruction + m->syscalls * least_syscall) / 1e9;
	bool sampled = m->all >= (double)enough_samples;
	if (sampled)
		runtime = cpu * m->runtime / m->all;
	double within = sampled ? cpu * inline_samples(m) : 0;
	/* The clock of a short stretch is too coarse to take counts at their word. */
	const double most_share = 0.75;
	if (m->counted && !m->acting)
		within = sampled ? fmin(within, m->most)
		                 : fmin(m->most / 2, most_share * fmax(cpu - start - runtime, 0));
	double native = cpu - start - runtime - within;
	/* A floor for what is short, never more than a fair part of what was measured. */
	return fmax(native, fmin(least, cpu / 3));
}

double
st_slowdown_estimate(const struct st_run *run, size_t rows)
{
	double cpu = run->cpu_user + run->cpu_system;
	struct mix m = {0};
	if (!(cpu > 0) || !(run->tsc_hz > 0))
		return 1;
	for (size_t i = 0; i < run->n_processes; i++)
		add_process(&m, run, &run->processes[i]);
	double native = native_seconds(&m, cpu - m.native, run->n_processes) + m.native;
	double all = cpu + run->cpu_controller;
	if (run->cpu_controller > 0)
		all += (double)rows * cost_row / 1e9;
	if (!(native > 0))
		return max_slowdown;
	return fmin(fmax(all / native, 1), max_slowdown);
}
