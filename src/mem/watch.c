/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/watch.h"

#include <time.h>

#include "base/clock.h"

enum { MOST_SNAPSHOTS = 512, LEAST_SHARE = 20 };

static bool
see_context(struct st_mem_watch *w, uint32_t context)
{
	if (context < w->n_seen)
		return true;
	const uint32_t n = context + context / 2 + 256;
	uint64_t *grown = reallocarray(w->seen, n, sizeof *grown);
	if (!grown)
		return false;
	memset(grown + w->n_seen, 0, (n - w->n_seen) * sizeof *grown);
	w->seen = grown;
	w->n_seen = n;
	return true;
}

static void
take_contexts(struct st_mem_watch *w, uint32_t snapshot)
{
	const uint32_t n = __atomic_load_n(&w->area->n_contexts, __ATOMIC_ACQUIRE);
	for (uint32_t i = 1; i < n && i < ST_ALLOC_CONTEXTS; i++) {
		const uint64_t live = __atomic_load_n(&w->area->contexts[i].live, __ATOMIC_RELAXED);
		if (!see_context(w, i) || w->seen[i] == live)
			continue;
		struct st_mem_change *change = ST_PUSH(&w->changes);
		if (!change)
			return;
		*change = (struct st_mem_change){snapshot, i, live};
		w->seen[i] = live;
	}
}

static void
watch_peak(struct st_mem_watch *w, uint64_t before, uint64_t ns)
{
	const uint64_t epoch =
	        __atomic_load_n(&w->area->totals[ST_ALLOC_HEAP].epoch, __ATOMIC_RELAXED);
	if (epoch == w->epoch)
		return;
	w->epoch = epoch;
	w->peak_from_ns = before;
	w->peak_to_ns = ns;
}

void
st_mem_snapshot_take(struct st_mem_watch *w, uint64_t ns)
{
	const struct st_alloc_totals *all = w->area->totals;
	const uint64_t before = w->snapshots.n ? w->snapshots.v[w->snapshots.n - 1].ns : 0;
	struct st_mem_snapshot *s = ST_PUSH(&w->snapshots);
	if (!s)
		return;
	*s = (struct st_mem_snapshot){
	        .ns = ns,
	        .live = __atomic_load_n(&all[ST_ALLOC_HEAP].live, __ATOMIC_RELAXED),
	        .blocks = __atomic_load_n(&all[ST_ALLOC_HEAP].live_blocks, __ATOMIC_RELAXED),
	        .mapped = __atomic_load_n(&all[ST_ALLOC_MAPPED].live, __ATOMIC_RELAXED)};
	take_contexts(w, (uint32_t)w->snapshots.n - 1);
	st_mem_places_take(&w->places, w->area, ns, __atomic_load_n(&w->ends, __ATOMIC_ACQUIRE));
	watch_peak(w, before, ns);
}

void
st_mem_snapshots_halve(struct st_mem_watch *w)
{
	const size_t n = w->snapshots.n;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if ((n - 1 - i) % 2 == 0)
			w->snapshots.v[kept++] = w->snapshots.v[i];
	w->snapshots.n = kept;
	for (size_t i = 0; i < w->changes.n; i++) {
		struct st_mem_change *c = &w->changes.v[i];
		c->snapshot = (c->snapshot + (uint32_t)(n % 2 == 0 ? 0 : 1)) / 2;
	}
}

static void
wait_until(double end, const bool *ends)
{
	for (;;) {
		const double left = end - st_now_raw();
		if (left <= 0 || __atomic_load_n(ends, __ATOMIC_ACQUIRE))
			return;
		const double now = left < 0.05 ? left : 0.05;
		nanosleep(&(struct timespec){0, (long)(now * 1e9) + 1}, NULL);
	}
}

/* It is not to take much time, and as many snapshots as a plot has use for. */
static void
adjust_interval(struct st_mem_watch *w, double took)
{
	if (w->fixed)
		return;
	while (took * 1e9 * LEAST_SHARE > (double)w->interval_ns)
		w->interval_ns *= 2;
	if (w->snapshots.n < MOST_SNAPSHOTS)
		return;
	st_mem_snapshots_halve(w);
	w->interval_ns *= 2;
}

static void *
watch_memory(void *arg)
{
	struct st_mem_watch *w = arg;
	double next = w->begin;
	while (!__atomic_load_n(&w->ends, __ATOMIC_ACQUIRE)) {
		const double now = st_now_raw();
		st_mem_snapshot_take(w, (uint64_t)((now - w->begin) * 1e9));
		adjust_interval(w, st_now_raw() - now);
		next += (double)w->interval_ns / 1e9;
		if (next < st_now_raw())
			next = st_now_raw() + (double)w->interval_ns / 1e9;
		wait_until(next, &w->ends);
	}
	return NULL;
}

st_status
st_mem_watch_begin(struct st_mem_watch *w)
{
	w->begin = st_now_raw();
	w->fixed = w->interval_ns != 0;
	if (!w->fixed)
		w->interval_ns = 1000000;
	w->runs = pthread_create(&w->thread, NULL, watch_memory, w) == 0;
	return w->runs ? ST_OK : ST_FAILED;
}

void
st_mem_watch_end(struct st_mem_watch *w, bool ended)
{
	if (!w->runs)
		return;
	__atomic_store_n(&w->ends, true, __ATOMIC_RELEASE);
	pthread_join(w->thread, NULL);
	w->runs = false;
	if (ended)
		st_mem_snapshot_take(w, (uint64_t)((st_now_raw() - w->begin) * 1e9));
}

void
st_mem_watch_free(struct st_mem_watch *w)
{
	st_mem_watch_end(w, false);
	st_mem_places_free(&w->places);
	free(w->snapshots.v);
	free(w->changes.v);
	free(w->seen);
}
