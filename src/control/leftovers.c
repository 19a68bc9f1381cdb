/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A runtime that leaves a process by itself gives back most of its memory, but not what its threads
 * stand on at their last steps. When all of them are out of it, that is taken away as well.
 */
#include <asm/unistd.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>

#include "control/attach.h"
#include "control/injection.h"
#include "control/supervisor.h"
#include "control/threads.h"

static const double patience = 10.0; /* seconds, for threads to come out of the engine */

/* It has ended, or become another program. */
static bool
is_gone(pid_t pid)
{
	return !st_live_thread(pid) || !st_has_leftovers(pid);
}

static uint32_t
finished(const struct st_attachment *a)
{
	return __atomic_load_n(&a->results->control.detach.finished, __ATOMIC_ACQUIRE);
}

/* A GS base is the engine's when the thread's structure is there; else it is the program's own. */
static bool
is_in_engine(const struct st_attachment *a, const struct st_traced *t)
{
	uint64_t at = t->regs.gs_base;
	struct st_thread_head head;
	struct iovec here = {&head, sizeof head}, there = {(void *)at, sizeof head};
	if (t->regs.rip - a->boot->area < ST_AREA_SIZE)
		return true;
	return at && process_vm_readv(t->tid, &here, 1, &there, 1, 0) == sizeof head &&
	       head.self == at && head.tid == (uint32_t)t->tid;
}

static bool
are_out(const struct st_attachment *a, const struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		if (!ts->v[i].gone && is_in_engine(a, &ts->v[i]))
			return false;
	return true;
}

static void
unmap_leftovers(struct st_remote *r, uint64_t start, uint64_t end)
{
	if (start < end)
		st_remote_call(r, __NR_munmap, start, end - start, 0, 0, 0, 0);
}

/* The region, without the cache and the first thread's counters: there the program may have got
 * memory since. */
static void
unmap_region(struct st_remote *r, uint64_t region, uint64_t start, uint64_t end)
{
	uint64_t private = region + ST_AREA_MAIN + ST_THREAD_PRIVATE;
	unmap_leftovers(r, start, region);
	unmap_leftovers(r, region + ST_CACHE_SIZE, private);
	unmap_leftovers(r, private + ST_MAX_BLOCKS * sizeof(uint64_t), end);
}

/* Unmaps the mappings of the agent that the runtime has not unmapped. */
static void
unmap_ours(const struct st_attachment *a, struct st_remote *r)
{
	const struct st_boot *boot = a->boot;
	for (unsigned i = 0; i < a->n_mapped; i++) {
		uint64_t start = a->mapped[i].at, end = start + a->mapped[i].bytes;
		if (start == boot->cache_alias || start == boot->results ||
		    start - boot->lookup < ST_LOOKUP_MAPPED)
			continue;
		if (boot->area >= start && boot->area < end)
			unmap_region(r, boot->area, start, end);
		else
			unmap_leftovers(r, start, end);
	}
}

/* Unmaps the mappings that the runtime has kept. */
static void
unmap_its(const struct st_attachment *a, struct st_remote *r)
{
	struct st_memory_list *list = calloc(1, sizeof *list);
	struct iovec here = {list, sizeof *list},
	             there = {(void *)a->results->control.detach.memory, sizeof *list};
	bool ok = list && process_vm_readv(r->pid, &here, 1, &there, 1, 0) == sizeof *list;
	for (uint64_t i = 0; ok && i < list->n && i < ST_MOST_MEMORY; i++)
		if (list->v[i].at)
			unmap_leftovers(r, list->v[i].at, list->v[i].at + list->v[i].bytes);
	free(list);
}

/* The thread that made calls for us is where it was, and needs no way back any more. */
static void
give_back(const struct st_traced *t, const struct st_remote *r)
{
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->mask, &t->mask);
	st_retreat_clear(&r->retreat);
}

static bool
clear(const struct st_attachment *a, struct st_threads *ts)
{
	struct st_traced *one = st_threads_any(ts);
	struct st_remote r;
	if (!one || st_is_filtered(one->tid))
		return false;
	struct user_regs_struct again = one->regs;
	if (one->restart) /* its way back, should we be killed */
		again.rax = one->restart;
	if (st_remote_borrow(&r, one->tid, &again, one->mask) != 0)
		return false;
	unmap_its(a, &r); /* the list is in ours */
	unmap_ours(a, &r);
	give_back(one, &r);
	return true;
}

enum state { BUSY, CLEARED, IMPOSSIBLE };

static enum state
try_to_clear(const struct st_attachment *a)
{
	enum state state = BUSY;
	struct st_threads ts;
	struct st_error ignored;
	if (st_threads_stop(&ts, a->pid, patience, &ignored) != 0)
		return is_gone(a->pid) ? CLEARED : BUSY;
	if (is_gone(a->pid))
		state = CLEARED;
	else if (are_out(a, &ts))
		state = clear(a, &ts) ? CLEARED : IMPOSSIBLE;
	st_threads_release(&ts);
	st_threads_free(&ts);
	return state;
}

bool
st_clear_leftovers(const struct st_attachment *a)
{
	double end = st_now_raw() + patience;
	enum state state = BUSY;
	for (long wait = 1; state == BUSY && st_now_raw() < end; wait++) {
		nanosleep(&(struct timespec){0, wait * 1000000}, NULL);
		st_threads_release_late();
		if (is_gone(a->pid))
			return true;
		if (finished(a) == ST_FINISHED_MEMORY)
			state = try_to_clear(a);
	}
	return state == CLEARED;
}
