/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children that are measured, too: those of fork by themselves, and what execve makes by the
 * controller. */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

enum { FUTEX_WAIT_OF_ALL = 0, FUTEX_WAKE_OF_ALL = 1 };

/* ---- fork ---- */

static struct st_probe_thread *
inherited_thread(void)
{
	struct st_probe_context *x = &probe_context;
	uint64_t fs;
	__asm__("movq %%fs:0, %0" : "=r"(fs));
	for (uint32_t i = 0; i < ST_PROBE_THREAD_SLOTS; i++) {
		const uint32_t at = (probe_hash(fs) + i) % ST_PROBE_THREAD_SLOTS;
		if (x->fs[at] == fs || !x->fs[at])
			return x->fs[at] ? (struct st_probe_thread *)x->thread[at] : NULL;
	}
	return NULL;
}

/* The calls that are under way are the parent's: here they only return. A call that is only counted
 * has a cell that it counts down at its end; one that nobody reads takes its place. */
static bool
inherit_frames(struct st_probe_thread *t)
{
	uint32_t nobodys = 0;
	for (uint32_t i = 1; i < t->depth; i++) {
		struct st_probe_frame *f = &t->frames[i];
		if (f->counted && !nobodys)
			nobodys = probe_allocate(sizeof(struct st_probe_cell));
		if (f->counted && !nobodys)
			return false;
		f->counted = f->counted ? nobodys : 0;
		f->cell = f->pair = f->row = 0;
	}
	t->read_by_probes = 0;
	t->scratch = t->allocations = 0; /* these are the parent's, who goes on to use them */
	return true;
}

bool
probe_begin_child(void)
{
	struct st_probe_context *x = &probe_context;
	struct st_probe_thread *threads = (struct st_probe_thread *)x->threads;
	x->pid = (uint32_t)SYS(__NR_getpid);
	for (uint32_t i = 0; i < probe_threads(); i++)
		if (threads[i].word_at)
			threads[i].word_at = 0; /* the chunk is the parent's */
	for (uint32_t i = 0; x->has_parked && i < ST_PROBE_PARKED; i++)
		x->parked[i].cell = x->parked[i].pair = 0;
	struct st_probe_thread *t = inherited_thread();
	if (t && (!inherit_frames(t) || !probe_inherit_thread(t)))
		return false;
	if (t)
		probe_inherit_locks(t);
	return true;
}

/* ---- execve ---- */

static bool
is_controller_gone(struct st_probe_area *a)
{
	if (a->controlled && SYS(__NR_tgkill, a->controller, a->attendant, 0) == -ESRCH)
		a->controlled = 0;
	return !a->controlled;
}

/* Waits a while for the word to be another. */
static void
wait_for_change(uint32_t *word, uint32_t was)
{
	static const int64_t limit[2] = {0, 50000000};
	SYS(__NR_futex, word, FUTEX_WAIT_OF_ALL, was, limit);
}

void
probe_announce_exec(void)
{
	enum { MOST_TRIES = 1200 }; /* a minute */
	struct st_probe_area *a = probe_area();
	const uint32_t tid = (uint32_t)SYS(__NR_gettid);
	uint32_t tries = 0, there = 0;
	if (!__atomic_load_n(&a->controlled, __ATOMIC_ACQUIRE))
		return;
	/* A child, which may have this memory (vfork), is not followed. */
	if (!probe_context.follows && (uint32_t)SYS(__NR_getpid) != probe_context.pid)
		return;
	while (!__atomic_compare_exchange_n(&a->exec_tid, &there, tid, false, __ATOMIC_ACQ_REL,
	                                    __ATOMIC_ACQUIRE)) {
		wait_for_change(&a->exec_tid, there);
		if (tries++ == MOST_TRIES || is_controller_gone(a))
			return;
		there = 0;
	}
	a->exec_pid = (uint32_t)SYS(__NR_getpid);
	__atomic_add_fetch(&a->exec_asked, 1, __ATOMIC_ACQ_REL);
	SYS(__NR_futex, &a->exec_asked, FUTEX_WAKE_OF_ALL, 1);
	for (tries = 0; tries < MOST_TRIES; tries++) {
		if (__atomic_load_n(&a->exec_tid, __ATOMIC_ACQUIRE) != tid || is_controller_gone(a))
			return;
		wait_for_change(&a->exec_tid, tid);
	}
}
