/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slowdown that a run is estimated to have suffered: its CPU time over what is left of it when
 * the engine's share is taken away. That share is what the runtime timed itself (translation,
 * dispatch, signals) plus a modelled cost for what runs inline and cannot be timed there: so many
 * nanoseconds for each event of a kind.
 *
 * Where the constants come from, all on an AMD Zen 5 guest at 2.6 GHz: count, return, indirect and
 * signal are from micro-benchmarks, differences of paired runs (increment of an absolute counter
 * 0.24 ns; return by table lookup 0.6 ns over a native one; indirect call 0.25 ns with few targets,
 * 2.9 with many; a signal with handler 1.8 us, twice that with the engine's own); start is the CPU
 * time of /bin/true under the null tool less its native time and the runtime's own ticks, measured
 * on a busy machine; translate, dispatch, syscall and sample are estimates yet to be measured.
 * Without counts (null) the inline part is not known and the estimate is too low.
 */
#include <math.h>

#include "control/run.h"
#include "profile/profile.h"
#include "profile/view.h"

/* Nanoseconds beyond native execution for one event. */
static const double cost_count = 0.24; /* a counted block */
static const double cost_return = 0.6;
static const double cost_indirect = 0.5;  /* indirect jump or call */
static const double cost_syscall = 30;    /* checks before the call is passed on */
static const double cost_sample = 2500;   /* the signal, its handler and the way back */
static const double cost_translate = 250; /* an instruction, with the page faults of the tables */
static const double cost_dispatch = 200;  /* a return to the dispatcher */
static const double cost_signal = 5000;   /* a signal of the program's, or a write to its code */
/* The kernel's part of starting: injection, mappings, their faults and their end. */
static const double cost_start = 2500000;

/* Seconds of CPU that any process takes natively to start and to end. */
static const double least_native = 0.0006;

/* Samples from which on their share is better than the model. */
static const uint64_t enough_samples = 50;

/* No program is believed to be slower than this under the engine; beyond it the model is at fault,
 * not the engine. */
static const double max_slowdown = 50;

static double
block_cost(const struct st_view *v)
{
	double ns = 0;
	uint64_t *executions = v->n_counters ? st_view_executions(v) : NULL;
	if (!executions)
		return 0;
	for (uint32_t b = 1; b < v->n_blocks; b++) {
		double n = (double)executions[b];
		ns += n * cost_count;
		if (v->blocks[b].end == ST_END_RETURN)
			ns += n * cost_return;
		else if (v->blocks[b].end == ST_END_IJUMP || v->blocks[b].end == ST_END_ICALL)
			ns += n * cost_indirect;
	}
	free(executions);
	return ns;
}

/*
 * Nanoseconds that the runtime spent outside translated code. It reads the TSC, which goes on while
 * the thread waits for a CPU: on a busy machine that is far more than the CPU time, so one and a
 * half times what its work should cost is the limit.
 */
static double
runtime_cost(const struct st_view *v, double tsc_hz)
{
	const uint64_t *stats = v->header->stats;
	double timed = (double)stats[ST_STAT_runtime_ticks] / tsc_hz * 1e9;
	double modelled = (double)stats[ST_STAT_insns] * cost_translate +
	                  (double)stats[ST_STAT_dispatches] * cost_dispatch +
	                  (double)stats[ST_STAT_lookup_misses] * cost_dispatch +
	                  (double)stats[ST_STAT_signals] * cost_signal +
	                  (double)stats[ST_STAT_smc_faults] * cost_signal;
	return fmin(timed, 1.5 * modelled);
}

/* Seconds of CPU that the engine took in one process. */
static double
process_cost(const struct st_run *run, const struct st_process *process)
{
	struct st_view v;
	if (st_view_open(&v, process->results, process->results_size, NULL))
		return 0;
	double ns = cost_start + runtime_cost(&v, run->tsc_hz) + block_cost(&v);
	ns += (double)v.header->stats[ST_STAT_syscalls] * cost_syscall;
	ns += ((double)v.n_samples + (double)v.n_dropped) * cost_sample;
	return ns / 1e9;
}

/*
 * With enough samples the share of time in which the program's own instructions or its system calls
 * were under way says it directly: the engine's instructions in translated code are told apart one
 * by one. 0: too few samples.
 */
static double
sampled_share(const struct st_run *run)
{
	uint64_t all = 0, own = 0;
	for (size_t i = 0; i < run->n_processes; i++) {
		struct st_view v;
		if (st_view_open(&v, run->processes[i].results, run->processes[i].results_size,
		                 NULL))
			continue;
		for (uint64_t s = 0; s < v.n_samples; s++)
			own += v.samples[s].where != ST_SAMPLE_RUNTIME;
		all += v.n_samples;
	}
	return all >= enough_samples ? (double)own / (double)all : 0;
}

double
st_slowdown_estimate(const struct st_run *run)
{
	double cpu = run->cpu_user + run->cpu_system, cost = 0;
	if (!(cpu > 0) || !(run->tsc_hz > 0))
		return 1;
	double share = sampled_share(run);
	if (share > 0)
		return fmin(1 / share, max_slowdown);
	for (size_t i = 0; i < run->n_processes; i++)
		cost += process_cost(run, &run->processes[i]);
	double native = fmax(cpu - cost, least_native * (double)run->n_processes);
	return fmin(fmax(cpu / native, 1), max_slowdown);
}
