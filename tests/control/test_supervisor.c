/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A child for which there is no memory is not lost without a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/supervisor.h"

/* The address sanitizer ends a program that asks for too much, unless it is told to fail instead.
 */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static bool
is_mapped(void *at)
{
	unsigned char there;
	return mincore(at, 1, &there) == 0;
}

static void
no_memory_for_a_child(void **state)
{
	(void)state;
	const struct st_run_options options = {0};
	/* A list that cannot grow: twice its size is more than there is. */
	struct st_supervisor s = {.options = &options};
	s.n_processes = s.room_processes = SIZE_MAX / sizeof *s.processes / 4;
	size_t n = s.n_processes, size = sizeof(struct st_results_header);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	struct st_results_header *results =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(results, MAP_FAILED);
	results->layout.file_size = size;
	assert_false(st_supervisor_add_child(&s, results, ends[0], "child"));
	assert_int_equal(s.n_processes, n);
	assert_int_equal(s.n_channels, 0);
	assert_int_equal(s.unfollowed, 1);
	assert_string_equal(s.unfollowed_why, "no memory left to keep its results");
	assert_false(is_mapped(results));
	assert_int_equal(fcntl(ends[0], F_GETFD), -1);
	close(ends[1]);
	free(s.unfollowed_why);
	free(s.channels);
}

/* Where time or a signal begins the region, what the process becomes goes on with it. */
static void
a_region_goes_on_after_execve(void **state)
{
	(void)state;
	const uint32_t by = ST_REGION_BY_CONTROLLER, off = ST_REGION_OFF_AT_START;
	struct st_results_header *results = calloc(1, sizeof *results);
	struct st_process process = {.pid = 7, .results = results};
	struct st_run_options options = {.region_by = by | off};
	struct st_supervisor s = {
	        .main_pid = 7, .options = &options, .processes = &process, .n_processes = 1};
	assert_non_null(results);
	assert_int_equal(st_region_continued(&s, 8).region_by, by | off); /* a vfork's child */
	results->control.region_asked = 1; /* the delay is over, and execve came first */
	assert_int_equal(st_region_continued(&s, 7).region_by, by);
	results->control.region_asked = 0;
	results->control.region_on = 1; /* it has obeyed */
	assert_int_equal(st_region_continued(&s, 7).region_by, by);
	assert_int_equal(st_region_continued(&s, 8).region_by, by);
	results->control.region_asked = 2;
	assert_int_equal(st_region_continued(&s, 7).region_by, by | off);
	results->control.region_asked = 0;
	options.region_by = by;
	assert_int_equal(st_region_continued(&s, 7).region_by, by);
	results->control.region_on = 0; /* its length is over */
	assert_int_equal(st_region_continued(&s, 7).region_by, by | off);
	results->control.region_on = 1;
	options.region_by = ST_REGION_BY_FUNCTION | off; /* the function is to be entered again */
	assert_int_equal(st_region_continued(&s, 7).region_by, ST_REGION_BY_FUNCTION | off);
	options.region_by = 0;
	assert_int_equal(st_region_continued(&s, 7).region_by, 0);
	results->control.region_on = 0;
	assert_int_equal(st_region_continued(&s, 7).region_by, 0);
	free(results);
}

/* Of all that the first process became, the last is the program. */
static void
the_last_program(void **state)
{
	(void)state;
	struct st_process v[] = {{.pid = 7},
	                         {.pid = 8, .executed = true},
	                         {.pid = 7, .executed = true},
	                         {.pid = 7, .executed = true},
	                         {.pid = 9}};
	const struct st_run run = {.processes = v, .n_processes = 5},
	                    one = {.processes = v, .n_processes = 1};
	assert_ptr_equal(st_run_last(&run), &v[3]);
	assert_ptr_equal(st_run_last(&one), &v[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_for_a_child),
	                                   cmocka_unit_test(a_region_goes_on_after_execve),
	                                   cmocka_unit_test(the_last_program)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
