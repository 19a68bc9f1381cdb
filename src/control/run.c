/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting a program under the engine, and waiting for its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/frequency.h"
#include "control/supervisor.h"
#include "qos/qos.h"

/* The child: waits until it is traced, then becomes the program, with the channel. errno of a
 * failed exec goes into the pipe. */
static _Noreturn void
become_program(const char *path, const struct st_run_options *o, int go, int report, int channel)
{
	char byte;
	extern char **environ;
	if (read(go, &byte, 1) != 1)
		_exit(ST_EXIT_FAILED);
	fcntl(channel, F_SETFD, 0);
	st_limits_restore();
	if (o->own_group)
		setpgid(0, 0);
	execve(path, o->argv, environ);
	int error = errno;
	ssize_t n = write(report, &error, sizeof error);
	_exit(n == sizeof error ? ST_EXIT_NOT_EXECUTABLE : ST_EXIT_FAILED);
}

/* Lets the seized child go up to its exec. */
static st_status
wait_for_exec(pid_t pid, int report, const char *path, struct st_error *e)
{
	int status, error = 0;
	for (;;) {
		if (waitpid(pid, &status, __WALL) != pid)
			return st_fail(e, ST_EXIT_FAILED, "lost the program before it started: %s",
			               strerror(errno));
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (read(report, &error, sizeof error) == sizeof error)
				return st_fail(
				        e,
				        error == ENOENT ? ST_EXIT_NOT_FOUND
				                        : ST_EXIT_NOT_EXECUTABLE,
				        error == ENOENT
				                ? "cannot run %s: its interpreter is missing (%s)"
				                : "cannot run %s: %s",
				        path, strerror(error));
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot run %s: the kernel ended it before its first "
			               "instruction; the file is damaged, copy or build it again, "
			               "or a memory limit is too low: raise it (ulimit -v)",
			               path);
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return 0;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	}
}

static st_status
no_pipe(int error, struct st_error *e)
{
	if (error == EMFILE)
		return st_fail(e, ST_EXIT_FAILED,
		               "strobe needs about ten more file descriptors than it may open: "
		               "raise the limit (ulimit -n), or start it with fewer open files");
	return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(error));
}

pid_t
st_start_traced(const char *path, const struct st_run_options *o, int channel[2], struct st_error *e)
{
	int go[2], report[2];
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0)
		return no_pipe(errno, e);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(report[0]);
		become_program(path, o, go[0], report[1], channel[1]);
	}
	close(go[0]);
	close(report[1]);
	close(channel[1]);
	int bad = pid < 0 ? st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno)) : 0;
	if (!bad && ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) != 0)
		bad = st_fail(e, ST_EXIT_FAILED,
		              "this machine does not let strobe trace a program (ptrace: %s); "
		              "strobe doctor says how to fix it",
		              strerror(errno));
	if (!bad && write(go[1], "g", 1) != 1)
		bad = st_fail(e, ST_EXIT_FAILED, "cannot start the program: %s", strerror(errno));
	close(go[1]);
	if (!bad)
		bad = wait_for_exec(pid, report[0], path, e);
	close(report[0]);
	if (bad && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
	}
	return bad ? -1 : pid;
}

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
		munmap((void *)run->processes[i].results, run->processes[i].results_size);
	}
	free(run->processes);
	st_perf_map_close(run->tmps);
	free(run->unfollowed_why);
	*run = (struct st_run){0};
}
