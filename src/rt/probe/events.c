/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries and returns one by one. A word's place is reserved by one instruction, so that a signal
 * handler that comes in between finds another one. Nothing here needs the controller to be alive: a
 * thread waits for a chunk as long as the controller shows that it works, and then its words are
 * counted as lost.
 */
#include <asm/unistd.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

enum { HALF = 1 << (ST_PROBE_FUNCTION_AT - 1), WORD = 8 };

#define NOTHING ((uint64_t)ST_PROBE_TICKS << ST_PROBE_WORD_AT)

static inline bool
is_event_place(uint64_t at)
{
	return at & ST_PROBE_CHUNK;
}

static inline uint64_t
reserve_words(struct st_probe_thread *t, uint64_t bytes)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(bytes), "+m"(t->word_at) : : "cc", "memory");
	return bytes;
}

static inline void
put_word(uint64_t at, uint64_t word)
{
	*(volatile uint64_t *)at = word;
}

/* Of the thread only, so without a lock. */
static bool
replace_place(struct st_probe_thread *t, uint64_t from, uint64_t to)
{
	uint64_t was = from;
	__asm__ volatile("cmpxchgq %2, %1"
	                 : "+a"(was), "+m"(t->word_at)
	                 : "r"(to)
	                 : "cc", "memory");
	return was == from;
}

/* ---- chunks ---- */

static struct st_probe_chunk *
free_chunk(void)
{
	struct st_probe_area *a = probe_area();
	if (__atomic_load_n(&a->full, __ATOMIC_RELAXED) >= ST_PROBE_CHUNK_QUEUE)
		return NULL;
	for (uint32_t i = 0; i < ST_PROBE_CHUNKS; i++) {
		uint32_t state = ST_PROBE_CHUNK_FREE;
		if (__atomic_load_n(&a->chunks[i].state, __ATOMIC_RELAXED) == state &&
		    __atomic_compare_exchange_n(&a->chunks[i].state, &state, ST_PROBE_CHUNK_OWNED,
		                                false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &a->chunks[i];
	}
	return NULL;
}

/* One that is free now, or will be soon. NULL: the controller does not empty any. */
static struct st_probe_chunk *
await_chunk(void)
{
	enum { MOST_TRIES = 1000 };
	static const int64_t limit[2] = {0, 1000000};
	struct st_probe_area *a = probe_area();
	struct st_probe_chunk *c = free_chunk();
	uint32_t beats = __atomic_load_n(&a->beats, __ATOMIC_ACQUIRE);
	__atomic_fetch_add(&a->waiters, 1, __ATOMIC_ACQ_REL);
	for (uint32_t tries = 0; !c && !a->deaf && tries < MOST_TRIES; tries++) {
		SYS(__NR_futex, &a->beats, 0 /* FUTEX_WAIT */, beats, limit);
		const uint32_t now = __atomic_load_n(&a->beats, __ATOMIC_ACQUIRE);
		tries = now == beats ? tries : 0;
		beats = now;
		c = free_chunk();
	}
	__atomic_fetch_sub(&a->waiters, 1, __ATOMIC_ACQ_REL);
	if (!c)
		__atomic_store_n(&a->deaf, 1, __ATOMIC_RELEASE);
	return c;
}

static void
give_chunk(uint64_t last, enum st_probe_chunk_state state)
{
	const uint64_t index = (last - probe_context.chunks) / ST_PROBE_CHUNK_STRIDE;
	struct st_probe_area *a = probe_area();
	__atomic_fetch_add(&a->full, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&a->chunks[index].state, state, __ATOMIC_RELEASE);
}

/* Where page faults are expensive, they are not to be in the time of single calls. */
static void
touch_pages(uint64_t at)
{
	for (uint64_t page = 0; page < ST_PROBE_CHUNK; page += 4096)
		put_word(at + page, 0);
}

/* False: there is no place for words. */
static bool
renew_chunk(struct st_probe_thread *t)
{
	uint64_t at = *(volatile uint64_t *)&t->word_at;
	if (is_event_place(at))
		return true; /* a signal handler has made one */
	/* The places behind the last one of a chunk lie in front of those of the next. */
	if (replace_place(t, at, 0) && at >= probe_context.chunks)
		give_chunk((at & ~(uint64_t)(ST_PROBE_CHUNK - 1)) - WORD, ST_PROBE_CHUNK_FULL);
	struct st_probe_area *a = probe_area();
	struct st_probe_chunk *c = await_chunk();
	if (!c)
		return false;
	const uint64_t first = probe_context.chunks + ST_PROBE_CHUNK +
	                       (uint64_t)(c - a->chunks) * ST_PROBE_CHUNK_STRIDE;
	c->record = t->record;
	c->order = probe_ticks();
	touch_pages(first);
	at = *(volatile uint64_t *)&t->word_at;
	if (!is_event_place(at) && at < probe_context.chunks && replace_place(t, at, first))
		t->word_ticks = 0;
	else
		__atomic_store_n(&c->state, ST_PROBE_CHUNK_FREE, __ATOMIC_RELEASE);
	return true;
}

/* ---- words ---- */

static void
record_with_time(struct st_probe_thread *t, uint64_t at, uint64_t word, uint64_t now)
{
	if (is_event_place(at))
		put_word(at, NOTHING);
	for (;;) {
		if (!renew_chunk(t)) {
			__atomic_fetch_add(&probe_area()->lost_words, 1, __ATOMIC_RELAXED);
			at = *(volatile uint64_t *)&t->word_at;
			if (!is_event_place(at) && at < probe_context.chunks)
				replace_place(t, at, 0);
			return;
		}
		at = reserve_words(t, 2 * WORD);
		if (is_event_place(at) && is_event_place(at + WORD))
			break;
		if (is_event_place(at))
			put_word(at, NOTHING);
	}
	put_word(at, NOTHING | now);
	put_word(at + WORD, word | (now & ST_PROBE_TIME_MASK));
	t->word_ticks = now;
}

/* The chunk is full, or the time is too far from that of the last word. What that takes is a cost
 * of the call that goes on, as that of probes is. */
SELDOM static void
record_seldom(struct st_probe_thread *t, uint64_t at, uint64_t word, uint64_t now)
{
	const uint64_t begin = probe_ticks();
	record_with_time(t, at, word, now);
	const uint64_t spent = (probe_ticks() - begin) << 8;
	t->frames[t->depth - 1].spent += spent;
	((struct st_probe_record *)t->numbers)->spent += spent;
}

void
probe_record(struct st_probe_thread *t, uint64_t word, uint64_t now)
{
	const uint64_t at = reserve_words(t, WORD);
	if (LIKELY(is_event_place(at) && now - t->word_ticks + HALF < 2 * (uint64_t)HALF)) {
		put_word(at, word | (now & ST_PROBE_TIME_MASK));
		t->word_ticks = now;
	} else {
		record_seldom(t, at, word, now);
	}
}

void
probe_end_record(struct st_probe_thread *t)
{
	const uint64_t at = t->word_at;
	t->word_at = 0;
	if (is_event_place(at))
		give_chunk(at, ST_PROBE_CHUNK_CUT);
	else if (at >= probe_context.chunks && at)
		give_chunk((at & ~(uint64_t)(ST_PROBE_CHUNK - 1)) - WORD, ST_PROBE_CHUNK_FULL);
}
