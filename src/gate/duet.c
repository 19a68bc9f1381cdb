/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/duet.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "timing/timing.h"

st_status
st_gate_runs_begin(struct st_gate_runs *r, struct st_error *e)
{
	if (!CPU_COUNT(&r->cpus) && sched_getaffinity(0, sizeof r->cpus, &r->cpus))
		return st_fail(e, ST_EXIT_FAILED, "cannot read which CPUs may be used: %s",
		               strerror(errno));
	if (r->duet == ST_GATE_TOGETHER && CPU_COUNT(&r->cpus) < 2)
		return st_fail(e, ST_EXIT_USAGE,
		               "--duet together needs two CPUs and has one: use --duet alternate");
	return ST_OK;
}

/* ---- CPUs ---- */

/* The CPU number `at` of the set. */
static void
duet_one_cpu(const cpu_set_t *all, size_t at, cpu_set_t *one)
{
	CPU_ZERO(one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all) && at-- == 0)
			CPU_SET(cpu, one);
}

static void
duet_half(const cpu_set_t *all, bool second, cpu_set_t *half)
{
	const int n = CPU_COUNT(all);
	CPU_ZERO(half);
	for (int cpu = 0, at = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, all))
			continue;
		if ((at >= n / 2) == second)
			CPU_SET((size_t)cpu, half);
		at++;
	}
}

void
st_gate_choose_cpus(const struct st_gate_runs *r, const struct st_gate_pair *pair, int side,
                    cpu_set_t *cpus)
{
	if (r->duet == ST_GATE_TOGETHER)
		duet_half(&r->cpus, side != pair->first, cpus);
	else if (r->unpinned)
		*cpus = r->cpus;
	else
		duet_one_cpu(&r->cpus, pair->random % (uint64_t)CPU_COUNT(&r->cpus), cpus);
}

/* ---- runs ---- */

struct duet_run {
	const struct st_gate_runs *r;
	int side;
	cpu_set_t cpus;
	char padding[ST_GATE_PADDING];
	struct st_timing_meeting meeting;
	bool meets;
	struct st_timing_run measured;
	st_status status;
	struct st_error e;
};

void
st_gate_padding(char text[ST_GATE_PADDING], unsigned bytes)
{
	static const char name[] = "STROBE_GATE=";
	memset(text, 0, ST_GATE_PADDING);
	memcpy(text, name, sizeof name);
	memset(text + sizeof name - 1, 'x', bytes % 4096);
}

static void
duet_prepare(struct duet_run *run, const struct st_gate_runs *r, const struct st_gate_pair *pair,
             int side)
{
	*run = (struct duet_run){.r = r, .side = side};
	st_gate_choose_cpus(r, pair, side, &run->cpus);
	st_gate_padding(run->padding, pair->padding[side]);
}

static void *
duet_execute(void *arg)
{
	struct duet_run *run = arg;
	const struct st_gate_command *c = &run->r->commands[run->side];
	char *settings[] = {run->padding, NULL};
	const struct st_timing_command command = {
	        .argv = c->argv,
	        .input = run->r->input ? run->r->input : "/dev/null",
	        .streams = "/dev/null",
	        .cpus = &run->cpus,
	        .folder = c->folder,
	        .settings = settings,
	        .meeting = run->meets ? &run->meeting : NULL,
	};
	run->status = st_timing_run(&command, &run->measured, &run->e);
	return NULL;
}

const char *
st_gate_duet_advice(enum st_gate_duet duet)
{
	return duet == ST_GATE_ALTERNATE
	               ? ""
	               : ", or use --duet alternate if two of them cannot run at once";
}

/* A program that fails has not done the work that the gate measures. */
static st_status
duet_check(const struct duet_run *run, struct st_error *e)
{
	const struct st_gate_command *c = &run->r->commands[run->side];
	if (run->status) {
		*e = run->e;
		return ST_FAILED;
	}
	if (!run->measured.exit || st_timing_interrupted())
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED,
	               "the gate measured nothing: %s of the %s exited with %d; run it by hand to "
	               "see why%s",
	               c->argv[0], st_gate_sides[run->side], run->measured.exit,
	               st_gate_duet_advice(run->r->duet));
}

st_status
st_gate_run_both(enum st_gate_duet duet, void *(*run)(void *arg), void *first, void *second,
                 struct st_error *e)
{
	pthread_t thread;
	const bool at_once = duet != ST_GATE_ALTERNATE;
	const int error = at_once ? pthread_create(&thread, NULL, run, second) : 0;
	if (error)
		return st_fail(e, ST_EXIT_FAILED, "cannot start a thread: %s", strerror(error));
	run(first);
	if (at_once)
		pthread_join(thread, NULL);
	else
		run(second);
	return ST_OK;
}

/* Both runs begin when both processes are ready. */
static st_status
duet_meet(struct duet_run *runs, struct st_error *e)
{
	int pipes[ST_GATE_SIDES][2];
	if (pipe2(pipes[0], O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(pipes[1], O_CLOEXEC)) {
		const int error = errno;
		close(pipes[0][0]);
		close(pipes[0][1]);
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(error));
	}
	for (int i = 0; i < ST_GATE_SIDES; i++) {
		runs[i].meeting = (struct st_timing_meeting){pipes[i][0], pipes[!i][1]};
		runs[i].meets = true;
	}
	st_status status = st_gate_run_both(runs->r->duet, duet_execute, &runs[0], &runs[1], e);
	for (int i = 0; i < ST_GATE_SIDES; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	return status;
}

static double
duet_value(const struct st_gate_runs *r, const struct st_timing_run *run)
{
	return r->metric == ST_GATE_WALL ? run->v[ST_TIMING_WALL]
	                                 : run->v[ST_TIMING_USER] + run->v[ST_TIMING_SYSTEM];
}

st_status
st_gate_run_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                 struct st_error *e)
{
	const struct st_gate_runs *r = arg;
	struct duet_run *runs = calloc(ST_GATE_SIDES, sizeof *runs);
	st_status status = ST_OK;
	if (!runs)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for a pair of runs");
	for (int i = 0; i < ST_GATE_SIDES; i++)
		duet_prepare(&runs[i], r, pair, i == 0 ? pair->first : !pair->first);
	if (r->duet == ST_GATE_ALTERNATE)
		status = st_gate_run_both(r->duet, duet_execute, &runs[0], &runs[1], e);
	else
		status = duet_meet(runs, e);
	for (int i = 0; i < ST_GATE_SIDES && !status; i++) {
		status = duet_check(&runs[i], e);
		ns[runs[i].side] = duet_value(r, &runs[i].measured);
	}
	free(runs);
	return status;
}

bool
st_gate_is_interrupted(void *arg)
{
	(void)arg;
	return st_timing_interrupted() != 0;
}

double
st_gate_now(void *arg)
{
	(void)arg;
	return st_now_raw();
}
