/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots: what they have of each context, and leaving out every second one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "mem/watch.h"

static struct st_alloc_area *
new_area(void)
{
	void *area = mmap(NULL, sizeof(struct st_alloc_area), PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(area != MAP_FAILED);
	((struct st_alloc_area *)area)->n_contexts = 3;
	return area;
}

static void
set_live(struct st_alloc_area *a, uint64_t first, uint64_t second)
{
	a->contexts[1].live = first;
	a->contexts[2].live = second;
	a->totals[ST_ALLOC_HEAP].live = first + second;
	if (first + second > a->totals[ST_ALLOC_HEAP].peak) {
		a->totals[ST_ALLOC_HEAP].peak = first + second;
		a->totals[ST_ALLOC_HEAP].epoch++;
	}
}

/* What the context had at the snapshot. */
static uint64_t
live_at(const struct st_mem_watch *w, uint32_t snapshot, uint32_t context)
{
	uint64_t live = 0;
	for (size_t i = 0; i < w->changes.n; i++)
		if (w->changes.v[i].context == context && w->changes.v[i].snapshot <= snapshot)
			live = w->changes.v[i].live;
	return live;
}

static void
only_changes_are_kept(void **state)
{
	(void)state;
	struct st_alloc_area *a = new_area();
	struct st_mem_watch w = {.area = a};
	for (uint64_t i = 0; i < 10; i++) {
		set_live(a, i < 5 ? 100 : 200, 7);
		st_mem_snapshot_take(&w, i * 1000);
	}
	assert_int_equal(w.snapshots.n, 10);
	assert_int_equal(w.changes.n, 3);
	assert_int_equal(w.snapshots.v[4].live, 107);
	assert_int_equal(w.snapshots.v[5].live, 207);
	/* The peak rose between the fifth and the sixth. */
	assert_int_equal(w.peak_from_ns, 4000);
	assert_int_equal(w.peak_to_ns, 5000);
	st_mem_watch_free(&w);
	munmap(a, sizeof *a);
}

/* Of any number of snapshots those that are left have what they had. */
static void
halves_keep_values(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 20; n++) {
		struct st_alloc_area *a = new_area();
		struct st_mem_watch w = {.area = a};
		for (uint64_t i = 0; i < n; i++) {
			set_live(a, i * 3 + 1, i / 4);
			st_mem_snapshot_take(&w, i);
		}
		st_mem_snapshots_halve(&w);
		assert_int_equal(w.snapshots.n, (n + 1) / 2);
		assert_int_equal(w.snapshots.v[w.snapshots.n - 1].ns, n - 1);
		for (uint32_t i = 0; i < w.snapshots.n; i++) {
			const uint64_t was = w.snapshots.v[i].ns;
			assert_int_equal(live_at(&w, i, 1), was * 3 + 1);
			assert_int_equal(live_at(&w, i, 2), was / 4);
		}
		st_mem_watch_free(&w);
		munmap(a, sizeof *a);
	}
}

/* ---- addresses ---- */

enum { REGION = 1 << ST_ALLOC_REGION_BITS };

/* Sets the i-th region in use. The table of regions is in another order. */
static void
set_region(struct st_alloc_area *a, uint32_t i, uint64_t address, uint64_t live, uint64_t reach)
{
	const uint32_t at = 7 * i + 3;
	a->region_list[i] = at;
	a->regions[at].key = address >> ST_ALLOC_REGION_BITS << 1 | 1ull << 63;
	a->regions[at].live = live;
	a->regions[at].reach = reach;
	if (a->n_regions <= i)
		a->n_regions = i + 1;
}

/* Returns what the result has at that time and address; UINT64_MAX: no row. */
static uint64_t
place_at(const struct st_mem *m, uint64_t ns, uint64_t from)
{
	for (size_t i = 0; i < m->places.n; i++)
		if (m->places.v[i].ns == ns && m->places.v[i].from == from)
			return m->places.v[i].live;
	return UINT64_MAX;
}

static uint64_t
sum_at(const struct st_mem *m, uint64_t ns)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < m->places.n; i++)
		sum += m->places.v[i].ns == ns ? m->places.v[i].live : 0;
	return sum;
}

static void
places_of(const struct st_mem_places *p, struct st_mem *m)
{
	*m = (struct st_mem){0};
	assert_int_equal(st_mem_places_copy(p, m), ST_OK);
}

static void
blocks_count_where_they_are(void **state)
{
	(void)state;
	const uint64_t heap = 0x555500000000, far = 0x7f0000000000;
	struct st_alloc_area *a = new_area();
	struct st_mem_places p = {0};
	struct st_mem m;
	places_of(&p, &m);
	assert_int_equal(m.range_bytes, 0);
	set_region(a, 0, heap, 1000, 1016);
	set_region(a, 1, heap + REGION, 0, 0);
	/* A block of 2.5 regions that begins with a quarter of a region behind its begin. */
	set_region(a, 2, far, 5 * REGION / 2, 11 * REGION / 4);
	a->regions[a->region_list[0] + 1] = (struct st_alloc_region){
	        .key = (heap >> ST_ALLOC_REGION_BITS << 1 | 1) | 1ull << 63, .live = 24};
	a->region_list[3] = a->region_list[0] + 1; /* the other half of the same region */
	a->n_regions = 4;
	st_mem_places_take(&p, a, 10, false);
	a->regions[a->region_list[0]].live = a->regions[a->region_list[3]].live = 0;
	a->regions[a->region_list[2]].live = 0;
	st_mem_places_take(&p, a, 20, false);
	places_of(&p, &m);
	assert_int_equal(m.range_bytes, REGION);
	assert_int_equal(place_at(&m, 10, heap), 1024);
	assert_int_equal(place_at(&m, 10, heap + REGION), UINT64_MAX);
	/* 2.75 regions have 2.5 regions of bytes: 10 bytes in 11. */
	const uint64_t tenth = 5 * REGION / 2;
	assert_int_equal(place_at(&m, 10, far), tenth * 4 / 11);
	assert_int_equal(place_at(&m, 10, far + REGION), tenth * 8 / 11 - tenth * 4 / 11);
	assert_int_equal(place_at(&m, 10, far + 2 * REGION), tenth - tenth * 8 / 11);
	assert_int_equal(sum_at(&m, 10), 1024 + tenth);
	/* A time without memory is a time nevertheless. */
	assert_int_equal(place_at(&m, 20, heap), 0);
	free(m.places.v);
	st_mem_places_free(&p);
	munmap(a, sizeof *a);
}

/* However many regions there are, wherever, there are at most 128 ranges, and no byte is lost. */
static void
ranges_are_bounded(void **state)
{
	(void)state;
	for (uint64_t step = 1; step <= 1 << 20; step *= 32) {
		struct st_alloc_area *a = new_area();
		struct st_mem_places p = {0};
		struct st_mem m;
		uint64_t sum = 0;
		for (uint32_t i = 0; i < 1000; i++) {
			set_region(a, i, 0x10000000 + i * step * REGION, i + 1, i + 1);
			sum += i + 1;
			if (i == 100)
				st_mem_places_take(&p, a, 1, false);
		}
		st_mem_places_take(&p, a, 2, false);
		places_of(&p, &m);
		assert_true(p.n <= ST_MEM_RANGES && p.n > ST_MEM_RANGES / 4);
		assert_int_equal(sum_at(&m, 1), 101 * 102 / 2);
		assert_int_equal(sum_at(&m, 2), sum);
		for (size_t i = 0; i < m.places.n; i++)
			assert_int_equal(m.places.v[i].from % m.range_bytes, 0);
		free(m.places.v);
		st_mem_places_free(&p);
		munmap(a, sizeof *a);
	}
}

static void
times_are_bounded(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
		struct st_alloc_area *a = new_area();
		struct st_mem_places p = {0};
		struct st_mem m;
		for (uint64_t i = 0; i < n; i++) {
			set_region(a, 0, 0x10000000, i + 1, i + 1);
			st_mem_places_take(&p, a, i, i == n - 1);
		}
		places_of(&p, &m);
		assert_true(p.times.n <= ST_MEM_TIMES && p.times.n >= (n < 64 ? n : 64));
		assert_int_equal(m.places.v[0].ns, 0);
		assert_int_equal(m.places.v[m.places.n - 1].ns, n - 1);
		for (size_t i = 0; i < m.places.n; i++)
			assert_int_equal(m.places.v[i].live, m.places.v[i].ns + 1);
		free(m.places.v);
		st_mem_places_free(&p);
		munmap(a, sizeof *a);
	}
}

/* The program can write what it wants into the area. */
static void
a_damaged_area_is_harmless(void **state)
{
	(void)state;
	uint64_t random = 88172645463325252u;
	struct st_alloc_area *a = new_area();
	struct st_mem_places p = {0};
	struct st_mem m;
	for (uint32_t round = 0; round < 200; round++) {
		for (uint32_t i = 0; i < 300; i++) {
			uint64_t v[4];
			for (size_t k = 0; k < 4; k++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				v[k] = random >> (random % 64);
			}
			a->region_list[i] = (uint32_t)v[0];
			a->regions[(uint32_t)v[0] % ST_ALLOC_REGIONS] =
			        (struct st_alloc_region){v[1], v[0], v[2], v[3]};
		}
		a->n_regions = 300;
		st_mem_places_take(&p, a, round, false);
	}
	places_of(&p, &m);
	assert_true(p.n <= ST_MEM_RANGES && p.times.n <= ST_MEM_TIMES);
	free(m.places.v);
	st_mem_places_free(&p);
	munmap(a, sizeof *a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_changes_are_kept),
	                                   cmocka_unit_test(halves_keep_values),
	                                   cmocka_unit_test(blocks_count_where_they_are),
	                                   cmocka_unit_test(ranges_are_bounded),
	                                   cmocka_unit_test(times_are_bounded),
	                                   cmocka_unit_test(a_damaged_area_is_harmless)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
