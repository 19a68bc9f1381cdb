/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/live_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/frequency.h"
#include "base/hashmap.h"
#include "blow/locations.h"

/* ---- the probes ---- */

static int
kept_order(const void *a, const void *b)
{
	const struct st_blow_kept_probe *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static st_status
index_kept(struct st_hashmap *index, const struct st_blow *b)
{
	for (uint32_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if ((f->chosen || f->progress) && !f->why &&
		    st_hashmap_add(index, st_hash_number(f->offset), i))
			return ST_FAILED;
	}
	return ST_OK;
}

static uint32_t
kept_function_at(const struct st_hashmap *index, const struct st_blow *b, const char *image,
                 uint64_t offset)
{
	return ST_HASHMAP_FIND(index, st_hash_number(offset), at,
	                       b->functions.v[at].offset == offset &&
	                               !strcmp(b->functions.v[at].image, image));
}

/* The entry that the probe belongs to; ST_BLOW_NONE: there is none. */
static uint32_t
kept_entry_of(const struct st_probes *probes, const struct st_probed_function *f,
              const struct st_hashmap *index, const struct st_blow *b,
              const struct st_blow_sites *sites, const struct st_blow_points *points)
{
	const char *image = probes->images.v[f->image].path;
	const uint32_t site = f->is_point ? st_blow_sites_entry(sites, points, b, image, f->offset)
	                                  : ST_BLOW_NONE;
	return site != ST_BLOW_NONE ? site : kept_function_at(index, b, image, f->offset);
}

/* Has the time of a location measured by the probe of the function around it, which is kept. */
static void
keep_around(const struct st_probes *probes, struct st_blow_kept_probe *location, bool *drops)
{
	const struct st_probed_function *at = &probes->functions.v[location->number];
	const uint64_t around =
	        st_blow_function_around(probes->images.v[at->image].image, at->offset);
	for (uint32_t i = 0; i < probes->functions.n; i++) {
		const struct st_probed_function *f = &probes->functions.v[i];
		if (f->is_point || f->image != at->image || f->offset != around)
			continue;
		location->timed = i;
		drops[i] = false;
	}
}

/* Whether the probe is needed in order to hide pauses. */
static bool
is_for_clocks(const struct st_probes *probes, uint32_t function)
{
	const uint32_t kind = probes->process.area->actions[function].kind;
	return kind == ST_PROBE_CLOCK || kind == ST_PROBE_DEADLINE;
}

st_status
st_blow_keep(struct st_blow_kept *kept, struct st_probes *probes, const struct st_blow *b,
             const struct st_blow_sites *sites, const struct st_blow_points *points, bool *drops)
{
	struct st_hashmap index = {0};
	st_status status = index_kept(&index, b);
	pthread_mutex_lock(&probes->lock);
	for (uint32_t i = 0; i < probes->functions.n && !status; i++) {
		const uint32_t function =
		        kept_entry_of(probes, &probes->functions.v[i], &index, b, sites, points);
		drops[i] = function == ST_BLOW_NONE && !is_for_clocks(probes, i);
		if (function == ST_BLOW_NONE)
			continue;
		struct st_blow_kept_probe *slot = ST_PUSH(&kept->list);
		if (slot)
			*slot = (struct st_blow_kept_probe){i, function, i};
		else
			status = ST_FAILED;
	}
	for (size_t i = 0; i < kept->list.n && !status; i++)
		if (b->functions.v[kept->list.v[i].function].traits & ST_BLOW_IS_INSIDE)
			keep_around(probes, &kept->list.v[i], drops);
	pthread_mutex_unlock(&probes->lock);
	st_hashmap_free(&index);
	if (kept->list.n)
		qsort(kept->list.v, kept->list.n, sizeof *kept->list.v, kept_order);
	return status;
}

void
st_blow_keep_free(struct st_blow_kept *kept)
{
	free(kept->list.v);
	*kept = (struct st_blow_kept){0};
}

/* ---- counts ---- */

/* The function's time so far: if a call ends while it is read, it is read again. */
static int64_t
ticks_of_cell(const struct st_probe_cell *c, uint64_t now)
{
	enum { TRIES = 8 };
	uint64_t before = 0, since = 0;
	uint32_t active = 0;
	for (int i = 0; i < TRIES; i++) {
		before = __atomic_load_n(&c->outermost, __ATOMIC_ACQUIRE);
		active = __atomic_load_n(&c->active, __ATOMIC_ACQUIRE);
		since = __atomic_load_n(&c->since, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&c->outermost, __ATOMIC_ACQUIRE) == before &&
		    __atomic_load_n(&c->active, __ATOMIC_ACQUIRE) == active &&
		    __atomic_load_n(&c->since, __ATOMIC_ACQUIRE) == since)
			break;
	}
	return (int64_t)(before + (active && now > since ? now - since : 0));
}

/* timed: the cell that has the time; NULL: none has. */
static struct st_blow_count
count_of_cell(const struct st_probe_cell *c, const struct st_probe_cell *timed, uint64_t now)
{
	return (struct st_blow_count){.calls = __atomic_load_n(&c->calls, __ATOMIC_ACQUIRE),
	                              .ticks = timed ? ticks_of_cell(timed, now) : 0,
	                              .noises = c->noises,
	                              .noise = c->noise};
}

st_status
st_blow_count(struct st_blow_counts *c, const struct st_blow_kept *kept,
              const struct st_probes *probes)
{
	const struct st_probe_area *a = probes->process.area;
	const uint32_t n = __atomic_load_n(&a->n_records, __ATOMIC_ACQUIRE);
	c->threads = n < ST_PROBE_MOST_RECORDS ? n : ST_PROBE_MOST_RECORDS;
	struct st_blow_count *v =
	        st_vec_reserve(c->v, c->threads * kept->list.n + 1, &c->cap, sizeof *c->v);
	if (!v)
		return ST_FAILED;
	c->v = v;
	c->at = st_moment_now().ticks;
	for (size_t i = 0; i < c->threads; i++)
		for (size_t k = 0; k < kept->list.n; k++) {
			const struct st_blow_kept_probe *p = &kept->list.v[k];
			const struct st_probe_cell *cell = st_probes_cell(probes, (uint32_t)i,
			                                                  p->number),
			                           *timed = st_probes_cell(probes, (uint32_t)i,
			                                                   p->timed);
			v[i * kept->list.n + k] = cell ? count_of_cell(cell, timed, c->at)
			                               : (struct st_blow_count){0};
		}
	return ST_OK;
}

/* Adds the differences of a probe in a thread. */
static void
add_count_difference(struct st_blow_sample *s, const struct st_blow_count *before,
                     const struct st_blow_count *after, double tsc_hz)
{
	static const struct st_blow_count none;
	const struct st_blow_count *from = before ? before : &none;
	const int64_t ticks = after->ticks - from->ticks;
	s->calls += after->calls - from->calls;
	s->ns += ticks > 0 ? (uint64_t)((double)ticks / tsc_hz * 1e9) : 0;
	s->noises += after->noises - from->noises;
	s->noise_ns += (uint64_t)((double)(after->noise - from->noise) / tsc_hz * 1e9);
}

/* The sample of the function whose probes begin at index *k of the kept ones; moves *k behind
 * them. */
static struct st_blow_sample
count_sample(const struct st_blow_counts *before, const struct st_blow_counts *after,
             const struct st_blow_kept *kept, uint32_t thread, size_t *k, double tsc_hz)
{
	const size_t n = kept->list.n, row = thread * n;
	struct st_blow_sample s = {.function = kept->list.v[*k].function, .thread = thread};
	for (; *k < n && kept->list.v[*k].function == s.function; ++*k)
		add_count_difference(&s, thread < before->threads ? &before->v[row + *k] : NULL,
		                     &after->v[row + *k], tsc_hz);
	return s;
}

st_status
st_blow_count_samples(const struct st_blow_counts *before, const struct st_blow_counts *after,
                      const struct st_blow_kept *kept, const struct st_blow *b, double tsc_hz,
                      struct st_blow_run *run)
{
	for (uint32_t i = 0; i < after->threads; i++)
		for (size_t k = 0; k < kept->list.n;) {
			const struct st_blow_sample s =
			        count_sample(before, after, kept, i, &k, tsc_hz);
			const bool counts = run->function == ST_BLOW_NONE ||
			                    s.function == run->function ||
			                    b->functions.v[s.function].progress;
			if (!counts || (!s.calls && !s.ns && !s.noises))
				continue;
			struct st_blow_sample *slot = ST_PUSH(&run->samples);
			if (!slot)
				return ST_FAILED;
			*slot = s;
		}
	st_blow_sort_samples(run);
	return ST_OK;
}
