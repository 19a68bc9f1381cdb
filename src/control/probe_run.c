/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting a program with probes, and waiting for its end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/executed.h"
#include "control/internal.h"
#include "control/probe.h"
#include "control/supervisor.h"

/* ---- questions of the dynamic linker ---- */

static void
answer_linker(struct st_probing *p, uint32_t asked)
{
	struct st_error ignored;
	/* What cannot be done has its reason in the list of refused functions, or the process is
	 * ending. */
	pthread_mutex_lock(&p->busy);
	(void)!p->install(p->arg, &ignored);
	pthread_mutex_unlock(&p->busy);
	__atomic_store_n(&p->area->answered, asked, __ATOMIC_RELEASE);
	syscall(SYS_futex, &p->area->answered, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *
attend_linker(void *arg)
{
	struct st_probing *p = arg;
	struct st_probe_area *a = p->area;
	a->attendant = (uint32_t)gettid();
	while (!__atomic_load_n(&p->ends, __ATOMIC_ACQUIRE)) {
		const uint32_t asked = __atomic_load_n(&a->asked, __ATOMIC_ACQUIRE);
		if (asked != a->answered)
			answer_linker(p, asked);
		else
			syscall(SYS_futex, &a->asked, FUTEX_WAIT, asked, NULL, NULL, 0);
	}
	return NULL;
}

void
st_probing_attend(struct st_probing *p)
{
	p->attends = pthread_create(&p->attendant, NULL, attend_linker, p) == 0;
	__atomic_store_n(&p->area->controlled, p->attends, __ATOMIC_RELEASE);
}

void
st_probing_dismiss(struct st_probing *p)
{
	__atomic_store_n(&p->ends, true, __ATOMIC_RELEASE);
	/* A question that is not one ends the wait. */
	__atomic_add_fetch(&p->area->asked, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &p->area->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void
st_probing_unattend(struct st_probing *p)
{
	if (!p->attends)
		return;
	st_probing_dismiss(p);
	pthread_join(p->attendant, NULL);
	p->attends = false;
}

/* ---- start ---- */

st_status
st_probing_open(struct st_probing *p, struct st_error *e)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", p->pid);
	p->memory = open(path, O_RDWR | O_CLOEXEC);
	return p->memory >= 0
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "cannot open the program's memory (%s): %s",
	                         path, strerror(errno));
}

static st_status
map_at_exec(struct st_probing *p, struct st_error *e)
{
	enum { BELOW = 16384 };
	struct user_regs_struct regs;
	struct st_remote remote;
	if (ptrace(PTRACE_GETREGS, p->pid, 0, &regs) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the program's registers: %s",
		               strerror(errno));
	if (st_remote_begin(&remote, p->pid, &regs, (regs.rsp - BELOW) & ~15ull, e))
		return ST_FAILED;
	st_status status = st_probing_map(p, &remote, e);
	if (!status && (st_remote_end(&remote) || ptrace(PTRACE_SETREGS, p->pid, 0, &regs) != 0))
		status = st_fail(e, ST_EXIT_FAILED, "cannot let the program go on: %s",
		                 strerror(errno));
	st_retreat_clear(&remote.retreat);
	return status;
}

st_status
st_probing_prepare(struct st_probing *p, struct st_error *e)
{
	struct user_regs_struct regs;
	if (st_probing_open(p, e) || map_at_exec(p, e) || st_probing_run_to_start(p, e))
		return ST_FAILED;
	if (ptrace(PTRACE_GETREGS, p->pid, 0, &regs) != 0 ||
	    st_probing_tell_tid(p, p->pid, regs.fs_base))
		return st_fail(e, ST_EXIT_FAILED, "lost the program before it started");
	if (p->install(p->arg, e))
		return ST_FAILED;
	st_probing_attend(p);
	if (p->taken)
		p->taken(p->arg);
	if (p->follows)
		st_probing_follow(p);
	if (ptrace(PTRACE_DETACH, p->pid, 0, 0) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot let the program go: %s", strerror(errno));
	return ST_OK;
}

static int64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void
st_probing_begin(struct st_probing *p)
{
	pthread_mutex_init(&p->busy, NULL);
	p->start_ns = now_ns();
	p->begin = st_moment_now();
}

void
st_probing_finish(struct st_probing *p)
{
	const struct st_moment end = st_moment_now();
	p->end = p->has_end ? p->end : end.ticks;
	p->has_end = true;
	p->seconds = p->seconds > 0 ? p->seconds : end.seconds - p->begin.seconds;
	p->tsc_hz = p->uses_cpu ? 1e9 : st_moments_frequency(p->begin, end);
	st_probing_unattend(p);
}

static st_status
start_program(struct st_probing *p, const char *path, const struct st_run_options *o,
              struct st_error *e)
{
	int channel[2];
	const pid_t pid = st_start_traced(path, o, channel, e);
	if (pid < 0)
		return ST_FAILED;
	close(channel[0]);
	p->pid = p->program = pid;
	if (p->tells_executed)
		p->executing = st_executed_begin(pid);
	st_probing_begin(p);
	if (!st_probing_prepare(p, e))
		return ST_OK;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return ST_FAILED;
}

st_status
st_probing_start(struct st_probing *p, char *const *argv, bool own_group, struct st_error *e)
{
	char path[4096];
	const struct st_run_options o = {.argv = argv, .own_group = own_group, .dies = p->dies};
	p->memory = -1;
	if (st_program_find(argv[0], path, sizeof path, e))
		return ST_FAILED;
	st_limits_lift();
	if (!p->untimed)
		st_probing_calibrate(p);
	if (start_program(p, path, &o, e))
		return ST_FAILED;
	st_jobs_begin(p->pid, own_group);
	return ST_OK;
}

/* ---- the end ---- */

void
st_probing_look(struct st_probing *p, bool ended)
{
	if (!p->look)
		return;
	pthread_mutex_lock(&p->busy);
	p->look(p->arg, ended);
	pthread_mutex_unlock(&p->busy);
}

/* Has it ended, and not been waited for? */
static bool
has_ended_unwaited(pid_t pid)
{
	siginfo_t info = {0};
	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

static void
end_executing(struct st_probing *p)
{
	free(p->executed);
	p->executed = st_executed_end(p->executing);
	p->executing = NULL;
}

/* Once it has been waited for, nothing of it is known. */
static void
look_at_executed(struct st_probing *p, int flags)
{
	siginfo_t seen = {0};
	const int what = WEXITED | WSTOPPED | WNOWAIT | flags;
	if (!p->executing)
		return;
	while (waitid(P_PID, (id_t)p->pid, &seen, what) && errno == EINTR)
		;
	if (seen.si_pid == p->pid && seen.si_code != CLD_STOPPED && seen.si_code != CLD_TRAPPED)
		end_executing(p);
}

/* Has it ended? -1 with *e: it is gone. */
static int
look_at_program(struct st_probing *p, int flags, struct st_error *e)
{
	if (p->held)
		pthread_mutex_lock(p->held);
	look_at_executed(p, flags);
	const pid_t who = wait4(p->pid, &p->status, WUNTRACED | flags, &p->usage);
	if (p->held)
		pthread_mutex_unlock(p->held);
	if (who < 0 && errno != EINTR)
		return st_fail(e, ST_EXIT_FAILED, "lost the program: %s", strerror(errno));
	if (who != p->pid)
		return 0;
	if (!WIFSTOPPED(p->status))
		return 1;
	if (p->pause)
		p->pause(p->arg, true);
	st_jobs_stopped(p->pid, WSTOPSIG(p->status));
	if (p->pause)
		p->pause(p->arg, false);
	return 0;
}

/* Takes the probes away, if that can be done now. Its end may be seen on the way. */
static bool
try_to_leave(struct st_probing *p)
{
	bool stopped;
	const uint64_t now = st_moment_now().ticks;
	__atomic_store_n(&p->area->leaves, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&p->area->controlled, 0, __ATOMIC_RELEASE);
	st_probing_unattend(p);
	p->left = st_probing_leave(p, &stopped);
	if (stopped && !p->has_end) {
		p->cut = p->has_end = true;
		p->end = now;
	}
	if (p->own_end)
		getrusage(RUSAGE_CHILDREN, &p->usage);
	return p->left;
}

/* 1: it has ended, 0: it runs on without probes, -1 with *e. */
static int
wait_for_time(struct st_probing *p, double seconds, struct st_error *e)
{
	const double end = st_now_raw() + seconds;
	for (;;) {
		st_probing_look(p, p->look && has_ended_unwaited(p->pid));
		const int ended = p->own_end ? 1 : look_at_program(p, WNOHANG, e);
		if (ended)
			return ended;
		if (seconds > 0 && st_now_raw() >= end && try_to_leave(p))
			return p->own_end;
		if (p->own_end)
			return 1;
		nanosleep(&(struct timespec){0, 4000000}, NULL);
	}
}

st_status
st_probing_wait(struct st_probing *p, double seconds, struct st_error *e)
{
	int ended = seconds > 0 || p->look || p->follows ? wait_for_time(p, seconds, e) : 0;
	while (!ended)
		ended = look_at_program(p, 0, e);
	if (ended < 0)
		return ST_FAILED;
	if (p->executing)
		end_executing(p);
	st_jobs_end();
	if (p->follows) {
		const struct st_moment end = st_moment_now();
		p->ended = end.ticks;
		p->end = p->has_end ? p->end : end.ticks;
		p->has_end = true;
		p->seconds = end.seconds - p->begin.seconds;
	} else {
		st_probing_finish(p);
	}
	return ST_OK;
}

void
st_probing_free(struct st_probing *p)
{
	st_probing_unfollow(p);
	end_executing(p);
	free(p->executed);
	p->executed = NULL;
	free(p->unfollowed_why);
	free(p->command);
	p->unfollowed_why = p->command = NULL;
	st_probing_unattend(p);
	if (p->memory >= 0)
		close(p->memory);
	free(p->patches.v);
	if (p->area)
		munmap(p->area, ST_PROBE_AREA_BYTES);
	p->area = NULL;
	p->memory = -1;
}
