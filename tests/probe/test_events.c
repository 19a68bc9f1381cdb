/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and returns one by one: the code that records them in processes (src/rt/probe/events.c),
 * and the code that takes them (src/control/probe_events.c), in one process. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include "base/random.h"
#include "control/probe_events.h"
#include "rt/probe/probe.h"

enum { WORDS = ST_PROBE_CHUNK / 8, HANDLERS = 1000 /* function: of signal handlers */ };

struct st_probe_context probe_context;

/* What a test has taken. */
static struct st_probe_event *taken;
static size_t n_taken, room;
static struct st_probe_area *area;
static struct st_probe_drain *drain;
static struct st_probe_thread *threads;

static void
take(void *arg, uint32_t record, const struct st_probe_event *events, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(events[i].record, record);
		assert_true(n_taken < room);
		taken[n_taken++] = events[i];
	}
}

static int
make_area(void **state)
{
	(void)state;
	char *at = mmap(NULL, ST_PROBE_CHUNKS_END + ST_PROBE_CHUNK_STRIDE, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(at != MAP_FAILED);
	const uint64_t mask = ST_PROBE_CHUNK_STRIDE - 1;
	area = (struct st_probe_area *)(((uint64_t)at + mask) & ~mask);
	probe_context = (struct st_probe_context){.area = (uint64_t)area,
	                                          .chunks = (uint64_t)area + ST_PROBE_CHUNKS_AT};
	threads = mmap(NULL, 2 * sizeof *threads, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(threads != MAP_FAILED);
	for (uint32_t i = 0; i < 2; i++) {
		threads[i].record = i;
		threads[i].depth = 1;
		threads[i].numbers = (uint64_t)&area->records[i];
	}
	n_taken = 0;
	room = 6000000;
	taken = calloc(room, sizeof *taken);
	drain = st_probe_drain_new(area, take, NULL);
	assert_non_null(taken);
	assert_non_null(drain);
	return 0;
}

static int
free_area(void **state)
{
	(void)state;
	st_probe_drain_free(drain);
	free(taken);
	munmap(threads, 2 * sizeof *threads);
	munmap(area, ST_PROBE_CHUNKS_END);
	return 0;
}

static void
record_at(uint32_t thread, uint32_t function, uint64_t ticks)
{
	probe_record_event(&threads[thread], ST_PROBE_ENTRY, 7, function, ticks);
}

/* ---- one thread ---- */

static void
expect_event(size_t i, const struct st_probe_event *e)
{
	assert_int_equal(taken[i].ticks, e->ticks);
	assert_int_equal(taken[i].function, e->function);
	assert_int_equal(taken[i].depth, e->depth);
	assert_int_equal(taken[i].returns, e->returns);
}

static void
test_one_event(void **state)
{
	(void)state;
	probe_record_event(&threads[0], ST_PROBE_ENTRY, 1, 262143, 1000);
	probe_record_event(&threads[0], ST_PROBE_RETURN, 131071, 0, 1001);
	assert_int_equal(st_probe_drain(drain, false), 0);
	assert_int_equal(st_probe_drain(drain, true), 1);
	assert_int_equal(n_taken, 2);
	expect_event(0, &(struct st_probe_event){1000, 0, 262143, 1, false});
	expect_event(1, &(struct st_probe_event){1001, 0, 0, 131071, true});
	assert_int_equal(st_probe_drain(drain, true), 0);
}

/* Any distance between two events, also a step back, as a signal handler makes one. */
static void
test_times(void **state)
{
	(void)state;
	const uint64_t half = (ST_PROBE_TIME_MASK + 1) / 2;
	const uint64_t times[] = {1ull << 50,        (1ull << 50) + half - 1,
	                          (1ull << 50) + 9,  (1ull << 50) + 2 * half,
	                          (1ull << 52) + 5,  (1ull << 52) + 5 + half,
	                          (1ull << 52) + 4,  (1ull << 52) + 5 - half,
	                          (1ull << 61) + 77, 5};
	const size_t n = sizeof times / sizeof *times;
	for (size_t i = 0; i < n; i++)
		record_at(0, (uint32_t)i, times[i]);
	st_probe_drain(drain, true);
	assert_int_equal(n_taken, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(taken[i].ticks, times[i]);
		assert_int_equal(taken[i].function, i);
	}
}

/* The first of each chunk takes two words, so a chunk has WORDS - 1 events. */
static void
test_many(void **state)
{
	(void)state;
	const uint32_t n = 3 * (WORDS - 1) + 10;
	for (uint32_t i = 0; i < n; i++)
		record_at(0, i % ST_PROBE_MOST, 100 + i);
	assert_int_equal(area->full, 3);
	assert_int_equal(st_probe_drain(drain, false), 3);
	assert_int_equal(area->full, 0);
	assert_int_equal(n_taken, 3 * (WORDS - 1));
	assert_int_equal(st_probe_drain(drain, true), 1);
	assert_int_equal(n_taken, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(taken[i].ticks, 100 + i);
	for (uint32_t i = 0; i < ST_PROBE_CHUNKS; i++)
		assert_int_equal(area->chunks[i].state, ST_PROBE_CHUNK_FREE);
}

/* A thread that ends leaves a chunk that is not full, and the next one of its place begins another.
 */
static void
test_thread_that_ends(void **state)
{
	(void)state;
	record_at(0, 1, 10);
	probe_end_record(&threads[0]);
	threads[0].record = 5;
	record_at(0, 2, 11);
	assert_int_equal(st_probe_drain(drain, false), 1);
	assert_int_equal(n_taken, 1);
	assert_int_equal(taken[0].record, 0);
	probe_end_record(&threads[0]);
	probe_end_record(&threads[0]);
	assert_int_equal(st_probe_drain(drain, false), 1);
	assert_int_equal(taken[1].record, 5);
	assert_int_equal(area->full, 0);
}

/* ---- words that are missing ---- */

static uint64_t *
words_of_chunk(uint32_t i)
{
	return (uint64_t *)(probe_context.chunks + ST_PROBE_CHUNK + i * ST_PROBE_CHUNK_STRIDE);
}

static void
test_missing_word(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2 * (WORDS - 1) + 1; i++)
		record_at(0, i % ST_PROBE_MOST, 100 + i);
	const uint64_t word = words_of_chunk(0)[300];
	words_of_chunk(0)[300] = 0;
	/* What comes after it waits, too. */
	assert_int_equal(st_probe_drain(drain, false), 0);
	assert_int_equal(n_taken, 0);
	words_of_chunk(0)[300] = word;
	assert_int_equal(st_probe_drain(drain, false), 2);
	assert_int_equal(n_taken, 2 * (WORDS - 1));
	for (uint32_t i = 0; i < n_taken; i++)
		assert_int_equal(taken[i].ticks, 100 + i);
}

/* Whoever was to write it may come back after any time, so the chunk is not used again. */
static void
test_word_that_never_comes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < WORDS; i++)
		record_at(0, i, 100 + i);
	words_of_chunk(0)[300] = 0;
	assert_int_equal(st_probe_drain(drain, false), 0);
	nanosleep(&(struct timespec){1, 100000000}, NULL);
	assert_int_equal(st_probe_drain(drain, false), 1);
	assert_int_equal(n_taken, WORDS - 2);
	assert_int_equal(area->chunks[0].state, ST_PROBE_CHUNK_SPENT);
	assert_int_equal(st_probe_drain(drain, true), 1);
	assert_int_equal(n_taken, WORDS - 1);
}

/* ---- a controller that does nothing ---- */

static void
test_nobody_takes_them(void **state)
{
	(void)state;
	const uint32_t queue = ST_PROBE_CHUNK_QUEUE * (WORDS - 1);
	for (uint32_t i = 0; i < queue + 500; i++)
		record_at(0, i % ST_PROBE_MOST, 100 + i);
	assert_int_equal(area->deaf, 1);
	assert_int_equal(area->lost_words, 500);
	/* It works again. */
	assert_int_equal(st_probe_drain(drain, false), ST_PROBE_CHUNK_QUEUE);
	assert_int_equal(area->deaf, 0);
	record_at(0, 1, 5000000);
	assert_int_equal(st_probe_drain(drain, true), 1);
	assert_int_equal(area->lost_words, 500);
	assert_int_equal(taken[n_taken - 1].ticks, 5000000);
}

/* ---- signals and threads ---- */

static volatile uint32_t interrupts;

static void
on_signal(int signo)
{
	(void)signo;
	for (uint32_t i = 0; i < 100; i++)
		record_at(0, HANDLERS + i, probe_ticks());
	interrupts = interrupts + 1;
}

static volatile bool ends;

static void *
take_meanwhile(void *arg)
{
	while (!ends)
		st_probe_drain(drain, false);
	return arg;
}

/* Events of 0 to HANDLERS - 1 in turn, and whole rounds of a signal handler's between them. */
static void
check_interrupted(uint32_t n)
{
	uint32_t own = 0, handlers = 0;
	for (size_t i = 0; i < n_taken; i++) {
		if (taken[i].function < HANDLERS)
			assert_int_equal(taken[i].function, own++ % HANDLERS);
		else
			assert_int_equal(taken[i].function, HANDLERS + handlers++ % 100);
	}
	assert_int_equal(own, n);
	assert_int_equal(handlers, interrupts * 100);
}

static void
test_signals(void **state)
{
	(void)state;
	enum { EVENTS = 4000000 };
	pthread_t taker;
	sigset_t alarm;
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	signal(SIGALRM, on_signal);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	ends = false;
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	assert_int_equal(pthread_create(&taker, NULL, take_meanwhile, NULL), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint32_t i = 0; i < EVENTS && interrupts < 10000; i++)
		record_at(0, i % HANDLERS, probe_ticks());
	setitimer(ITIMER_REAL, &never, NULL);
	ends = true;
	pthread_join(taker, NULL);
	st_probe_drain(drain, true);
	assert_int_equal(area->lost_words, 0);
	assert_true(interrupts > 0);
	check_interrupted(interrupts < 10000 ? EVENTS : (uint32_t)(n_taken - 100ull * interrupts));
}

/* ---- what the program may write there ---- */

static void
test_damage(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int round = 0; round < 300; round++) {
		for (uint32_t i = 0; i < 2 * WORDS; i++)
			record_at(0, i % ST_PROBE_MOST, 100 + i);
		for (int k = 0; k < 200; k++)
			words_of_chunk(0)[st_random_next(&seed) % WORDS] = st_random_next(&seed);
		for (int k = 0; k < 4; k++)
			area->chunks[k] = (struct st_probe_chunk){
			        (uint32_t)(st_random_next(&seed) % 7),
			        (uint32_t)st_random_next(&seed), st_random_next(&seed)};
		area->chunks[4].record = (uint32_t)st_random_next(&seed) % ST_PROBE_MOST_RECORDS;
		n_taken = 0;
		st_probe_drain(drain, true);
		for (size_t i = 0; i < n_taken; i++) {
			assert_true(taken[i].function < ST_PROBE_MOST);
			assert_true(taken[i].depth < ST_PROBE_FRAMES);
			assert_true(taken[i].record < ST_PROBE_MOST_RECORDS);
		}
		memset(area->chunks, 0, sizeof area->chunks);
		threads[0].word_at = 0;
		area->full = 0;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_one_event, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_times, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_many, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_thread_that_ends, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_missing_word, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_word_that_never_comes, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_nobody_takes_them, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_signals, make_area, free_area),
	        cmocka_unit_test_setup_teardown(test_damage, make_area, free_area),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
