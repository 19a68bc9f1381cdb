/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeated runs of a command, as series of a profile. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "collect/collect.h"
#include "profile/profile.h"
#include "timing/signals.h"
#include "timing/timing.h"

static const struct {
	const char *metric, *kind, *unit;
} metrics[] = {
#define M(id, name, kind, unit) [ST_TIMING_##id] = {name, kind, unit},
        ST_TIMING_METRICS(M)
#undef M
};

/* Runs the shell command that comes before each run. */
static st_status
prepare_run(const struct st_timing *t, size_t run, struct st_error *e)
{
	int status = 0;
	if (!t->prepare)
		return ST_OK;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", t->prepare, (char *)NULL);
		_exit(ST_EXIT_NOT_FOUND);
	}
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(errno));
	st_timing_child_begin(pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	st_timing_child_end(pid);
	if (status == 0 || st_timing_interrupted())
		return ST_OK;
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return st_fail(e, ST_EXIT_FAILED,
	               "the command of --prepare exited with %d before run %zu: %s", code, run + 1,
	               t->prepare);
}

static st_status
timing_add_value(const struct st_timing *t, struct st_profile *p, int metric, size_t repetition,
                 const struct st_timing_run *r)
{
	const struct st_series_label workload = {"workload", t->workload};
	const struct st_series_key key = {.kind = metrics[metric].kind,
	                                  .metric = metrics[metric].metric,
	                                  .unit = metrics[metric].unit,
	                                  .image = t->command.argv[0],
	                                  .labels = &workload,
	                                  .n_labels = t->workload != NULL};
	struct st_series *s = st_series_of(p, &key);
	size_t at = s ? st_series_add(s, r->v[metric]) : SIZE_MAX;
	if (at == SIZE_MAX)
		return ST_FAILED;
	if (!isnan(t->size) && st_series_set(p, s, ST_FEATURE_SIZE, at, t->size))
		return ST_FAILED;
	if (st_series_set(p, s, ST_FEATURE_REPETITION, at, (double)repetition))
		return ST_FAILED;
	return st_series_set(p, s, ST_FEATURE_EXIT, at, r->exit);
}

static st_status
timing_add_run(const struct st_timing *t, struct st_profile *p, size_t repetition,
               const struct st_timing_run *r, struct st_error *e)
{
	for (int i = 0; i < ST_TIMING_COUNT; i++)
		if (timing_add_value(t, p, i, repetition, r))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the measurements");
	p->run.cpu_user_ns += (int64_t)r->v[ST_TIMING_USER];
	p->run.cpu_system_ns += (int64_t)r->v[ST_TIMING_SYSTEM];
	return ST_OK;
}

static int64_t
clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
timing_describe(const struct st_timing *t, struct st_profile *p)
{
	st_collect_machine(p);
	p->run.tool = "time";
	p->run.start_ns = clock_ns(CLOCK_REALTIME);
	st_profile_add_tool(p, "time");
	for (char *const *word = t->command.argv; *word; word++) {
		const char **slot = ST_PUSH(&p->run.command);
		if (slot)
			*slot = st_profile_text(p, *word);
		else
			p->out_of_memory = true;
	}
}

/* Remarks on the numbers. */
static void
note_runs(struct st_profile *p, size_t done, size_t failed, size_t hidden)
{
	const char *signal = p->run.signal ? sigdescr_np((int)p->run.signal) : NULL;
	if (failed && p->run.signal)
		st_profile_note(p, "the program failed in %s of %s: %s (signal %d)",
		                ST_NUMBER(failed), ST_COUNT(done, "run", "runs"),
		                signal ? signal : "killed", (int)p->run.signal);
	else if (failed)
		st_profile_note(p, "the program failed in %s of %s: it exited with %d",
		                ST_NUMBER(failed), ST_COUNT(done, "run", "runs"), (int)p->run.exit);
	if (hidden)
		st_profile_note(p,
		                "peak memory is an upper bound in %s of %s: the program used "
		                "less than strobe's process did before it became the program",
		                ST_NUMBER(hidden), ST_COUNT(done, "run", "runs"));
}

st_status
st_timing_measure(const struct st_timing *t, struct st_profile *p, struct st_error *e)
{
	size_t runs = t->warmups + t->repeat, done = 0, failed = 0, hidden = 0;
	int64_t begin = clock_ns(CLOCK_MONOTONIC_RAW);
	timing_describe(t, p);
	for (size_t run = 0; run < runs && !st_timing_interrupted(); run++) {
		struct st_timing_run r = {0};
		if (t->show)
			t->show(t->arg, run, runs);
		if (prepare_run(t, run, e) || st_timing_run(&t->command, &r, e))
			return ST_FAILED;
		if (run < t->warmups || st_timing_interrupted())
			continue;
		if (timing_add_run(t, p, ++done, &r, e))
			return ST_FAILED;
		if (r.exit && !failed++) {
			p->run.exit = r.exit;
			p->run.signal = r.signal;
		}
		hidden += r.memory_hidden;
	}
	p->run.wall_ns = clock_ns(CLOCK_MONOTONIC_RAW) - begin;
	if (!done)
		return st_fail(
		        e, 128 + st_timing_interrupted(),
		        "interrupted before the first repetition was complete: nothing is kept");
	note_runs(p, done, failed, hidden);
	return p->out_of_memory ? st_fail(e, ST_EXIT_FAILED, "no memory left for the measurements")
	                        : ST_OK;
}

int
st_timing_exit(const struct st_profile *p)
{
	return st_timing_interrupted() ? 128 + st_timing_interrupted() : (int)p->run.exit;
}
