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

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_changes_are_kept),
	                                   cmocka_unit_test(halves_keep_values)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
