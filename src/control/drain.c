/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of streams that no tool consumes. The program fills chunks and marks them full; here
 * they are handed on in the order in which they were filled, and freed. When none is free the
 * program waits, so this thread hardly sleeps while there is something to do.
 */
#include "control/drain.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

/* A process, with what its results said at first: the program can write over them. */
struct source {
	struct st_results_header *results;
	uint64_t off_chunks, off_counters, off_threads, stride, at;
};

struct st_drain {
	const struct st_row_sink *sink;
	pthread_mutex_t lock; /* sources, and the sink */
	struct source *sources;
	size_t n, room;
	pthread_t thread;
	bool runs, stop;
};

struct st_drain *
st_drain_new(const struct st_row_sink *sink)
{
	struct st_drain *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->sink = sink;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

static bool
fits(uint64_t offset, uint64_t bytes, size_t size)
{
	return offset % 8 == 0 && offset <= size && bytes <= size - offset;
}

void
st_drain_add(struct st_drain *d, struct st_results_header *h, size_t size)
{
	struct source s = {.results = h,
	                   .off_chunks = h->layout.off_chunks,
	                   .off_counters = h->layout.off_counters,
	                   .off_threads = h->layout.off_threads,
	                   .stride = h->layout.counters_stride,
	                   .at = h->layout.at};
	if (!fits(s.off_chunks, (uint64_t)ST_MAX_CHUNKS * ST_CHUNK_STRIDE, size) ||
	    !fits(s.off_threads, ST_MAX_THREADS * sizeof(struct st_thread), size) ||
	    s.stride > size || !fits(s.off_counters, ST_MAX_SLOTS * s.stride, size))
		return;
	pthread_mutex_lock(&d->lock);
	if (d->n == d->room) {
		size_t room = d->room ? 2 * d->room : 8;
		struct source *more = reallocarray(d->sources, room, sizeof *more);
		if (more) {
			d->sources = more;
			d->room = room;
		}
	}
	if (d->n < d->room) {
		d->sources[d->n++] = s;
		d->sink->begin(d->sink->arg, h, size);
	}
	pthread_mutex_unlock(&d->lock);
}

static void
hand_on(struct st_drain *d, const struct source *s, uint32_t index, uint64_t bytes)
{
	struct st_chunk *c = &s->results->streams.chunks[index];
	const char *rows =
	        (const char *)s->results + s->off_chunks + (uint64_t)index * ST_CHUNK_STRIDE;
	struct st_row_chunk out = {c->stream, c->thread, rows, bytes};
	if (bytes && bytes <= ST_CHUNK_BYTES + ST_CHUNK_SLACK)
		d->sink->take(d->sink->arg, s->results, &out);
}

struct full {
	uint64_t sequence;
	uint32_t index;
};

static int
sequence_order(const void *a, const void *b)
{
	const struct full *x = a, *y = b;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The chunks that are full now. Returns how many. */
static size_t
take_full(struct st_drain *d, const struct source *s)
{
	struct full full[ST_MAX_CHUNKS];
	size_t n = 0;
	for (uint32_t i = 0; i < ST_MAX_CHUNKS; i++) {
		struct st_chunk *c = &s->results->streams.chunks[i];
		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == ST_CHUNK_FULL)
			full[n++] = (struct full){c->sequence, i};
	}
	if (!n)
		return 0;
	uint64_t from = st_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	qsort(full, n, sizeof *full, sequence_order);
	for (size_t i = 0; i < n; i++) {
		struct st_chunk *c = &s->results->streams.chunks[full[i].index];
		hand_on(d, s, full[i].index, c->bytes);
		__atomic_store_n(&c->state, ST_CHUNK_FREE, __ATOMIC_RELEASE);
	}
	/* A budget pays for it. */
	__atomic_fetch_add(&s->results->control.drained_ns,
	                   st_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - from, __ATOMIC_RELAXED);
	return n;
}

/* The filled bytes of a chunk that a thread is still writing. */
static uint64_t
filled(const struct source *s, uint32_t index)
{
	const struct st_results_header *h = s->results;
	const struct st_chunk *c = &h->streams.chunks[index];
	uint32_t thread = c->thread, stream = c->stream;
	if (thread >= ST_MAX_THREADS || thread >= h->threads.n || stream >= ST_MAX_STREAMS)
		return 0;
	const struct st_thread *threads = st_section(h, s->off_threads);
	uint32_t slot = threads[thread].slot;
	if (slot >= ST_MAX_SLOTS)
		return 0;
	const uint64_t *counters = st_section(h, s->off_counters + (uint64_t)slot * s->stride);
	uint64_t begin = s->at + s->off_chunks + (uint64_t)index * ST_CHUNK_STRIDE;
	uint64_t fill = __atomic_load_n(&counters[ST_STREAM_ID(stream)], __ATOMIC_ACQUIRE);
	return fill < begin ? 0 : fill - begin; /* hand_on knows how much can be */
}

static void *
drain(void *arg)
{
	struct st_drain *d = arg;
	/* Rows come in windows: between them looking for some would take a hundredth of a CPU. What
	   may wait is enough for longer than the longest pause. */
	const long shortest = 500000, longest = 4000000;
	long pause = shortest;
	while (!__atomic_load_n(&d->stop, __ATOMIC_ACQUIRE)) {
		size_t n = 0;
		pthread_mutex_lock(&d->lock);
		for (size_t i = 0; i < d->n; i++)
			if (d->sources[i].results->streams.n)
				n += take_full(d, &d->sources[i]);
		pthread_mutex_unlock(&d->lock);
		if (!n)
			nanosleep(&(struct timespec){0, pause}, NULL);
		pause = n ? shortest : pause < longest ? 2 * pause : longest;
	}
	return NULL;
}

static bool
has_stream(const struct st_results_header *h)
{
	uint32_t n = h->streams.n;
	for (uint32_t i = 0; i < n && i < ST_MAX_STREAMS; i++)
		if (!h->streams.v[i].consumed)
			return true;
	return false;
}

void
st_drain_wake(struct st_drain *d)
{
	bool wanted = false;
	/* Signals are for the thread that waits for the program. */
	sigset_t all, before;
	if (d->runs)
		return;
	for (size_t i = 0; i < d->n; i++)
		wanted |= has_stream(d->sources[i].results);
	if (!wanted)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	d->runs = pthread_create(&d->thread, NULL, drain, d) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
st_drain_end(struct st_drain *d, const struct st_results_header *results)
{
	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; i < d->n; i++) {
		struct source s = d->sources[i];
		if (s.results != results)
			continue;
		if (s.results->streams.n)
			take_full(d, &s);
		for (uint32_t c = 0; c < ST_MAX_CHUNKS && s.results->streams.n; c++)
			if (s.results->streams.chunks[c].state == ST_CHUNK_OWNED)
				hand_on(d, &s, c, filled(&s, c));
		d->sink->end(d->sink->arg, results);
		d->sources[i] = d->sources[--d->n];
		break;
	}
	pthread_mutex_unlock(&d->lock);
}

void
st_drain_free(struct st_drain *d)
{
	if (!d)
		return;
	__atomic_store_n(&d->stop, true, __ATOMIC_RELEASE);
	if (d->runs)
		pthread_join(d->thread, NULL);
	pthread_mutex_destroy(&d->lock);
	free(d->sources);
	free(d);
}
