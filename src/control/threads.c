/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stopping all threads of a process wherever they are. Every one is asked before any is waited for:
 * one that computes stops when it next gets a processor, and so they do it side by side.
 */
#include "control/threads.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/supervisor.h"

enum { OPTIONS = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD };

/* Values of rax after a system call that the kernel has interrupted. */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };

/* Returns whether the thread is about to continue a system call by restart_syscall: it was let go
 * before, and has not run since. The number of that call is not known any more. */
static bool
continues_call(const struct st_traced *t)
{
	enum { SYSCALL_CODE = 0x050f };
	errno = 0;
	return t->regs.rax == SYS_restart_syscall &&
	       (ptrace(PTRACE_PEEKTEXT, t->tid, t->regs.rip, 0) & 0xffff) == SYSCALL_CODE && !errno;
}

/*
 * Registers from which a thread that was stopped in a system call goes on as if it had not been:
 * the kernel's own restart is lost with the first system call that is made in between. EINTR is
 * what calls answer that cannot know that no signal came (epoll_wait); close has closed all the
 * same.
 */
static void
settle_threads(struct st_traced *t)
{
	struct user_regs_struct *r = &t->regs;
	long nr = (long)r->orig_rax, answer = (long)r->rax;
	r->orig_rax = ~0ull;
	t->interrupted = false;
	t->restart = 0;
	if (nr < 0) {
		if (continues_call(t))
			t->restart = SYS_restart_syscall;
		return;
	}
	if (answer == -ERESTART_RESTARTBLOCK) {
		r->rax = SYS_restart_syscall;
		t->restart = (uint64_t)nr;
	} else if (answer == -ERESTARTSYS || answer == -ERESTARTNOINTR ||
	           answer == -ERESTARTNOHAND || (answer == -EINTR && nr != SYS_close)) {
		r->rax = (unsigned long long)nr;
	} else {
		return;
	}
	r->rip -= 2;
	t->interrupted = true;
}

static struct st_traced *
find(struct st_threads *ts, pid_t tid)
{
	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i].tid == tid && !ts->v[i].gone)
			return &ts->v[i];
	return NULL;
}

static struct st_traced *
add(struct st_threads *ts, pid_t tid)
{
	if (ts->n == ts->room) {
		size_t room = ts->room ? 2 * ts->room : 64;
		struct st_traced *more = realloc(ts->v, room * sizeof *more);
		if (!more)
			return NULL;
		ts->v = more;
		ts->room = room;
	}
	struct st_traced *t = &ts->v[ts->n++];
	*t = (struct st_traced){.tid = tid};
	return t;
}

static void
on_stopped(struct st_threads *ts, struct st_traced *t, int signo)
{
	struct user_regs_struct regs;
	if (signo != SIGTRAP)
		ts->group_stopped = true;
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &regs) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, sizeof t->mask, &t->mask) != 0) {
		t->gone = true;
		return;
	}
	t->regs = regs;
	t->stopped = true;
	settle_threads(t);
	/* The kernel would not begin that call again. */
	if (t->interrupted && (long)regs.rax == -EINTR)
		ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}

static void
on_status(struct st_threads *ts, struct st_traced *t, int status)
{
	int event = status >> 16;
	if (!WIFSTOPPED(status)) {
		t->gone = true;
	} else if (event == PTRACE_EVENT_STOP) {
		on_stopped(ts, t, WSTOPSIG(status));
	} else if (event == PTRACE_EVENT_EXEC) {
		ts->execed = true;
		t->stopped = true;
	} else {
		ptrace(PTRACE_CONT, t->tid, 0, WSTOPSIG(status));
		if (ts->stopping) /* any stop takes the place of the one that was asked for */
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	}
}

static void
on_news(struct st_threads *ts, pid_t tid, int status)
{
	struct st_traced *t = find(ts, tid);
	if (tid == ts->pid && !WIFSTOPPED(status)) {
		ts->ended = true;
		ts->status = status;
	}
	if (t)
		on_status(ts, t, status);
}

void
st_threads_attend(struct st_threads *ts)
{
	int status;
	pid_t tid;
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		on_news(ts, tid, status);
	if (tid < 0 && errno == ECHILD)
		for (size_t i = 0; i < ts->n; i++)
			ts->v[i].gone = true;
}

/*
 * The kernel lets PTRACE_SEIZE wait while a thread of the process is in execve, which itself waits
 * until the other threads have ended and been waited for: by us, if they are traced. So while there
 * are threads to seize they are waited for from a signal that interrupts the call again and again.
 * There is no way to ask for ends alone: a tracer is told of stops, too.
 */
enum { MOST_NEWS = 4096 };
static struct {
	pid_t tid;
	int status;
} news[MOST_NEWS];
static volatile int n_news;

static void
take_news(int signo)
{
	int error = errno;
	(void)signo;
	while (n_news < MOST_NEWS) {
		pid_t tid = waitpid(-1, &news[n_news].status, __WALL | WNOHANG);
		if (tid <= 0)
			break;
		news[n_news].tid = tid;
		n_news = n_news + 1;
	}
	errno = error;
}

/* The state of the process before it was seized. */
struct seizing {
	struct sigaction action;
	sigset_t mask;
};

static struct seizing
begin_seizing(void)
{
	static const struct itimerval soon = {{0, 20000}, {0, 20000}};
	struct sigaction take = {.sa_handler = take_news};
	struct seizing before;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigaction(SIGALRM, &take, &before.action);
	sigprocmask(SIG_UNBLOCK, &alarm, &before.mask); /* the agent blocks all */
	setitimer(ITIMER_REAL, &soon, NULL);
	return before;
}

static void
end_seizing(struct st_threads *ts, const struct seizing *before)
{
	static const struct itimerval never;
	setitimer(ITIMER_REAL, &never, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	sigaction(SIGALRM, &before->action, NULL);
	for (int i = 0; i < n_news; i++)
		on_news(ts, news[i].tid, news[i].status);
	n_news = 0;
}

/* Asks a thread to stop; 1 when it is new, 0 when there was nothing to do, -1 with errno. */
static int
ask_threads(struct st_threads *ts, pid_t tid)
{
	struct st_traced *t = find(ts, tid);
	if (t && (t->stopped || ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0))
		return 0;
	if (t)
		return 1;
	if (ptrace(PTRACE_SEIZE, tid, 0, OPTIONS) != 0) {
		/* One that is ending can no longer be traced. */
		char path[64], text[400] = "";
		int error = errno;
		snprintf(path, sizeof path, "/proc/%d/task/%d/stat", ts->pid, tid);
		FILE *f = fopen(path, "re");
		size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
		if (f)
			fclose(f);
		const char *state = n ? strrchr(text, ')') : NULL;
		errno = error;
		return !state || state[2] == 'Z' || state[2] == 'X' ? 0 : -1;
	}
	if (!add(ts, tid)) {
		errno = ENOMEM;
		return -1;
	}
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return 1;
}

/* Asks all threads that still run to stop. Returns the number of these threads, or -1 with errno.
 */
static int
ask_all_threads(struct st_threads *ts)
{
	char path[64];
	int asked = 0;
	snprintf(path, sizeof path, "/proc/%d/task", ts->pid);
	DIR *d = opendir(path);
	if (!d)
		return 0;
	struct seizing before = begin_seizing();
	for (struct dirent *entry; (entry = readdir(d));) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		int one = tid > 0 ? ask_threads(ts, tid) : 0;
		if (one < 0) {
			asked = -1;
			break;
		}
		asked += one;
	}
	int error = errno;
	end_seizing(ts, &before);
	closedir(d);
	errno = error;
	return asked;
}

static const struct st_traced *
missing(const struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		if (!ts->v[i].stopped && !ts->v[i].gone)
			return &ts->v[i];
	return NULL;
}

/* Until all have stopped, or the time is over. SIGCHLD is blocked. */
static const struct st_traced *
wait_all(struct st_threads *ts, double end)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		st_threads_attend(ts);
		const struct st_traced *t = missing(ts);
		if (!t || st_now_raw() > end)
			return t;
		sigtimedwait(&child, NULL, &(struct timespec){0, 2000000});
	}
}

st_status
st_threads_stop_again(struct st_threads *ts, double seconds, struct st_error *e)
{
	double end = st_now_raw() + seconds;
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	int asked;
	ts->stopping = true;
	while ((asked = ask_all_threads(ts)) != 0) {
		if (asked < 0)
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "process %d may not be traced: %s", ts->pid,
			               strerror(errno));
		const struct st_traced *late = wait_all(ts, end);
		if (late)
			return st_fail(e, ST_EXIT_FAILED,
			               "thread %d of process %d does not stop: it is in a system "
			               "call that cannot be interrupted",
			               late->tid, ts->pid);
	}
	ts->stopping = false;
	if (ts->execed)
		return st_fail(e, ST_EXIT_FAILED,
		               "process %d has just become another program; try again", ts->pid);
	if (ts->group_stopped)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "process %d is stopped; continue it first (kill -CONT %d)", ts->pid,
		               ts->pid);
	if (!st_threads_any(ts))
		return st_fail(e, ST_EXIT_FAILED, "process %d has ended in the meantime", ts->pid);
	return 0;
}

/* Whether a thread whose tracer was killed is on its way back to the program. Its code and data
 * belong to it until it has left them, so that no other way back can be put there. */
static bool
any_retreats(const struct st_threads *ts)
{
	size_t bytes;
	const uint64_t at = st_retreat_find(ts->pid, &bytes);
	for (size_t i = 0; at && i < ts->n; i++)
		if (!ts->v[i].gone && ts->v[i].regs.rip - at < bytes)
			return true;
	return false;
}

st_status
st_threads_stop(struct st_threads *ts, pid_t pid, double seconds, struct st_error *e)
{
	static const struct timespec pause = {0, 1000000};
	const double end = st_now_raw() + seconds;
	for (;;) {
		*ts = (struct st_threads){.pid = pid};
		const double left = end - st_now_raw();
		const st_status status = st_threads_stop_again(ts, left, e);
		if (!status && !any_retreats(ts))
			return ST_OK;
		st_threads_release(ts);
		st_threads_free(ts);
		if (status)
			return ST_FAILED;
		if (left < 0)
			return st_fail(
			        e, ST_EXIT_FAILED,
			        "process %d still undoes what a killed strobe was doing: try "
			        "again",
			        pid);
		nanosleep(&pause, NULL);
	}
}

st_status
st_thread_continue(struct st_traced *t)
{
	if (ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs) != 0 ||
	    ptrace(PTRACE_CONT, t->tid, 0, 0) != 0)
		return -1;
	t->stopped = false;
	return 0;
}

void
st_thread_put(struct st_traced *t)
{
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->mask, &t->mask);
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}

/* A thread that is not stopped cannot be let go: it stops first, or goes with our end. */
static void
release(struct st_threads *ts, struct st_traced *t)
{
	if (t->gone)
		return;
	if (!t->stopped) {
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
		double end = st_now_raw() + 0.2;
		while (!t->stopped && !t->gone && st_now_raw() < end)
			st_threads_attend(ts);
	}
	if (!t->stopped || t->gone)
		return;
	if (!ts->execed)
		st_thread_put(t);
	ptrace(PTRACE_DETACH, t->tid, 0, 0);
	t->gone = true;
}

void
st_threads_release(struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		release(ts, &ts->v[i]);
}

void
st_threads_release_late(void)
{
	int status;
	pid_t tid;
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
}

void
st_threads_free(struct st_threads *ts)
{
	free(ts->v);
	*ts = (struct st_threads){.ended = ts->ended, .status = ts->status};
}

struct st_traced *
st_threads_any(struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i].stopped && !ts->v[i].gone)
			return &ts->v[i];
	return NULL;
}

uint64_t
st_syscall_in_vdso(pid_t pid)
{
	char path[64], line[512];
	unsigned long long start = 0, end = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "[vdso]") && sscanf(line, "%llx-%llx", &start, &end) == 2)
			break;
	if (f)
		fclose(f);
	unsigned char code[16384];
	size_t bytes = end - start < sizeof code ? (size_t)(end - start) : sizeof code;
	struct iovec here = {code, bytes}, there = {(void *)start, bytes};
	if (!start || process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		return 0;
	for (size_t i = 0; i + 1 < bytes; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return start + i;
	return 0;
}
