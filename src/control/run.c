/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting a program under the engine, and waiting for its end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/frequency.h"
#include "control/supervisor.h"
#include "qos/qos.h"

double
st_cpu_time(int who)
{
	struct rusage own;
	getrusage(who, &own);
	return (double)own.ru_utime.tv_sec + (double)own.ru_utime.tv_usec * 1e-6 +
	       (double)own.ru_stime.tv_sec + (double)own.ru_stime.tv_usec * 1e-6;
}

static void
fill_run(struct st_run *run, const struct st_supervisor *s, struct st_moment begin)
{
	run->tsc_hz = st_moments_frequency(begin, st_moment_now());
	run->seconds = s->ended - s->begin;
	run->cpu_user = (double)s->usage.ru_utime.tv_sec + (double)s->usage.ru_utime.tv_usec * 1e-6;
	run->cpu_system =
	        (double)s->usage.ru_stime.tv_sec + (double)s->usage.ru_stime.tv_usec * 1e-6;
	run->cpu_controller = st_cpu_time(RUSAGE_SELF);
	run->processes = s->processes;
	run->n_processes = s->n_processes;
	run->tmps = s->tmps;
	run->unfollowed = s->unfollowed;
	run->unfollowed_why = s->unfollowed_why;
	run->exit_code = WIFEXITED(s->main_status) ? WEXITSTATUS(s->main_status)
	                                           : 128 + WTERMSIG(s->main_status);
}

st_status
st_run_program(const struct st_run_options *o, struct st_run *run, struct st_error *e)
{
	char path[4096];
	struct st_injected in;
	*run = (struct st_run){0};
	if (st_program_find(o->argv[0], path, sizeof path, e) != 0)
		return -1;
	st_limits_lift();
	int channel[2];
	pid_t pid = st_start_traced(path, o, channel, e);
	if (pid < 0)
		return -1;
	signal(SIGXFSZ, SIG_IGN); /* an error that is reported, not our end */
	struct st_moment begin = st_moment_now();
	struct st_supervisor s = {.options = o, .main_pid = pid, .begin = begin.seconds};
	st_supervisor_meet(&s, pid);
	if (st_pool_make(&s.pool, o, e) != 0 || (o->known && st_known_make(o->known, e) != 0) ||
	    st_inject(pid, o, &s.pool, channel, &in, e) != 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
		return -1;
	}
	st_jobs_begin(pid, o->own_group);
	s.drain = o->rows ? st_drain_new(o->rows) : NULL;
	in.results->layout.ppid = (uint32_t)getpid();
	if (st_supervisor_add(&s, in.results, in.channel, o->argv[0]) != 0)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	st_region_begin(&s);
	if (o->qos)
		st_qos_start(o->qos);
	st_supervisor_wait(&s);
	if (o->qos)
		st_qos_stop(o->qos);
	st_drain_free(s.drain);
	st_pool_end(&s.pool, (struct st_results_header *)s.processes[0].results);
	fill_run(run, &s, begin);
	if (o->progress)
		o->progress(o->progress_arg, run->processes, run->n_processes, run->seconds);
	return 0;
}

void
st_run_free(struct st_run *run)
{
	for (size_t i = 0; i < run->n_processes; i++) {
		free(run->processes[i].command);
		free(run->processes[i].alone_why);
		munmap((void *)run->processes[i].results, run->processes[i].results_size);
	}
	free(run->processes);
	st_perf_map_close(run->tmps);
	free(run->unfollowed_why);
	*run = (struct st_run){0};
}
