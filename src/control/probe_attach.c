/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes in a running process: all threads are stopped, memory is mapped by remote calls of one of
 * them, code is overwritten, and they go on, with nothing of ptrace left. On the way back the code
 * and every return address on a stack become what they were, and when no thread is in the probe
 * runtime any more its memory is given back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/attach.h"
#include "control/probe.h"
#include "control/supervisor.h"
#include "control/threads.h"

static const double patience = 5.0;       /* seconds, for all threads to stop */
static const double start_patience = 1.0; /* seconds, for a thread pointer */

/* ---- attaching ---- */

static bool
is_self_pointer(const struct st_probing *p, uint64_t fs)
{
	uint64_t self = 0;
	return fs && st_probing_read(p, fs, &self, sizeof self) && self == fs;
}

static bool
have_pointers(const struct st_probing *p, const struct st_threads *ts)
{
	bool all = true;
	for (size_t i = 0; i < ts->n; i++)
		all &= ts->v[i].gone || is_self_pointer(p, ts->v[i].regs.fs_base);
	return all;
}

/* Stops all threads. A process that has just been started gets its thread pointer soon. */
static st_status
stop_with_pointers(const struct st_probing *p, struct st_threads *ts, struct st_error *e)
{
	static const struct timespec pause = {0, 2000000};
	const double end = st_now_raw() + start_patience;
	for (;;) {
		if (st_threads_stop(ts, p->pid, patience, e))
			return ST_FAILED;
		if (have_pointers(p, ts) || st_now_raw() > end)
			return ST_OK;
		st_threads_release(ts);
		st_threads_free(ts);
		nanosleep(&pause, NULL);
	}
}

static st_status
check_each(const struct st_probing *p, const struct st_threads *ts, struct st_error *e)
{
	for (size_t i = 0; i < ts->n; i++) {
		const struct user_regs_struct *r = &ts->v[i].regs;
		if (ts->v[i].gone)
			continue;
		if (r->cs != 0x33)
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot attach process %d: it is a 32-bit program; strobe "
			               "knows 64-bit x86 only",
			               p->pid);
		if (!is_self_pointer(p, r->fs_base))
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot put probes into process %d: its thread %d has no "
			               "thread pointer that it could be "
			               "told by, as programs in Go have none: use --engine jit",
			               p->pid, ts->v[i].tid);
	}
	return ST_OK;
}

/* A thread that was stopped at an instruction that is about to move continues at its copy. It is
 * moved before the code is written, so that the process is correct whenever Strobe is killed. */
void
st_probing_move_threads(const struct st_probing *p, const struct st_patch *patch)
{
	struct st_threads *ts = p->stopped;
	for (size_t i = 0; ts && i < ts->n; i++) {
		const uint64_t into = ts->v[i].regs.rip - patch->at;
		for (uint8_t n = 0; into && into < patch->n && n < patch->n_insns; n++)
			if (patch->insns[n].from == into && !ts->v[i].gone) {
				ts->v[i].regs.rip = patch->stub + patch->insns[n].to;
				st_thread_put(&ts->v[i]);
				break;
			}
	}
}

static st_status
map_by(struct st_probing *p, struct st_traced *t, struct st_error *e)
{
	struct st_remote r;
	if (st_remote_borrow(&r, t->tid, &t->regs, t->mask))
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot attach process %d: it has no vDSO to make system calls by",
		               p->pid);
	const st_status status = st_probing_map(p, &r, e);
	if (status)
		st_probing_unmap(p, &r);
	st_thread_put(t); /* restores the registers now, in case Strobe is killed */
	st_retreat_clear(&r.retreat);
	return status;
}

static st_status
put_in_process(struct st_probing *p, struct st_threads *ts, struct st_error *e)
{
	struct st_traced *first = st_threads_any(ts);
	if (!first)
		return st_fail(e, ST_EXIT_FAILED, "process %d has ended in the meantime", p->pid);
	if (check_each(p, ts, e) || map_by(p, first, e))
		return ST_FAILED;
	p->linker_stop = st_probing_linker_stop(p);
	if (st_probing_tell_tid(p, first->tid, first->regs.fs_base))
		return ST_FAILED;
	p->stopped = ts;
	const st_status status = p->install(p->arg, e);
	p->stopped = NULL;
	return status;
}

static void
restore_code(const struct st_probing *p)
{
	for (size_t i = p->patches.n; i-- > 0;)
		st_probing_restore(p, &p->patches.v[i]);
}

st_status
st_probing_attach(struct st_probing *p, pid_t pid, struct st_error *e)
{
	struct st_threads ts = {0};
	p->memory = -1;
	p->pid = pid;
	p->attached = true;
	struct st_probe_leftovers found;
	if (st_attach_check(pid, e) || st_probing_clear(pid, &found, e))
		return ST_FAILED;
	p->cleared = found.patches;
	st_limits_lift();
	st_attached_catch(&(struct st_run_options){0});
	st_probing_calibrate(p);
	if (st_probing_open(p, e) || stop_with_pointers(p, &ts, e))
		return ST_FAILED;
	st_probing_begin(p);
	p->used = st_process_cpu_of(pid, (struct st_process_cpu){0});
	const st_status status = put_in_process(p, &ts, e);
	if (status)
		restore_code(p);
	st_threads_release(&ts);
	st_threads_free(&ts);
	if (!status)
		st_probing_attend(p);
	return status;
}

/* ---- detaching ---- */

static void
put_back(const struct st_probing *p, const struct st_probe_frame *f)
{
	uint64_t now = 0;
	if (f->slot > 1 && st_probing_read(p, f->slot, &now, sizeof now) && now == p->trampoline)
		st_probing_write(p, f->slot, &f->original, sizeof f->original);
}

/* The innermost last: where a function has jumped to another one, the address of the first is the
 * program's. */
static void
put_back_thread(const struct st_probing *p, uint64_t thread)
{
	struct st_probe_frame f;
	uint32_t depth = 0;
	if (!st_probing_read(p, thread + offsetof(struct st_probe_thread, depth), &depth,
	                     sizeof depth))
		return;
	for (uint32_t i = 1; i < depth && i < ST_PROBE_FRAMES; i++)
		if (st_probing_read(
		            p, thread + offsetof(struct st_probe_thread, frames) + i * sizeof f, &f,
		            sizeof f))
			put_back(p, &f);
}

static void
put_back_all(const struct st_probing *p)
{
	uint32_t n = 0;
	const size_t parked = sizeof(struct st_probe_frame) * ST_PROBE_PARKED;
	struct st_probe_frame *frames = malloc(parked);
	st_probing_read(p, p->context + offsetof(struct st_probe_context, n_threads), &n, sizeof n);
	for (uint32_t i = 0; i < n && i < ST_PROBE_MOST_THREADS; i++)
		put_back_thread(p, p->threads + i * sizeof(struct st_probe_thread));
	if (frames && st_probing_read(p, p->context + offsetof(struct st_probe_context, parked),
	                              frames, parked))
		for (uint32_t i = 0; i < ST_PROBE_PARKED; i++)
			put_back(p, &frames[i]);
	free(frames);
}

static bool
is_within(uint64_t at, uint64_t from, uint64_t bytes)
{
	return at - from < bytes;
}

/* Is a thread in a call of the vDSO that returns to the probe runtime? */
static bool
is_in_clock(const struct st_probing *p)
{
	uint32_t n = 0, calls = 0;
	if (p->hides_pauses)
		st_probing_read(p, p->context + offsetof(struct st_probe_context, n_threads), &n,
		                sizeof n);
	for (uint32_t i = 0; i < n && i < ST_PROBE_MOST_THREADS && !calls; i++)
		st_probing_read(p,
		                p->threads + i * sizeof(struct st_probe_thread) +
		                        offsetof(struct st_probe_thread, in_clock),
		                &calls, sizeof calls);
	return calls != 0;
}

/* Is a thread in the probe runtime, or in a stub? */
static bool
is_in_use(const struct st_probing *p, const struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++) {
		const uint64_t rip = ts->v[i].regs.rip;
		bool within = is_within(rip, p->image, p->image_bytes);
		for (int a = 0; a < ST_ARENAS; a++)
			within |=
			        p->arenas[a].at && is_within(rip, p->arenas[a].at, ST_ARENA_BYTES);
		if (!ts->v[i].gone && within)
			return true;
	}
	return is_in_clock(p);
}

/* Reads from the process if a killed strobe has left the probes: their area is not mapped here. */
static bool
is_sandboxed(const struct st_probing *p)
{
	uint32_t sandboxed = 0;
	if (p->area)
		return p->area->sandboxed;
	return st_probing_read(p, p->shared + offsetof(struct st_probe_area, sandboxed), &sandboxed,
	                       sizeof sandboxed) &&
	       sandboxed;
}

static bool
give_back_memory(struct st_probing *p, struct st_threads *ts)
{
	struct st_remote r;
	struct st_traced *t = st_threads_any(ts);
	/* The filter would kill the process for the system calls that unmap the memory: it stays
	 * mapped. */
	if (t && is_sandboxed(p))
		return !is_in_use(p, ts);
	if (!t || is_in_use(p, ts) || st_remote_borrow(&r, t->tid, &t->regs, t->mask))
		return false;
	st_probing_unmap(p, &r);
	st_thread_put(t);
	st_retreat_clear(&r.retreat);
	return true;
}

bool
st_probing_is_in(const struct st_probing *p)
{
	uint64_t area = 0;
	return st_probing_read(p, p->context, &area, sizeof area) && area == p->shared;
}

/* The threads are stopped. */
static bool
leave_stopped(struct st_probing *p, struct st_threads *ts)
{
	if (!p->is_leftover && !st_probing_is_in(p))
		return true;
	restore_code(p);
	put_back_all(p);
	return give_back_memory(p, ts);
}

bool
st_probing_leave(struct st_probing *p, bool *stopped)
{
	struct st_error ignored;
	struct st_threads ts = {0};
	*stopped = !st_threads_stop(&ts, p->pid, patience, &ignored);
	const bool done = *stopped && leave_stopped(p, &ts);
	if (*stopped)
		st_threads_release(&ts);
	if (ts.ended) {
		p->own_end = true;
		p->status = ts.status;
	}
	st_threads_free(&ts);
	return done;
}

/* Waits until the process ends or it is time to detach. */
static void
wait_attached(struct st_probing *p, double seconds)
{
	const int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	const double end = seconds > 0 ? st_now_raw() + seconds : 0;
	struct st_process_cpu now = p->used;
	while (!st_attached_interrupted()) {
		const double left = end ? end - st_now_raw() : 1, most = p->look ? 0.01 : 0.1;
		struct pollfd poll_end = {.fd = fd, .events = POLLIN};
		if (left <= 0)
			break;
		p->own_end =
		        poll(&poll_end, 1, (int)((left < most ? left : most) * 1000) + 1) == 1 ||
		        (fd < 0 && kill(p->pid, 0) != 0);
		if (p->own_end)
			break;
		now = st_process_cpu_of(p->pid, now); /* it may end before the next time */
		st_probing_look(p, false);
	}
	st_process_cpu_since(p->used, st_process_cpu_of(p->pid, now), &p->usage);
	if (fd >= 0)
		close(fd);
}

st_status
st_probing_detach(struct st_probing *p, double seconds, struct st_error *e)
{
	enum { MOST_TRIES = 200 };
	bool stopped = true;
	wait_attached(p, seconds);
	__atomic_store_n(&p->area->leaves, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&p->area->controlled, 0, __ATOMIC_RELEASE);
	st_probing_finish(p);
	for (int tries = 0; !p->own_end && tries < MOST_TRIES; tries++) {
		if (st_probing_leave(p, &stopped))
			return ST_OK;
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		p->own_end = kill(p->pid, 0) != 0 && errno == ESRCH;
	}
	if (!p->own_end && !stopped)
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot stop process %d to take its probes away: they stay in it, "
		               "and measure nothing any more",
		               p->pid);
	return ST_OK;
}
