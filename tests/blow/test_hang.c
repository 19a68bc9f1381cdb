/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hangs are judged: threads with invented waits, and processes that really hang. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "blow/hang.h"

/* ---- invented threads ---- */

static void
add_thread(struct st_hang *h, struct st_hang_thread t)
{
	struct st_hang_thread *slot = ST_PUSH(&h->threads);
	assert_non_null(slot);
	*slot = t;
	slot->state = slot->state ? slot->state : 'S';
	strcpy(slot->name, "p");
}

/* A thread that waits on a futex. */
static struct st_hang_thread
waiter(int64_t tid, int64_t holder)
{
	return (struct st_hang_thread){
	        .tid = tid, .call = SYS_futex, .waits = true, .holder = holder};
}

static void
expect_judgement(struct st_hang *h, enum st_blow_fault fault, const char *explanation)
{
	struct st_text text;
	assert_true(st_text_begin(&text));
	st_hang_explain(h, text.out);
	char *written = st_text_end(&text);
	assert_int_equal(st_hang_judge(h), fault);
	assert_string_equal(written, explanation);
	free(written);
	free(h->threads.v);
	h->threads.v = NULL;
	h->threads.n = 0;
}

static void
test_cycles(void **state)
{
	struct st_hang h = {0};
	(void)state;
	add_thread(&h, waiter(1, 1));
	expect_judgement(&h, ST_BLOW_DEADLOCK, "thread 1 (p) waits for a lock that it holds");
	/* Thread 1 waits for the cycle, but is not part of it. */
	h = (struct st_hang){0};
	add_thread(&h, waiter(1, 2));
	add_thread(&h, waiter(2, 3));
	add_thread(&h, waiter(3, 4));
	add_thread(&h, waiter(4, 2));
	assert_int_equal(st_hang_cycle(&h), 1);
	expect_judgement(&h, ST_BLOW_DEADLOCK,
	                 "thread 2 (p) waits for a lock of thread 3 (p); thread 3 (p) waits for a "
	                 "lock of thread 4 (p); thread 4 (p) waits for a lock of thread 2 (p)");
	/* One waits for the end of the other, which needs its lock. */
	h = (struct st_hang){0};
	add_thread(&h, waiter(1, 2));
	h.threads.v[0].joins = true;
	add_thread(&h, waiter(2, 1));
	expect_judgement(
	        &h, ST_BLOW_DEADLOCK,
	        "thread 1 (p) waits for the end of thread 2 (p); thread 2 (p) waits for a lock of "
	        "thread 1 (p)");
}

static void
test_no_cycles(void **state)
{
	static const char suspected[] = "suspected: all threads wait for a wake-up, and none is "
	                                "left that could give one";
	struct st_hang h = {0};
	(void)state;
	add_thread(&h, waiter(1, 2));
	add_thread(&h, waiter(2, 0));
	assert_int_equal(st_hang_cycle(&h), SIZE_MAX);
	expect_judgement(&h, ST_BLOW_LOST_WAKEUP, suspected);
	/* A thread that has ended cannot wake one. */
	h = (struct st_hang){0};
	add_thread(&h, (struct st_hang_thread){.tid = 1, .call = -1, .state = 'Z'});
	add_thread(&h, waiter(2, 0));
	expect_judgement(&h, ST_BLOW_LOST_WAKEUP, suspected);
	/* The holder is not there any more. */
	h = (struct st_hang){0};
	add_thread(&h, waiter(1, 77));
	expect_judgement(&h, ST_BLOW_LOST_WAKEUP, suspected);
}

static void
test_cannot_tell(void **state)
{
	struct st_hang h = {0};
	(void)state;
	expect_judgement(&h, ST_BLOW_HANG, "the threads of the program cannot be looked at");
	add_thread(&h, waiter(1, 0));
	add_thread(&h, (struct st_hang_thread){.tid = 2, .call = 7});
	expect_judgement(&h, ST_BLOW_HANG, "cannot tell: thread 2 (p) is in the system call poll");
	h = (struct st_hang){0};
	add_thread(&h, (struct st_hang_thread){.tid = 2, .call = 99999});
	expect_judgement(&h, ST_BLOW_HANG, "cannot tell: thread 2 (p) is in system call 99999");
	h = (struct st_hang){0};
	add_thread(&h, (struct st_hang_thread){.tid = 2, .call = -1});
	expect_judgement(&h, ST_BLOW_HANG, "cannot tell: thread 2 (p) is in no system call");
	h = (struct st_hang){0};
	add_thread(&h, waiter(1, 0));
	h.threads.v[0].shared = true;
	expect_judgement(
	        &h, ST_BLOW_HANG,
	        "cannot tell: thread 1 (p) waits for a wake-up, which another process may give");
	/* A time limit ends a cycle. */
	h = (struct st_hang){0};
	add_thread(&h, waiter(1, 2));
	add_thread(&h, waiter(2, 1));
	h.threads.v[1].timed = true;
	expect_judgement(
	        &h, ST_BLOW_HANG,
	        "cannot tell: thread 2 (p) waits for a lock of thread 1 (p) with a time limit");
}

/* ---- processes that hang ---- */

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *
take_one(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&two);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&one);
	return NULL;
}

static void *
wait_in_vain(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&one);
	pthread_cond_wait(&never, &one);
	return NULL;
}

static void
lock_crosswise(void)
{
	pthread_t thread;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, take_one, NULL);
	pthread_mutex_lock(&one);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&two);
}

static void
join_in_vain(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_in_vain, NULL);
	pthread_join(thread, NULL);
}

static void
read_in_vain(void)
{
	int ends[2];
	char byte;
	if (pipe(ends) == 0 && read(ends[0], &byte, 1) > 0)
		_exit(1);
}

/* Whether the process has that many threads and all of them wait. */
static bool
all_wait(const struct st_hang *h, size_t threads)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].state != 'S' || h->threads.v[i].call < 0)
			return false;
	return h->threads.n == threads;
}

/* Looks at a process that runs `hang`, until it has judged it as `expected`: before its threads
 * have come to their last waits, it may judge them in another way. */
static struct st_hang
hang_of(void (*hang)(void), size_t threads, enum st_blow_fault expected)
{
	enum { LOOKS = 6000 };
	const struct timespec nap = {0, 10000000};
	struct st_hang h = {0};
	const pid_t pid = fork();
	if (pid == 0) {
		hang();
		_exit(0);
	}
	assert_true(pid > 0);
	for (int i = 0; i < LOOKS; i++) {
		assert_int_equal(st_hang_look(&h, pid), ST_OK);
		if (all_wait(&h, threads) && st_hang_judge(&h) == expected)
			break;
		free(h.threads.v);
		h = (struct st_hang){0};
		nanosleep(&nap, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(h.threads.n, threads);
	return h;
}

static void
test_deadlocked_process(void **state)
{
	struct st_hang h = hang_of(lock_crosswise, 2, ST_BLOW_DEADLOCK);
	(void)state;
	assert_int_equal(h.threads.v[0].holder, h.threads.v[1].tid);
	assert_int_equal(h.threads.v[1].holder, h.threads.v[0].tid);
	assert_false(h.threads.v[0].joins || h.threads.v[1].joins);
	assert_true(*h.threads.v[0].name);
	free(h.threads.v);
}

static void
test_process_without_wakeup(void **state)
{
	struct st_hang h = hang_of(join_in_vain, 2, ST_BLOW_LOST_WAKEUP);
	(void)state;
	assert_true(h.threads.v[0].joins);
	assert_int_equal(h.threads.v[0].holder, h.threads.v[1].tid);
	assert_int_equal(h.threads.v[1].holder, 0);
	free(h.threads.v);
}

static void
test_reading_process(void **state)
{
	struct st_hang h = hang_of(read_in_vain, 1, ST_BLOW_HANG);
	(void)state;
	assert_int_equal(h.threads.v[0].call, SYS_read);
	assert_false(h.threads.v[0].waits);
	free(h.threads.v);
}

static void
test_no_process(void **state)
{
	struct st_hang h;
	const pid_t pid = fork();
	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(st_hang_look(&h, pid), ST_OK);
	assert_int_equal(h.threads.n, 0);
	assert_int_equal(st_hang_judge(&h), ST_BLOW_HANG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_cycles),
	        cmocka_unit_test(test_no_cycles),
	        cmocka_unit_test(test_cannot_tell),
	        cmocka_unit_test(test_deadlocked_process),
	        cmocka_unit_test(test_process_without_wakeup),
	        cmocka_unit_test(test_reading_process),
	        cmocka_unit_test(test_no_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
