/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strobe samples all threads several thousand times a second: the area of the probes says whether a
 * thread is in the function, and /proc whether it runs and what it waits for. A thread with a debt
 * is interrupted, and resumed when its pause has been as long. Threads that wait are not
 * interrupted, since that would interrupt their system calls, except in nanosleep and
 * clock_nanosleep: the kernel resumes these, and Strobe is told when they end. A thread that has
 * begun to wait before it stops resumes its system call, too.
 */
#include "blow/virtual.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "blow/debt.h"
#include "blow/hidden.h"

/* A thread that is traced; it has the same index in the debts. */
struct watched {
	int stat, call, times; /* files of /proc; -1: not open */
	uint64_t ran_ns;       /* CPU time until the last sample */
	double paid;           /* what it had paid then */
	bool asked;            /* it has been interrupted, and has not stopped yet */
	bool stopped;
	bool sleeps;     /* it is in a system call that waits for time, and can be resumed */
	bool timed;      /* that is a futex: another thread may wake it before */
	bool ends;       /* it stops when that sleep ends, in order to pay */
	bool fresh;      /* it has stopped since the last sample, at the end of such a wait */
	bool within;     /* it was in the code that is sped up when it was looked at last */
	double look_at;  /* when it is to be looked at next */
	uint32_t record; /* index of its record in the area; UINT32_MAX: unknown yet */
};
struct st_virtual_watch {
	struct st_virtual *v; /* NULL: no thread is to be paused */
	const struct st_probes *probes;
	struct st_debts debts;
	ST_VEC(struct watched) threads;
	pid_t pid;
	bool ended;    /* the program has ended, and the caller waits for it */
	double hidden; /* seconds that were hidden from all threads before the window */
	uint64_t random;
};

/* The shortest pause, seconds: longer than it takes to stop a thread. */
static const double least_debt = 0.0005;
/* Seconds from one look at a thread to the next, and for how long Strobe waits for its stop, which
 * takes some microseconds if the thread has a processor. */
static const double mean_look = 0.001, look_patience = 0.0003;

static const long seize_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD;

/* ---- hidden time ---- */

static bool
hides_pauses(const struct st_virtual_watch *w)
{
	return w->probes->process.hides_pauses;
}

/* The program reads its clocks as if what the thread has paid had not passed. */
static void
hide_paid(struct st_virtual_watch *w, size_t i)
{
	const struct st_debt_thread *d = &w->debts.threads.v[i];
	if (hides_pauses(w) && d->state != ST_DEBT_GONE)
		st_hidden_put(w->probes->process.area, d->id, w->hidden + d->paid);
}

/* After a window, debts are forgotten, and all threads have the same time again: that of the thread
 * that has paid most, whose clock would go back otherwise. */
static void
hide_same(struct st_virtual_watch *w)
{
	double most = 0;
	for (size_t i = 0; i < w->threads.n; i++)
		if (w->debts.threads.v[i].state != ST_DEBT_GONE)
			most = fmax(most, w->debts.threads.v[i].paid);
	w->hidden += most;
	if (hides_pauses(w))
		__atomic_store_n(&w->probes->process.area->hidden_ns, (uint64_t)(w->hidden * 1e9),
		                 __ATOMIC_RELEASE);
	w->debts.all = 0;
	for (size_t i = 0; i < w->threads.n; i++) {
		w->debts.threads.v[i].paid = 0;
		hide_paid(w, i);
	}
}

/* ---- threads ---- */

static int
open_of_thread(pid_t pid, pid_t tid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* CPU time since the last sample. The kernel updates it when a thread leaves the processor, and
 * some hundred times a second. If the kernel does not provide it, a thread that runs counts as
 * running all the time. */
static double
ran_since(struct watched *t, bool runs, double seconds)
{
	char text[64];
	const ssize_t n = t->times >= 0 ? pread(t->times, text, sizeof text - 1, 0) : 0;
	if (n <= 0)
		return runs ? seconds : 0;
	text[n] = '\0';
	const uint64_t now = strtoull(text, NULL, 10), before = t->ran_ns;
	t->ran_ns = now;
	return now > before ? (double)(now - before) * 1e-9 : 0;
}

static st_status
watch_thread(struct st_virtual_watch *w, pid_t tid, size_t from)
{
	if (st_debt_find(&w->debts, tid) != SIZE_MAX)
		return ST_OK;
	struct watched *t = ST_PUSH(&w->threads);
	if (!t || st_debt_thread(&w->debts, tid, from) == SIZE_MAX)
		return ST_FAILED;
	*t = (struct watched){.stat = open_of_thread(w->pid, tid, "stat"),
	                      .call = open_of_thread(w->pid, tid, "syscall"),
	                      .times = open_of_thread(w->pid, tid, "schedstat"),
	                      .paid = w->debts.threads.v[w->threads.n - 1].paid,
	                      .record = UINT32_MAX};
	(void)ran_since(t, false, 0); /* discards the CPU time until now */
	hide_paid(w, w->threads.n - 1);
	return ST_OK;
}

static void
forget_thread(struct st_virtual_watch *w, size_t i)
{
	struct watched *t = &w->threads.v[i];
	if (t->stat >= 0)
		close(t->stat);
	if (t->call >= 0)
		close(t->call);
	if (t->times >= 0)
		close(t->times);
	t->stat = t->call = t->times = -1;
	t->sleeps = false;
	if (hides_pauses(w) && w->debts.threads.v[i].state != ST_DEBT_GONE && !w->ended)
		st_hidden_end(w->probes->process.area, w->debts.threads.v[i].id);
	w->debts.threads.v[i].state = ST_DEBT_GONE;
}

/* Traces the threads that are not traced yet. */
static st_status
seize_new_threads(struct st_virtual_watch *w)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", w->pid);
	DIR *d = opendir(path);
	st_status status = ST_OK;
	for (struct dirent *entry; d && !status && (entry = readdir(d));) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && st_debt_find(&w->debts, tid) == SIZE_MAX &&
		    ptrace(PTRACE_SEIZE, tid, 0, seize_options) == 0)
			status = watch_thread(w, tid, SIZE_MAX);
	}
	if (d)
		closedir(d);
	return status;
}

/* Traces all threads; new threads are then traced from their first instruction on. */
static st_status
seize_threads(struct st_virtual_watch *w, struct st_error *e)
{
	if (ptrace(PTRACE_SEIZE, w->pid, 0, seize_options) != 0)
		return errno == ESRCH ? ST_OK /* it has ended already */
		                      : st_fail(e, ST_EXIT_FAILED,
		                                "cannot trace the program's threads (ptrace: %s); "
		                                "strobe doctor says how to fix it",
		                                strerror(errno));
	st_status status = watch_thread(w, w->pid, SIZE_MAX);
	for (size_t before = 0; !status && before < w->threads.n;) {
		before = w->threads.n;
		status = seize_new_threads(w);
	}
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the threads") : ST_OK;
}

/* ---- states ---- */

/* 'R' if it cannot be read. */
static char
state_of_thread(const struct watched *t)
{
	char text[512];
	const ssize_t n = t->stat >= 0 ? pread(t->stat, text, sizeof text - 1, 0) : 0;
	text[n > 0 ? n : 0] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] ? end[2] : 'R';
}

/* The system call that a thread waits in. */
struct waited {
	long number;                      /* -1: that is not known */
	unsigned long operation, timeout; /* the second and the fourth argument */
};

static struct waited
call_of_thread(const struct watched *t)
{
	char text[160];
	struct waited call = {-1, 0, 0};
	const ssize_t n = t->call >= 0 ? pread(t->call, text, sizeof text - 1, 0) : 0;
	text[n > 0 ? n : 0] = '\0';
	if (*text >= '0' && *text <= '9')
		sscanf(text, "%ld %*x %lx %*x %lx", &call.number, &call.operation, &call.timeout);
	return call;
}

static bool
is_sleep(long call)
{
	return call == SYS_nanosleep || call == SYS_clock_nanosleep;
}

/* Whether it waits for another thread, but no longer than until a time. */
static bool
is_timed_wait(long call, unsigned long operation, unsigned long timeout)
{
	const unsigned long what = operation & FUTEX_CMD_MASK;
	return call == SYS_futex && timeout && (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET);
}

static uint32_t
record_of_thread(const struct st_virtual_watch *w, int64_t tid)
{
	const struct st_probe_area *a = w->probes->process.area;
	for (uint32_t i = a->n_records; i-- > 0;)
		if (i < ST_PROBE_MOST_RECORDS && a->records[i].tid == tid)
			return i;
	return UINT32_MAX;
}

/* Fills in the record of the thread, if it has one. */
static bool
has_record(struct st_virtual_watch *w, size_t i)
{
	struct watched *t = &w->threads.v[i];
	if (t->record == UINT32_MAX)
		t->record = record_of_thread(w, w->debts.threads.v[i].id);
	return t->record != UINT32_MAX;
}

bool
st_virtual_in_call(const struct st_probes *probes, uint32_t record, const uint32_t *numbers,
                   size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const struct st_probe_cell *c = st_probes_cell(probes, record, numbers[k]);
		if (c && c->active)
			return true;
	}
	return false;
}

static bool
is_in_function(struct st_virtual_watch *w, size_t i)
{
	if (w->v->look)
		return w->threads.v[i].within;
	return has_record(w, i) && w->v->within(w->v->arg, w->threads.v[i].record);
}

static void
look_at_thread(struct st_virtual_watch *w, size_t i, double seconds)
{
	struct st_debt_thread *d = &w->debts.threads.v[i];
	struct watched *t = &w->threads.v[i];
	if (d->state == ST_DEBT_GONE)
		return;
	const char state = t->stopped ? 't' : state_of_thread(t);
	const struct waited call =
	        state == 'S' || state == 'D' ? call_of_thread(t) : (struct waited){-1, 0, 0};
	if (!t->ends)
		t->timed =
		        hides_pauses(w) && is_timed_wait(call.number, call.operation, call.timeout);
	t->sleeps = is_sleep(call.number) || t->timed;
	/* When the wait has ended in between is not known. With less of a pause than there was, the
	 * program's clock does not say that it has ended early. */
	if (t->stopped)
		d->state = t->fresh && hides_pauses(w) ? ST_DEBT_WAITS : ST_DEBT_STANDS;
	else if (state == 'S' || state == 'D')
		d->state = call.number == SYS_futex && !t->timed ? ST_DEBT_BLOCKED : ST_DEBT_WAITS;
	else
		d->state = ST_DEBT_RUNS;
	t->fresh = false;
	d->ran = ran_since(t, d->state == ST_DEBT_RUNS, seconds);
	d->in_function = d->state == ST_DEBT_RUNS && is_in_function(w, i);
}

/* ---- latencies ---- */

/* Calls of functions with the probes, over all threads. */
static uint64_t
calls_of_probes(const struct st_virtual_watch *w, const struct st_flight_probes *p, bool begun)
{
	const struct st_probe_area *a = w->probes->process.area;
	const uint32_t records = __atomic_load_n(&a->n_records, __ATOMIC_ACQUIRE),
	               n = __atomic_load_n(&p->n, __ATOMIC_ACQUIRE);
	uint64_t calls = 0;
	for (uint32_t i = 0; i < records && i < ST_PROBE_MOST_RECORDS; i++)
		for (uint32_t k = 0; k < n; k++) {
			const struct st_probe_cell *c = st_probes_cell(w->probes, i, p->v[k]);
			if (!c)
				continue;
			calls += __atomic_load_n(&c->calls, __ATOMIC_ACQUIRE) + c->lost;
			calls += begun ? __atomic_load_n(&c->active, __ATOMIC_ACQUIRE) : 0;
		}
	return calls;
}

/* Charges what the threads that are in a request have paid since the last sample. */
static void
charge_calls(struct st_virtual_watch *w, struct st_flight *f)
{
	const uint32_t n = __atomic_load_n(&f->begins.n, __ATOMIC_ACQUIRE);
	for (size_t i = 0; i < w->threads.n; i++) {
		const struct st_debt_thread *d = &w->debts.threads.v[i];
		const double paid = d->paid - w->threads.v[i].paid;
		if (d->state != ST_DEBT_GONE && paid != 0 && has_record(w, i) &&
		    st_virtual_in_call(w->probes, w->threads.v[i].record, f->begins.v, n))
			f->saved += paid;
	}
}

/* owed: by how much the debt of a thread that pays nothing has grown. */
static void
follow_flights(struct st_virtual_watch *w, double seconds, double owed)
{
	for (size_t i = 0; i < w->v->n_flights; i++) {
		struct st_flight *f = &w->v->flights[i];
		if (f->same) {
			charge_calls(w, f);
			continue;
		}
		/* Ends first: none is counted whose begin is not. */
		const uint64_t ended = calls_of_probes(w, &f->ends, false);
		st_flight_tick(f, calls_of_probes(w, &f->begins, true), ended, seconds, owed);
	}
	for (size_t i = 0; i < w->threads.n; i++)
		w->threads.v[i].paid = w->debts.threads.v[i].paid;
}

/* ---- pauses ---- */

static void
settle_debts(struct st_virtual_watch *w)
{
	for (size_t i = 0; i < w->threads.n; i++) {
		const struct st_debt_thread *d = &w->debts.threads.v[i];
		struct watched *t = &w->threads.v[i];
		const double owed = st_debt_owed(&w->debts, i);
		if (t->stopped && owed <= 0) {
			t->stopped = ptrace(PTRACE_CONT, (pid_t)d->id, 0, 0) != 0 && errno != ESRCH;
		} else if ((d->state == ST_DEBT_RUNS || t->sleeps) && !t->asked && !t->ends &&
		           owed >= least_debt) {
			t->asked = ptrace(PTRACE_INTERRUPT, (pid_t)d->id, 0, 0) == 0;
		}
	}
}

/* Stops threads that run in order to see where they are, at random times, so that a program whose
 * work repeats does not always show the same part of it. */
static void
ask_to_look(struct st_virtual_watch *w, double now)
{
	for (size_t i = 0; w->v->look && i < w->threads.n; i++) {
		const struct st_debt_thread *d = &w->debts.threads.v[i];
		struct watched *t = &w->threads.v[i];
		if (d->state != ST_DEBT_RUNS || t->asked || now < t->look_at)
			continue;
		const double part = (double)st_random_below(&w->random, 1024) / 1024;
		t->look_at = now + mean_look * (0.5 + part);
		t->asked = ptrace(PTRACE_INTERRUPT, (pid_t)d->id, 0, 0) == 0;
	}
}

static bool
is_any_asked(const struct st_virtual_watch *w)
{
	for (size_t i = 0; i < w->threads.n; i++)
		if (w->threads.v[i].asked && w->debts.threads.v[i].state != ST_DEBT_GONE)
			return true;
	return false;
}

static bool
is_stopping_signal(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* The thread remains stopped while it has a debt. */
static void
hold_thread(struct st_virtual_watch *w, size_t i)
{
	struct watched *t = &w->threads.v[i];
	t->ends = false;
	t->stopped = w->v && st_debt_owed(&w->debts, i) > 0;
	if (!t->stopped)
		ptrace(PTRACE_CONT, (pid_t)w->debts.threads.v[i].id, 0, 0);
}

/* Results with which the kernel resumes a system call that was interrupted. */
enum { RESTART_BLOCK = -516, RESTART_NO_HANDLER = -514 };

static bool
call_goes_on(const struct user_regs_struct *regs)
{
	return (long)regs->rax == RESTART_BLOCK || (long)regs->rax == RESTART_NO_HANDLER;
}

/* Some calls, such as epoll_wait, return EINTR when their thread is interrupted: has the kernel
 * begin them again, with all of their timeout, unless a signal handler is to run. close has closed
 * the file also with EINTR. */
static void
resume_call(pid_t tid, struct user_regs_struct *regs)
{
	if ((long)regs->rax != -EINTR || (long)regs->orig_rax < 0 || regs->orig_rax == SYS_close)
		return;
	regs->rax = (unsigned long long)RESTART_NO_HANDLER;
	ptrace(PTRACE_SETREGS, tid, 0, regs);
}

/* The thread has stopped because it was interrupted. If it sleeps, the kernel resumes the sleep,
 * and the thread stops again at its end. Otherwise a thread that waits for another one directly
 * after its sleep would not pay, but inherit what the other one has paid. A thread that sleeps is
 * no sample of the code, since it takes no CPU time. */
static void
take_asked_stop(struct st_virtual_watch *w, size_t i)
{
	const pid_t tid = (pid_t)w->debts.threads.v[i].id;
	struct watched *t = &w->threads.v[i];
	struct user_regs_struct regs;
	const bool known = ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0;
	t->timed =
	        hides_pauses(w) && known && is_timed_wait((long)regs.orig_rax, regs.rsi, regs.r10);
	if (known && w->v && (is_sleep((long)regs.orig_rax) || t->timed) && call_goes_on(&regs)) {
		t->ends = ptrace(PTRACE_SYSCALL, tid, 0, 0) == 0;
		return;
	}
	if (known)
		resume_call(tid, &regs);
	if (known && w->v && w->v->look)
		t->within = w->v->look(w->v->arg, tid, &regs);
	hold_thread(w, i);
}

/* The thread is at the beginning of a system call, or at the end. */
static void
take_call_stop(struct st_virtual_watch *w, size_t i)
{
	const pid_t tid = (pid_t)w->debts.threads.v[i].id;
	struct user_regs_struct regs;
	struct watched *t = &w->threads.v[i];
	const bool known = w->v && ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0,
	           sleeps = known &&
	                    (is_sleep((long)regs.orig_rax) || t->timed ||
	                     regs.orig_rax == SYS_restart_syscall) &&
	                    ((long)regs.rax == -ENOSYS || call_goes_on(&regs));
	if (known && !sleeps && t->timed && (long)regs.rax != -ETIMEDOUT) {
		st_debt_wake(&w->debts, i);
		hide_paid(w, i);
	}
	if (!sleeps || ptrace(PTRACE_SYSCALL, tid, 0, 0) != 0) {
		hold_thread(w, i);
		t->fresh = t->stopped;
	}
}

/* The signal of a stop at a system call, by PTRACE_O_TRACESYSGOOD. */
enum { CALL_STOP = SIGTRAP | 0x80 };

/* Handles a stop that ptrace has reported. */
static st_status
take_thread_stop(struct st_virtual_watch *w, size_t i, pid_t tid, int status)
{
	const int event = status >> 16, signo = WSTOPSIG(status);
	struct watched *t = &w->threads.v[i];
	if (event == PTRACE_EVENT_CLONE) {
		unsigned long child = 0;
		ptrace(PTRACE_GETEVENTMSG, tid, 0, &child);
		const st_status kept = watch_thread(w, (pid_t)child, i);
		ptrace(PTRACE_CONT, tid, 0, 0);
		return kept;
	}
	if (event == PTRACE_EVENT_STOP && is_stopping_signal(signo)) {
		ptrace(PTRACE_LISTEN, tid, 0, 0); /* job control stops the program */
	} else if (event == PTRACE_EVENT_STOP && t->asked) {
		t->asked = false;
		take_asked_stop(w, i);
	} else if (signo == CALL_STOP) {
		take_call_stop(w, i);
	} else {
		t->ends = false;
		ptrace(PTRACE_CONT, tid, 0, event ? 0 : signo);
	}
	return ST_OK;
}

/* The stop of a new thread may be reported before the event of the thread that has made it. */
static st_status
take_thread_event(struct st_virtual_watch *w, pid_t tid, int status)
{
	size_t i = st_debt_find(&w->debts, tid);
	if (i == SIZE_MAX) {
		if (!WIFSTOPPED(status))
			return ST_OK;
		if (watch_thread(w, tid, SIZE_MAX))
			return ST_FAILED;
		i = w->threads.n - 1;
	}
	if (WIFSTOPPED(status))
		return take_thread_stop(w, i, tid, status);
	forget_thread(w, i);
	return ST_OK;
}

/* Handles all pending events. *ended: the program has ended, and the caller waits for it. */
static st_status
take_thread_events(struct st_virtual_watch *w, bool *ended)
{
	st_status status = ST_OK;
	while (!status && !*ended) {
		siginfo_t info = {0};
		int code;
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) ||
		    !info.si_pid)
			break;
		*ended = info.si_pid == w->pid &&
		         (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		          info.si_code == CLD_DUMPED);
		if (!*ended && waitpid(info.si_pid, &code, WNOHANG | __WALL) == info.si_pid)
			status = take_thread_event(w, info.si_pid, code);
	}
	return status;
}

/* ---- the run ---- */

/* A signal that has stopped the thread is delivered. A thread that it has just made is added. */
static void
let_thread_go(struct st_virtual_watch *w, size_t i)
{
	const pid_t tid = (pid_t)w->debts.threads.v[i].id;
	int status = 0;
	if (!w->threads.v[i].stopped && ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 &&
	    (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)))
		return;
	struct user_regs_struct regs;
	if (status >> 16 == PTRACE_EVENT_STOP && ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0)
		resume_call(tid, &regs);
	unsigned long child = 0;
	if (status >> 16 == PTRACE_EVENT_CLONE && ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) == 0)
		ST_IGNORE(watch_thread(w, (pid_t)child, i)); /* else it ends with our process */
	const int signo = status >> 16 || !status ? 0 : WSTOPSIG(status);
	ptrace(PTRACE_DETACH, tid, 0, signo == CALL_STOP ? 0 : signo);
}

static void
let_all_go(struct st_virtual_watch *w)
{
	for (size_t i = 0; i < w->threads.n; i++)
		if (w->debts.threads.v[i].state != ST_DEBT_GONE)
			let_thread_go(w, i);
}

static void
count_time(struct st_virtual_watch *w, double seconds)
{
	for (size_t i = 0; i < w->threads.n; i++) {
		look_at_thread(w, i, seconds);
		w->v->stood += w->debts.threads.v[i].state == ST_DEBT_STANDS ? seconds : 0;
	}
	const double all = w->debts.all;
	st_debt_tick(&w->debts, seconds);
	for (size_t i = 0; i < w->threads.n; i++)
		hide_paid(w, i);
	follow_flights(w, seconds, w->debts.all - all);
}

static st_status
look_at_threads(struct st_virtual_watch *w, double now)
{
	st_status status = ST_OK;
	ask_to_look(w, now);
	while (!status && w->v->look && !w->ended && is_any_asked(w) &&
	       st_now_raw() - now < look_patience) {
		sched_yield();
		status = take_thread_events(w, &w->ended);
	}
	return status;
}

/* seconds 0: until the program has ended. */
static st_status
watch_program(struct st_virtual_watch *w, double seconds, bool (*over)(void *arg), void *arg)
{
	const struct timespec nap = {0, 250000};
	double last = st_now_raw();
	const double end = last + seconds;
	while (!w->ended && (seconds <= 0 || last < end) && !(over && over(arg))) {
		if (take_thread_events(w, &w->ended))
			return ST_FAILED;
		const double now = st_now_raw();
		if (w->v && !w->ended) {
			count_time(w, now - last);
			settle_debts(w);
			if (look_at_threads(w, now))
				return ST_FAILED;
		}
		last = now;
		if (!w->ended)
			nanosleep(&nap, NULL);
	}
	return ST_OK;
}

/* Forgets all debts. */
static void
begin_debts(struct st_virtual_watch *w, struct st_virtual *v)
{
	w->v = v;
	v->paid = v->stood = 0;
	w->debts.speedup = v->speedup;
	w->debts.all = 0;
	for (size_t i = 0; i < v->n_flights; i++)
		st_flight_begin(&v->flights[i]);
	for (size_t i = 0; i < w->threads.n; i++) {
		struct st_debt_thread *d = &w->debts.threads.v[i];
		d->paid = w->threads.v[i].paid = 0;
		d->seen = d->seen_within = d->ahead = d->share = d->idle = 0;
		(void)ran_since(&w->threads.v[i], false, 0); /* discards the CPU time until now */
	}
}

/* Reports what the threads have paid, and resumes those that are paused. */
static void
end_debts(struct st_virtual_watch *w)
{
	struct st_virtual *v = w->v;
	/* The program ends with its first thread, whose index is 0. */
	if (w->debts.threads.n)
		v->paid = w->debts.threads.v[0].paid;
	for (size_t i = 0; i < w->threads.n; i++) {
		const struct st_debt_thread *d = &w->debts.threads.v[i];
		v->thread_paid(v->arg, d->id, d->paid);
	}
	w->v = NULL;
	hide_same(w);
	for (size_t i = 0; i < w->threads.n; i++) {
		const pid_t tid = (pid_t)w->debts.threads.v[i].id;
		struct watched *t = &w->threads.v[i];
		if (t->stopped)
			t->stopped = ptrace(PTRACE_CONT, tid, 0, 0) != 0 && errno != ESRCH;
	}
}

struct st_virtual_watch *
st_virtual_begin(const struct st_probes *probes, struct st_error *e)
{
	struct st_virtual_watch *w = calloc(1, sizeof *w);
	if (!w) {
		ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "out of memory")); /* to fill *e */
		return NULL;
	}
	*w = (struct st_virtual_watch){.probes = probes, .pid = probes->process.pid};
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	if (!seize_threads(w, e))
		return w;
	st_virtual_end(w);
	return NULL;
}

void
st_virtual_end(struct st_virtual_watch *w)
{
	if (!w)
		return;
	if (!w->ended)
		let_all_go(w);
	else if (w->probes->process.attached)
		waitpid(w->pid, NULL, __WALL); /* else its parent does not learn of its end */
	for (size_t i = 0; i < w->threads.n; i++)
		forget_thread(w, i);
	free(w->threads.v);
	st_debts_free(&w->debts);
	free(w);
}

st_status
st_virtual_window(struct st_virtual_watch *w, struct st_virtual *v, double seconds,
                  bool (*over)(void *arg), struct st_error *e)
{
	begin_debts(w, v);
	const st_status status = watch_program(w, seconds, over, v->arg);
	end_debts(w);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the threads") : ST_OK;
}

st_status
st_virtual_idle(struct st_virtual_watch *w, double seconds, bool (*over)(void *arg), void *arg,
                struct st_error *e)
{
	return watch_program(w, seconds, over, arg)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the threads")
	               : ST_OK;
}

st_status
st_virtual_run(struct st_virtual *v, struct st_error *e)
{
	struct st_virtual_watch *w = st_virtual_begin(v->probes, e);
	const st_status status = w ? st_virtual_window(w, v, 0, NULL, e) : ST_FAILED;
	st_virtual_end(w);
	return status;
}
