/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/wait.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/supervisor.h"
#include "session/session.h"

static const double linger_seconds = 2; /* for children, once the program has ended */

static volatile sig_atomic_t is_interrupted;

static void
on_signal_to_strobe(int signo)
{
	(void)signo;
	is_interrupted = 1;
}

void
st_ebpf_wait_prepare(struct st_ebpf_run *run)
{
	const struct sigaction action = {.sa_handler = on_signal_to_strobe};
	struct sigaction old;
	if (run->choice->by_instructions)
		run->choice->limits.followed = 0;
	st_trace_limit(run->to, &run->choice->limits);
	run->has_begun = run->request->session->pid != 0;
	clock_gettime(CLOCK_REALTIME, &run->start);
	run->begin = st_now_raw();
	is_interrupted = 0;
	if (!run->request->session->pid) {
		st_jobs_begin(run->pid, run->request->session->own_group);
		return;
	}
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (st_signal_ends(signo) && !sigaction(signo, NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signo, &action, NULL);
}

/* ---- records ---- */

static st_status
count_static(struct st_ebpf_run *run, enum st_ebpf_role role, const struct st_trace_event *event)
{
	st_status status = ST_OK;
	if (role != ST_EBPF_END_OF_PAIR)
		status = st_trace_static_begin(run->to, event);
	if (!status && role != ST_EBPF_BEGIN)
		status = st_trace_static_end(run->to, event);
	return status;
}

/* The program has become another one, whose file may be gone before it is looked at. */
static void
note_other_program(struct st_ebpf_run *run)
{
	char path[64], file[PATH_MAX];
	snprintf(path, sizeof path, "/proc/%d/exe", run->pid);
	const ssize_t n = readlink(path, file, sizeof file - 1);
	run->has_executed = true;
	if (n <= 0)
		return;
	file[n] = '\0';
	free(run->executed);
	run->executed = strdup(file);
}

static int
count_record(void *arg, const struct st_ebpf_record *r)
{
	struct st_ebpf_run *run = arg;
	struct st_trace_event event = {.ns = r->ns, .sp = r->sp, .tid = r->tid, .pid = r->pid};
	st_status status = ST_OK;
	if (!run->has_begun) {
		run->has_begun = r->kind == ST_EBPF_EXEC;
	} else if (r->kind == ST_EBPF_RETURN) {
		status = st_trace_event_return(run->to, &event);
	} else if (r->kind == ST_EBPF_END || r->kind == ST_EBPF_EXEC) {
		if (r->kind == ST_EBPF_EXEC && (pid_t)r->pid == run->pid)
			note_other_program(run);
		status = st_trace_event_end(run->to, &event);
	} else if (r->point < run->choice->probes.n) {
		const struct st_ebpf_probe *probe = &run->choice->probes.v[r->point];
		event.function = probe->function;
		if (probe->role != ST_EBPF_FUNCTION) {
			run->no_memory |= count_static(run, probe->role, &event) != ST_OK;
			return 0;
		}
		event.back = r->back;
		event.jumps_to_itself = !probe->by_instructions || probe->jumps_to_itself;
		status = st_trace_event_entry(run->to, &event);
	}
	run->no_memory |= status != ST_OK;
	return 0;
}

static void
stop_trace(struct st_ebpf_run *run)
{
	const uint64_t end = st_cpu_ns(CLOCK_MONOTONIC);
	st_ebpf_detach(run->kernel);
	st_ebpf_read(run->kernel, count_record, run);
	run->lost = st_ebpf_lost(run->kernel);
	run->no_memory |= st_trace_events_end(run->to, end) != ST_OK;
}

/* ---- the end ---- */

static void
look_at_child(struct st_ebpf_run *run)
{
	int status;
	struct rusage usage;
	const pid_t pid = wait4(run->pid, &status, WNOHANG | WUNTRACED, &usage);
	if (pid != run->pid)
		return;
	if (WIFSTOPPED(status)) {
		st_jobs_stopped(pid, WSTOPSIG(status));
		return;
	}
	run->has_ended = true;
	run->status = status;
	run->usage = usage;
	run->end = st_now_raw();
	st_jobs_end();
}

static void
look_whether_ended(struct st_ebpf_run *run)
{
	run->has_ended = kill(run->pid, 0) != 0 && errno == ESRCH;
	run->end = st_now_raw();
}

static bool
children_remain(const struct st_ebpf_run *run, double now)
{
	uint32_t one;
	return run->request->session->follow && now - run->end < linger_seconds &&
	       !st_jobs_interrupted() && st_ebpf_processes(run->kernel, &one, 1);
}

/* Is it time to stop the trace? */
static bool
is_over(const struct st_ebpf_run *run, double now)
{
	const struct st_session *s = run->request->session;
	const double length = s->pid ? s->seconds : s->region.length;
	return (length > 0 && now - run->begin >= length) || (s->pid && is_interrupted) ||
	       (run->has_ended && !children_remain(run, now));
}

static void
sleep_ns(long ns)
{
	nanosleep(&(struct timespec){0, ns}, NULL);
}

void
st_ebpf_wait(struct st_ebpf_run *run)
{
	static const double look_every = 0.05;
	const bool is_child = !run->request->session->pid;
	double looked = run->begin, now = run->begin;
	for (; !is_over(run, now); now = st_now_raw()) {
		const int n = st_ebpf_read(run->kernel, count_record, run);
		if (!run->has_ended)
			(is_child ? look_at_child : look_whether_ended)(run);
		if (!run->has_ended && now - looked >= look_every) {
			run->look_later(run, now - run->begin);
			looked = now;
		}
		if (!run->has_ended)
			sleep_ns(n > 0 ? 1000000 : 4000000);
	}
	stop_trace(run);
	while (is_child && !run->has_ended) {
		look_at_child(run);
		sleep_ns(4000000);
	}
}
