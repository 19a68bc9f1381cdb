/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the probe runtime that is mapped in steps (src/rt/probe/memory.c). */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/probe/probe.h"

struct st_probe_context probe_context;

enum { MIB = 1 << 20, FIRST = 1 * MIB, SPACE = 512 * MIB };

/* Free addresses, at which the kernel maps nothing by itself. */
static char *const space = (char *)(1ull << 45);

static int
make_space(void **state)
{
	(void)state;
	const int fd = memfd_create("area", MFD_CLOEXEC);
	assert_true(fd >= 0 && !ftruncate(fd, SPACE));
	assert_true(mmap(space, FIRST, PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0) == space);
	close(fd);
	probe_context = (struct st_probe_context){.area = (uint64_t)space, .area_bytes = FIRST};
	return 0;
}

static int
drop_space(void **state)
{
	(void)state;
	return munmap(space, SPACE);
}

static int
make_threads(void **state)
{
	(void)state;
	assert_true(mmap(space, ST_PROBE_THREADS_BYTES(3), PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == space);
	probe_context =
	        (struct st_probe_context){.threads = (uint64_t)space, .room_for_threads = 3};
	return 0;
}

static int
drop_threads(void **state)
{
	(void)state;
	return munmap(space, ST_PROBE_THREADS_BYTES(64));
}

/* Each step doubles the memory, and keeps its contents. */
static void
test_steps(void **state)
{
	(void)state;
	memset(space, 7, FIRST);
	assert_true(probe_map_area(FIRST));
	assert_int_equal(probe_context.area_bytes, FIRST);
	assert_true(probe_map_area(FIRST + 1));
	assert_int_equal(probe_context.area_bytes, 2 * FIRST);
	assert_true(probe_map_area(9 * FIRST));
	assert_int_equal(probe_context.area_bytes, 16 * FIRST);
	assert_int_equal(space[FIRST - 1], 7);
	space[16 * FIRST - 1] = 1;
	assert_int_equal(space[16 * FIRST - 1], 1);
	assert_false(probe_map_area(ST_PROBE_AREA_BYTES + 1));
	assert_int_equal(probe_context.area_bytes, 16 * FIRST);
}

/* Other memory is mapped after the area: the first step fails, and no further one is tried. */
static void
test_no_space(void **state)
{
	(void)state;
	char *other = mmap(space + 4 * FIRST, 4096, PROT_READ,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_true(other == space + 4 * FIRST);
	assert_true(probe_map_area(4 * FIRST));
	assert_false(probe_map_area(4 * FIRST + 8));
	assert_int_equal(probe_context.area_bytes, 4 * FIRST);
	assert_int_equal(probe_context.is_short, 1);
	munmap(other, 4096);
	assert_false(probe_map_area(4 * FIRST + 8));
	assert_true(probe_map_area(4 * FIRST));
}

enum { WORKERS = 8 };
static pthread_barrier_t barrier;

static void *
want_area(void *arg)
{
	const uint64_t index = (uint64_t)(uintptr_t)arg;
	pthread_barrier_wait(&barrier);
	for (uint64_t bytes = FIRST; bytes <= SPACE; bytes *= 2) {
		if (!probe_map_area(bytes))
			return arg;
		space[bytes - 1 - index] = (char)(index + 1);
	}
	return NULL;
}

static void *
want_threads(void *arg)
{
	struct st_probe_thread *threads = (void *)space;
	const uint32_t index = (uint32_t)(uintptr_t)arg;
	pthread_barrier_wait(&barrier);
	for (uint32_t i = index; i < 48; i += WORKERS) {
		if (!probe_map_threads(i + 1))
			return arg;
		threads[i].tid = i;
		threads[i].frames[ST_PROBE_FRAMES - 1].slot = i;
	}
	return NULL;
}

/* A thread whose step another thread has taken first does not report that there is no memory. */
static void
race(void *(*work)(void *))
{
	pthread_t workers[WORKERS];
	void *failed;
	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (uintptr_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i], &failed);
		assert_null(failed);
	}
	pthread_barrier_destroy(&barrier);
}

static void
test_threads_at_once(void **state)
{
	(void)state;
	race(want_area);
	assert_int_equal(probe_context.area_bytes, SPACE);
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(space[SPACE - 1 - i], i + 1);
}

static void
test_threads(void **state)
{
	(void)state;
	race(want_threads);
	assert_int_equal(probe_context.room_for_threads, 48); /* 3, 6, 12, 24, 48 */
	const struct st_probe_thread *threads = (const void *)space;
	for (uint32_t i = 0; i < 48; i++)
		assert_int_equal(threads[i].tid, i);
	probe_context.n_threads = 50;
	assert_int_equal(probe_threads(), 48);
	probe_context.n_threads = 7;
	assert_int_equal(probe_threads(), 7);
}

static void
test_no_space_for_threads(void **state)
{
	(void)state;
	char *at = space + ST_PROBE_THREADS_BYTES(3), *other;
	other = mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_true(other == at);
	assert_true(probe_map_threads(3));
	assert_false(probe_map_threads(4));
	assert_int_equal(probe_context.room_for_threads, 3);
}

/* ---- limits ---- */

static uint64_t
mapped_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_true(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	return pages * 4096ull;
}

/* In a child: the runtime's memory does not reduce the memory left below the program's limit. */
static int
grow_under_limit(void)
{
	const struct rlimit limit = {mapped_bytes() + 8 * MIB, RLIM_INFINITY};
	struct rlimit after;
	if (setrlimit(RLIMIT_AS, &limit))
		return 1;
	if (!probe_map_area(16 * FIRST) || getrlimit(RLIMIT_AS, &after))
		return 2;
	return after.rlim_cur != limit.rlim_cur + 15 * FIRST;
}

static void
test_limit(void **state)
{
	int status = 0;
	(void)state;
	const pid_t child = fork();
	if (!child)
		_exit(grow_under_limit());
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_steps, make_space, drop_space),
	        cmocka_unit_test_setup_teardown(test_no_space, make_space, drop_space),
	        cmocka_unit_test_setup_teardown(test_threads_at_once, make_space, drop_space),
	        cmocka_unit_test_setup_teardown(test_limit, make_space, drop_space),
	        cmocka_unit_test_setup_teardown(test_threads, make_threads, drop_threads),
	        cmocka_unit_test_setup_teardown(test_no_space_for_threads, make_threads,
	                                        drop_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
