/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocking calls and signals: SA_RESTART resumes a read, without it the read fails with EINTR;
 * nanosleep, pause, futex and poll never restart; SA_RESETHAND takes the handler away; a full
 * pipe's write is restarted too.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static volatile int hits;
static pthread_t target;
static atomic_int tid;
static int pipe_ends[2];

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	hits++;
}

/* Waits until the main thread sleeps in a system call: its state is S and stays so. */
static void
wait_until_asleep(void)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	for (int asleep = 0; asleep < 3;) {
		FILE *f = fopen(path, "r");
		CHECK(f && fgets(text, sizeof text, f), "cannot read %s", path);
		fclose(f);
		asleep = *(strrchr(text, ')') + 2) == 'S' ? asleep + 1 : 0;
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
}

static void *
disturb(void *arg)
{
	wait_until_asleep();
	pthread_kill(target, SIGUSR1);
	if (arg) {
		while (!hits)
			nanosleep(&(struct timespec){0, 100000}, NULL);
		wait_until_asleep();
		CHECK(write(pipe_ends[1], "x", 1) == 1, "cannot write");
	}
	return NULL;
}

static pthread_t
start(int then_write)
{
	pthread_t thread;

	hits = 0;
	CHECK(!pthread_create(&thread, NULL, disturb, then_write ? &target : NULL), "thread");
	return thread;
}

static void
expect_interrupted(const char *what, long result, pthread_t thread)
{
	CHECK(result == -1 && errno == EINTR, "%s gave %ld, errno %d", what, result, errno);
	pthread_join(thread, NULL);
	CHECK(hits == 1, "%s: %d handlers ran", what, hits);
}

static void
reads(void)
{
	char c = 0;
	pthread_t thread;

	handle(SIGUSR1, on_signal, SA_RESTART);
	thread = start(1);
	CHECK_EQ(read(pipe_ends[0], &c, 1), 1);
	pthread_join(thread, NULL);
	CHECK(c == 'x' && hits == 1, "restarted read");
	handle(SIGUSR1, on_signal, 0);
	thread = start(0);
	expect_interrupted("read", read(pipe_ends[0], &c, 1), thread);
}

static void
others(int flags)
{
	struct timespec ten = {10, 0}, left = {0, 0};
	uint32_t word = 0;
	pthread_t thread;

	handle(SIGUSR1, on_signal, flags);
	thread = start(0);
	expect_interrupted("nanosleep", nanosleep(&ten, &left), thread);
	CHECK(left.tv_sec >= 5 && left.tv_sec < 10, "%ld s left", left.tv_sec);
	thread = start(0);
	expect_interrupted("pause", pause(), thread);
	thread = start(0);
	expect_interrupted("poll", poll(&(struct pollfd){pipe_ends[0], POLLIN, 0}, 1, 10000),
	                   thread);
	thread = start(0);
	expect_interrupted("futex", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ten, 0, 0),
	                   thread);
}

static void
once(void)
{
	struct sigaction now;

	handle(SIGUSR2, on_signal, (int)SA_RESETHAND);
	hits = 0;
	raise_here(SIGUSR2);
	CHECK_EQ(hits, 1);
	sigaction(SIGUSR2, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL, "SA_RESETHAND left the handler");
	pid_t child = fork();
	if (!child) {
		raise_here(SIGUSR2);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2, "status %#x", status);
}

int
main(void)
{
	target = pthread_self();
	tid = gettid();
	CHECK(!pipe(pipe_ends), "pipe failed");
	reads();
	others(0);
	others(SA_RESTART);
	once();
	puts("interrupted calls restart or fail as they should");
	return 0;
}
