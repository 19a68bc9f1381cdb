/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/probe_events.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { WORDS = ST_PROBE_CHUNK / 8 };

/* A chunk that can be taken. */
struct ready {
	uint64_t order;
	uint32_t index, record, state;
};

struct st_probe_drain {
	struct st_probe_area *area;
	st_probe_take *take;
	void *arg;
	uint64_t *last;                /* of each record, the time of its last event */
	double waits[ST_PROBE_CHUNKS]; /* since when a word of a full chunk is missing; 0: none is
	                                */
	struct ready before[ST_PROBE_CHUNKS]; /* the first list of find_ready */
	uint64_t words[WORDS];
	struct st_probe_event events[WORDS];
	pthread_t thread;
	bool stop; /* told to the thread; atomic */
};

/* ---- words ---- */

/* The place in time that is nearest to the last one. */
static uint64_t
time_near(uint64_t last, uint64_t lower)
{
	const unsigned unused = 64 - ST_PROBE_FUNCTION_AT;
	const int64_t away = (int64_t)((lower - last) << unused) >> unused;
	return last + (uint64_t)away;
}

size_t
st_probe_decode(const uint64_t *words, size_t n, uint32_t record, uint64_t *last,
                struct st_probe_event *events)
{
	const uint64_t rest = (1ull << ST_PROBE_WORD_AT) - 1;
	size_t count = 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = words[i], what = word >> ST_PROBE_WORD_AT;
		if (what == ST_PROBE_TICKS && (word & rest))
			*last = word & rest;
		if (what != ST_PROBE_ENTRY && what != ST_PROBE_RETURN)
			continue;
		*last = time_near(*last, word & ST_PROBE_TIME_MASK);
		events[count++] = (struct st_probe_event){
		        .ticks = *last,
		        .record = record,
		        .function = (word >> ST_PROBE_FUNCTION_AT) % ST_PROBE_MOST,
		        .depth = (word >> ST_PROBE_DEPTH_AT) % ST_PROBE_FRAMES,
		        .returns = what == ST_PROBE_RETURN};
	}
	return count;
}

/* ---- chunks ---- */

struct st_probe_drain *
st_probe_drain_new(struct st_probe_area *area, st_probe_take *take, void *arg)
{
	struct st_probe_drain *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->area = area;
	d->take = take;
	d->arg = arg;
	d->last = calloc(ST_PROBE_MOST_RECORDS, sizeof *d->last);
	if (d->last)
		return d;
	free(d);
	return NULL;
}

void
st_probe_drain_free(struct st_probe_drain *d)
{
	if (d)
		free(d->last);
	free(d);
}

static uint64_t *
words_of(const struct st_probe_drain *d, uint32_t chunk)
{
	char *at = (char *)d->area + ST_PROBE_CHUNKS_AT + ST_PROBE_CHUNK;
	return (uint64_t *)(at + (size_t)chunk * ST_PROBE_CHUNK_STRIDE);
}

static int
ready_order(const void *a, const void *b)
{
	const struct ready *x = a, *y = b;
	if (x->record != y->record)
		return x->record < y->record ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static size_t
list_ready(const struct st_probe_drain *d, bool all, struct ready *ready)
{
	size_t n = 0;
	for (uint32_t i = 0; i < ST_PROBE_CHUNKS; i++) {
		const struct st_probe_chunk *c = &d->area->chunks[i];
		const uint32_t state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
		if (state == ST_PROBE_CHUNK_FULL || state == ST_PROBE_CHUNK_CUT ||
		    (all && state == ST_PROBE_CHUNK_OWNED))
			ready[n++] = (struct ready){c->order, i, c->record, state};
	}
	qsort(ready, n, sizeof *ready, ready_order);
	return n;
}

/* While the chunks are listed, a thread may fill one that was looked at already, and then another
 * one that was not: the list has the second without the first. All that were full before a chunk of
 * the first list are in a second one, so that its chunks up to that are the next of their thread.
 */
static size_t
find_ready(struct st_probe_drain *d, bool all, struct ready *ready)
{
	const size_t n = list_ready(d, all, d->before);
	const size_t m = n ? list_ready(d, all, ready) : 0;
	size_t kept = 0, last = 0;
	for (size_t i = 0; i < m; i++) {
		while (last < n && ready_order(&d->before[last], &ready[i]) < 0)
			last++;
		if (last < n && d->before[last].record == ready[i].record)
			ready[kept++] = ready[i];
	}
	return kept;
}

/* A signal handler has filled the chunk while a word of it was being written, and has not returned
 * yet. */
static bool
is_missing_words(const uint64_t *words)
{
	for (size_t i = 0; i < WORDS; i++)
		if (!words[i])
			return true;
	return false;
}

static void
hand_on_words(struct st_probe_drain *d, uint32_t record)
{
	if (record >= ST_PROBE_MOST_RECORDS)
		return; /* the program has written over it */
	const size_t n = st_probe_decode(d->words, WORDS, record, &d->last[record], d->events);
	if (n)
		d->take(d->arg, record, d->events, n);
}

static void
empty_chunk(struct st_probe_drain *d, const struct ready *r, bool spent)
{
	struct st_probe_chunk *c = &d->area->chunks[r->index];
	hand_on_words(d, r->record);
	d->waits[r->index] = 0;
	if (r->state != ST_PROBE_CHUNK_OWNED)
		__atomic_fetch_sub(&d->area->full, 1, __ATOMIC_RELAXED);
	memset(words_of(d, r->index), 0, ST_PROBE_CHUNK);
	__atomic_store_n(&c->state, spent ? ST_PROBE_CHUNK_SPENT : ST_PROBE_CHUNK_FREE,
	                 __ATOMIC_RELEASE);
}

/* The controller works: who waits for it may look again. */
static void
show_life(struct st_probe_area *a)
{
	__atomic_add_fetch(&a->beats, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&a->deaf, 0, __ATOMIC_RELEASE);
	if (__atomic_load_n(&a->waiters, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &a->beats, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Is it better to wait for the missing words, and for what comes after them? */
static bool
waits_for_words(struct st_probe_drain *d, uint32_t chunk)
{
	const double longest = 1, now = st_now_raw(); /* seconds */
	if (d->waits[chunk] == 0)
		d->waits[chunk] = now;
	return now - d->waits[chunk] < longest;
}

size_t
st_probe_drain(struct st_probe_drain *d, bool all)
{
	struct ready ready[ST_PROBE_CHUNKS];
	const size_t n = find_ready(d, all, ready);
	uint32_t held = UINT32_MAX; /* a record */
	size_t taken = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ready *r = &ready[i];
		if (r->record == held)
			continue;
		memcpy(d->words, words_of(d, r->index), sizeof d->words);
		const bool missing = r->state == ST_PROBE_CHUNK_FULL && is_missing_words(d->words);
		if (missing && !all && waits_for_words(d, r->index)) {
			held = r->record;
			continue;
		}
		empty_chunk(d, r, missing);
		taken++;
		show_life(d->area);
	}
	show_life(d->area);
	return taken;
}

/* ---- while the process runs ---- */

static void *
drain_main(void *arg)
{
	const long shortest = 500000, longest = 4000000; /* ns */
	struct st_probe_drain *d = arg;
	long pause = shortest;
	while (!__atomic_load_n(&d->stop, __ATOMIC_ACQUIRE)) {
		const size_t n = st_probe_drain(d, false);
		pause = n ? shortest : pause < longest ? 2 * pause : longest;
		if (!n)
			nanosleep(&(struct timespec){0, pause}, NULL);
	}
	return NULL;
}

/* Signals are for the thread that waits for the program. */
bool
st_probe_drain_start(struct st_probe_drain *d)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const bool runs = pthread_create(&d->thread, NULL, drain_main, d) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return runs;
}

void
st_probe_drain_finish(struct st_probe_drain *d)
{
	__atomic_store_n(&d->stop, true, __ATOMIC_RELEASE);
	pthread_join(d->thread, NULL);
	st_probe_drain(d, true);
}
