/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends of threads and processes that race: exit while threads run, start and end; one way per run.
 */
/* strobe-test: name=main args=main exit=3 follow=1 */
/* strobe-test: name=starting args=starting exit=4 follow=1 */
/* strobe-test: name=all args=all exit=5 follow=1 */
/* strobe-test: name=detached args=detached exit=6 */
/* strobe-test: name=cancel args=cancel exit=0 */
/* strobe-test: name=signal args=signal exit=143 */
/* strobe-test: name=leader args=leader exit=0 */
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static atomic_long ticks, cleaned;
static pthread_barrier_t barrier;

static void *
spin(void *arg)
{
	(void)arg;
	for (;;)
		ticks++;
	return NULL;
}

static void *
short_life(void *arg)
{
	(void)arg;
	ticks++;
	return NULL;
}

/* Detached from the beginning: pthread_detach of glibc 2.36 reads what a thread leaves when it ends
 * meanwhile. */
static int
create(void *(*run)(void *), void *arg)
{
	pthread_attr_t detached;
	pthread_t t;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	return pthread_create(&t, &detached, run, arg);
}

static void *
creator(void *arg)
{
	for (;;)
		create(short_life, arg);
	return NULL;
}

static void *
exiting(void *arg)
{
	pthread_barrier_wait(&barrier);
	_exit((int)(long)arg);
}

static void
start(void *(*run)(void *), void *arg, int n)
{
	for (int i = 0; i < n; i++)
		CHECK(!create(run, arg), "thread");
}

/* Does something twenty times in children, then once itself. */
static void
in_children(void (*what)(void), int code)
{
	int status;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0, "fork");
		if (!pid)
			what();
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		              WEXITSTATUS(status) == code,
		      "child %d ended with %#x", i, status);
	}
	what();
}

static void
main_exits(void)
{
	start(spin, NULL, 4);
	while (ticks < 100)
		sched_yield();
	exit(3);
}

static void
while_starting(void)
{
	start(creator, NULL, 2);
	while (ticks < 20)
		sched_yield();
	exit(4);
}

static void
all_at_once(void)
{
	pthread_barrier_init(&barrier, NULL, 9);
	start(exiting, (void *)5, 8);
	pthread_barrier_wait(&barrier);
	_exit(5);
}

static void
detached(void)
{
	start(short_life, NULL, 500);
	while (ticks < 500)
		sched_yield();
	exit(6);
}

static void
on_cleanup(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *
cancelled(void *arg)
{
	char c;

	pthread_cleanup_push(on_cleanup, NULL);
	if (arg) {
		CHECK(read(*(int *)arg, &c, 1) == 0, "read");
	} else {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		spin(NULL);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void
cancel(void)
{
	int ends[2];
	pthread_t t;
	void *result;

	CHECK(!pipe(ends), "pipe");
	for (int i = 0; i < 100; i++) {
		CHECK(!pthread_create(&t, NULL, cancelled, i % 2 ? ends : NULL), "thread");
		if (i % 3)
			sched_yield();
		CHECK(!pthread_cancel(t), "pthread_cancel");
		CHECK(!pthread_join(t, &result) && result == PTHREAD_CANCELED,
		      "thread %d not cancelled", i);
	}
	CHECK(cleaned <= 100, "%ld clean-ups", cleaned);
	exit(0);
}

static void
by_signal(void)
{
	start(spin, NULL, 4);
	start(creator, NULL, 1);
	while (ticks < 1000)
		sched_yield();
	kill(getpid(), SIGTERM);
	for (;;)
		pause();
}

static void *
after_the_leader(void *arg)
{
	char path[64], text[256];

	(void)arg;
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
	for (;;) { /* until the leader is a zombie */
		FILE *f = fopen(path, "r");
		CHECK(f && fgets(text, sizeof text, f), "no leader");
		fclose(f);
		if (*(strrchr(text, ')') + 2) == 'Z')
			break;
		sched_yield();
	}
	start(short_life, NULL, 10);
	while (ticks < 10)
		sched_yield();
	puts("the leader has left");
	fflush(stdout);
	_exit(0);
}

static void
leader_leaves(void)
{
	start(after_the_leader, NULL, 1);
	syscall(SYS_exit, 9);
}

int
main(int argc, char **argv)
{
	CHECK(argc == 2, "say what to do");
	const char *how = argv[1];
	if (!strcmp(how, "main"))
		in_children(main_exits, 3);
	if (!strcmp(how, "starting"))
		in_children(while_starting, 4);
	if (!strcmp(how, "all"))
		in_children(all_at_once, 5);
	if (!strcmp(how, "detached"))
		detached();
	if (!strcmp(how, "cancel"))
		cancel();
	if (!strcmp(how, "signal"))
		by_signal();
	if (!strcmp(how, "leader"))
		leader_leaves();
	return 99;
}
