/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads that hit probes, found by their thread pointer. */
#include <asm/unistd.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

static uint32_t
number_at(uint64_t fs)
{
	return *(volatile uint32_t *)(fs + probe_context.tid_at);
}

/* The program may have forbidden itself system calls: one is made only where it must be. */
static uint32_t
number_of_thread(uint64_t fs)
{
	const uint32_t number = probe_context.tid_at ? number_at(fs) : 0;
	return number ? number : (uint32_t)SYS(__NR_gettid);
}

/* A record for the thread, as the controller sees it. */
static bool
begin_record(struct st_probe_thread *t)
{
	struct st_probe_area *a = probe_area();
	const uint32_t record = __atomic_fetch_add(&a->n_records, 1, __ATOMIC_RELAXED);
	if (record >= ST_PROBE_MOST_RECORDS) {
		__atomic_store_n(&a->n_records, ST_PROBE_MOST_RECORDS, __ATOMIC_RELAXED);
		return false;
	}
	struct st_probe_record *r = &a->records[record];
	const uint32_t room = probe_room_for(a->n_functions);
	r->tid = t->tid;
	r->fs = t->fs;
	r->began = probe_ticks();
	r->pid = probe_context.pid;
	r->pairs = probe_allocate(sizeof(uint32_t) * ST_PROBE_PAIR_BUCKETS);
	r->cells = probe_allocate(sizeof(uint32_t) * room);
	r->room = room;
	t->record = record;
	t->cells = (uint64_t)probe_at(r->cells);
	t->room = room;
	t->numbers = (uint64_t)r;
	return r->cells && r->pairs;
}

static bool
begin_probe_thread(struct st_probe_thread *t)
{
	for (; t->depth > 1; t->depth--) {
		t->frames[t->depth - 1].slot = 0;
		if (t->frames[t->depth - 1].row)
			t->peaks[t->depth - 1].slot = 0;
	}
	t->depth = 1;
	t->put_back = 0;
	t->held = (struct st_held){0};
	t->read_by_probes = 0;
	probe_begin_clocks(t);
	probe_end_record(t);
	t->tid = number_of_thread(t->fs);
	const bool has_room = begin_record(t);
	/* Without a record it is looked at again each time, and never used. */
	t->seen = has_room ? number_at(t->fs) : ~number_at(t->fs);
	return has_room;
}

bool
probe_inherit_thread(struct st_probe_thread *t)
{
	t->tid = (uint32_t)SYS(__NR_gettid); /* the C library may not know it yet */
	t->seen = number_at(t->fs);
	return begin_record(t);
}

/* A program that contains its C library has the first thread's number only after it has begun. No
 * thread may have a structure yet, since they are told apart by it. */
SELDOM static void
learn_number(uint64_t fs)
{
	const uint32_t tid = (uint32_t)SYS(__NR_gettid), n = (uint32_t)(4096 - fs % 4096) & ~3u;
	uint32_t found = 0;
	for (uint32_t at = 4; at < n; at += 4) {
		if (*(const uint32_t *)(fs + at) != tid)
			continue;
		if (found)
			return; /* which of them is not known */
		found = at;
	}
	probe_context.tid_at = found;
}

/* Makes the structure of a thread whose place in the table is taken by it. */
static struct st_probe_thread *
make_probe_thread(uint32_t at, uint64_t fs)
{
	struct st_probe_context *x = &probe_context;
	const uint32_t n = __atomic_fetch_add(&x->n_threads, 1, __ATOMIC_RELAXED);
	if (n >= ST_PROBE_MOST_THREADS) {
		__atomic_store_n(&x->n_threads, ST_PROBE_MOST_THREADS, __ATOMIC_RELAXED);
		return NULL;
	}
	if (n >= x->room_for_threads && !probe_map_threads(n + 1))
		return NULL;
	if (!n && !x->tid_at && x->deadlines)
		learn_number(fs);
	struct st_probe_thread *t = (struct st_probe_thread *)x->threads + n;
	t->fs = fs;
	if (!begin_probe_thread(t))
		return NULL;
	__atomic_store_n(&x->thread[at], (uint64_t)t, __ATOMIC_RELEASE);
	return t;
}

/* At probe_hash(fs), or in a place behind it. */
struct st_probe_thread *
probe_new_thread(uint64_t fs)
{
	struct st_probe_context *x = &probe_context;
	for (uint32_t i = 0; i < ST_PROBE_THREAD_SLOTS; i++) {
		const uint32_t at = (probe_hash(fs) + i) % ST_PROBE_THREAD_SLOTS;
		uint64_t there = __atomic_load_n(&x->fs[at], __ATOMIC_ACQUIRE);
		if (there == fs) {
			struct st_probe_thread *t = (struct st_probe_thread *)x->thread[at];
			return t && t->seen != number_at(fs) ? probe_check_thread(t) : t;
		}
		if (!there && __atomic_compare_exchange_n(&x->fs[at], &there, fs, false,
		                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return make_probe_thread(at, fs);
		i -= !there; /* another thread was quicker: look at the place again */
	}
	return NULL;
}

struct st_probe_thread *
probe_check_thread(struct st_probe_thread *t)
{
	if (!probe_context.forked)
		return begin_probe_thread(t) ? t : NULL;
	/* The only thread of a child of fork: its frames are those of the thread that forked. */
	t->seen = number_at(t->fs);
	return t;
}

uint64_t
probe_cpu_time(void)
{
	int64_t t[2] = {0, 0};
	SYS(__NR_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, t);
	return (uint64_t)t[0] * 1000000000u + (uint64_t)t[1];
}
