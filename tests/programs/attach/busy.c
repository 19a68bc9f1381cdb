/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * To be attached and detached while it runs: threads that compute, that sleep in system calls of
 * many kinds, and that are in signal handlers on alternate stacks. All of them check that nothing
 * of it can be seen: sums, no EINTR, times, signal masks, alternate stacks, dispositions.
 *
 * busy [THREADS [SECONDS]]: so many of each kind; 0 threads: the main thread alone, computing. Runs
 * until its standard input ends, or for so many seconds.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int stop, failures, interrupted;
static atomic_long turns, signals;
static struct sigaction at_start[NSIG];

static void
fail(const char *what, long a, long b)
{
	if (atomic_fetch_add(&failures, 1) < 20)
		fprintf(stderr, "busy: %s: %ld %ld (errno %d)\n", what, a, b, errno);
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t
work(int n)
{
	uint64_t x = 1;
	double f = 1;
	for (int i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		f = f * 0.5 + (double)(x >> 60);
	}
	uint64_t bits;
	memcpy(&bits, &f, 8);
	return x ^ bits;
}

/* A thread's own signal mask and alternate stack, and that it sees them unchanged. */
struct own {
	sigset_t mask;
	stack_t stack;
};

static void
begin(struct own *own, int signo)
{
	memset(own, 0, sizeof *own); /* so that padding compares equal */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, signo);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	sigaltstack(&stack, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &own->mask);
	sigaltstack(NULL, &own->stack);
}

static void
check(const struct own *own)
{
	sigset_t mask;
	stack_t stack;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	sigaltstack(NULL, &stack);
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&mask, s) != sigismember(&own->mask, s))
			fail("signal mask", s, sigismember(&mask, s));
	if (stack.ss_sp != own->stack.ss_sp || stack.ss_size != own->stack.ss_size ||
	    stack.ss_flags != own->stack.ss_flags)
		fail("alternate stack", (long)stack.ss_sp, stack.ss_flags);
	turns++;
}

static void *
computes(void *arg)
{
	struct own own;
	uint64_t right = work(100000);
	(void)arg;
	begin(&own, SIGUSR2);
	while (!stop) {
		if (work(100000) != right)
			fail("sum", 0, 0);
		check(&own);
	}
	return NULL;
}

/* Strobe's agent may be killed while it has us stopped: then the kernel lets us go with EINTR.
 * Told, but no failure, where that is said to happen: BUSY_AGENT_DIES. */
static int
was_interrupted(long ret)
{
	if (ret != -1 || errno != EINTR || !getenv("BUSY_AGENT_DIES"))
		return 0;
	atomic_fetch_add(&interrupted, 1);
	return 1;
}

static void *
naps(void *arg)
{
	struct own own;
	(void)arg;
	begin(&own, SIGWINCH);
	while (!stop) {
		struct timespec t = {0, 30000000}, rest = {0, 0};
		double start = now();
		int ret = nanosleep(&t, &rest);
		if (was_interrupted(ret))
			continue;
		if (ret != 0)
			fail("nanosleep", ret, rest.tv_nsec);
		if (now() - start < 0.0299)
			fail("nanosleep was short, us", (long)((now() - start) * 1e6), 0);
		check(&own);
	}
	return NULL;
}

static int lane[2];

static void *
reads(void *arg)
{
	struct own own;
	(void)arg;
	begin(&own, SIGUSR2);
	for (unsigned char byte; !stop;) {
		ssize_t n = read(lane[0], &byte, 1);
		if (n != 1)
			fail("read", n, 0);
		check(&own);
	}
	return NULL;
}

static int event;

static void *
polls_events(void *arg)
{
	struct own own;
	struct epoll_event e = {.events = EPOLLIN};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	(void)arg;
	begin(&own, SIGURG);
	epoll_ctl(ep, EPOLL_CTL_ADD, event, &e);
	while (!stop) {
		int n = epoll_wait(ep, &e, 1, 20000);
		if (was_interrupted(n))
			continue;
		if (n < 0)
			fail("epoll_wait", n, 0);
		uint64_t value;
		if (n == 1 && read(event, &value, 8) != 8 && errno != EAGAIN)
			fail("eventfd", 0, 0);
		check(&own);
	}
	close(ep);
	return NULL;
}

static void *
waits(void *arg)
{
	struct own own;
	static int word;
	unsigned turn = 0;
	(void)arg;
	begin(&own, SIGUSR2);
	while (!stop) {
		struct timespec t = {0, 20000000};
		struct timeval tv = {0, 20000};
		double start = now();
		long ret = 0;
		switch (turn++ % 4) {
		case 0:
			ret = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
			ret = ret == -1 && errno == ETIMEDOUT ? 0 : ret ? ret : 1;
			break;
		case 1:
			ret = poll(NULL, 0, 20);
			break;
		case 2:
			ret = select(0, NULL, NULL, NULL, &tv);
			break;
		default:
			ret = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		}
		if (was_interrupted(ret))
			continue;
		if (ret != 0)
			fail("wait", turn, ret);
		if (now() - start < 0.0199)
			fail("wait was short, us", (long)((now() - start) * 1e6), turn);
		check(&own);
	}
	return NULL;
}

static _Thread_local volatile int inside;

/* Computes on the alternate stack. */
static void
on_signal(int signo, siginfo_t *info, void *context)
{
	stack_t stack;
	(void)info;
	(void)context;
	sigaltstack(NULL, &stack);
	if (signo != SIGRTMIN || !(stack.ss_flags & SS_ONSTACK))
		fail("handler", signo, stack.ss_flags);
	uint64_t first = work(30000);
	if (work(30000) != first)
		fail("sum in a handler", 0, 0);
	inside++;
	signals++;
}

/* Interrupted all the time by a timer of its own. */
static void *
is_interrupted(void *arg)
{
	struct own own;
	uint64_t right = work(20000);
	(void)arg;
	begin(&own, SIGUSR2);
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	e._sigev_un._tid = (int)syscall(SYS_gettid);
	timer_t timer;
	struct itimerspec every = {{0, 3000000}, {0, 3000000}};
	timer_create(CLOCK_MONOTONIC, &e, &timer);
	timer_settime(timer, 0, &every, NULL);
	while (!stop) {
		if (work(20000) != right)
			fail("interrupted sum", 0, 0);
		check(&own);
	}
	timer_delete(timer);
	return NULL;
}

static void *
child(void *arg)
{
	*(uint64_t *)arg = work(1000);
	return NULL;
}

/* Threads that come and go. */
static void *
makes_threads(void *arg)
{
	struct own own;
	uint64_t right = work(1000);
	(void)arg;
	begin(&own, SIGUSR2);
	while (!stop) {
		pthread_t t;
		uint64_t sum = 0;
		if (pthread_create(&t, NULL, child, &sum) != 0) {
			fail("pthread_create", 0, 0);
			continue;
		}
		pthread_join(t, NULL);
		if (sum != right)
			fail("sum of a thread", 0, 0);
		usleep(2000);
		check(&own);
	}
	return NULL;
}

static void
check_dispositions(void)
{
	for (int s = 1; s < NSIG; s++) {
		struct sigaction a;
		if (sigaction(s, NULL, &a) != 0)
			continue;
		if (a.sa_sigaction != at_start[s].sa_sigaction ||
		    a.sa_flags != at_start[s].sa_flags ||
		    sigismember(&a.sa_mask, SIGUSR1) != sigismember(&at_start[s].sa_mask, SIGUSR1))
			fail("disposition", s, (long)a.sa_sigaction);
	}
}

static void *(*const kinds[])(void *) = {computes, naps,           reads,        polls_events,
                                         waits,    is_interrupted, makes_threads};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The main thread: feeds the others, until its input ends or the time is over. */
static void
feed(double end)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	while (end ? now() < end : poll(&input, 1, 0) == 0) {
		uint64_t one = 1;
		usleep(1000);
		if (write(lane[1], "x", 1) != 1 || write(event, &one, 8) != 8)
			fail("write", 0, 0);
		check_dispositions();
	}
}

static void
alone(double end)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	struct own own;
	uint64_t right = work(100000);
	begin(&own, SIGUSR2);
	while (end ? now() < end : poll(&input, 1, 0) == 0) {
		if (work(100000) != right)
			fail("sum", 0, 0);
		check(&own);
		check_dispositions();
	}
}

int
main(int argc, char **argv)
{
	int each = argc > 1 ? atoi(argv[1]) : 1, n = 0;
	double end = argc > 1 ? 0 : now() + 0.3;
	pthread_t threads[1024];
	if (argc > 2)
		end = now() + atof(argv[2]);
	struct sigaction handle = {.sa_sigaction = on_signal,
	                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigaddset(&handle.sa_mask, SIGUSR1);
	sigaction(SIGRTMIN, &handle, NULL);
	signal(SIGUSR1, SIG_IGN);
	for (int s = 1; s < NSIG; s++)
		sigaction(s, NULL, &at_start[s]);
	event = eventfd(0, EFD_NONBLOCK);
	if (pipe(lane) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	if (each == 0)
		alone(end);
	for (int i = 0; i < each; i++)
		for (int k = 0; k < KINDS && n < 1024; k++)
			if (pthread_create(&threads[n++], NULL, kinds[k], NULL) != 0)
				return 1;
	if (each)
		feed(end);
	stop = 1;
	for (int i = 0; i < n; i++) {
		uint64_t one = 1;
		for (int k = 0; k < n; k++)
			if (write(lane[1], "x", 1) != 1 || write(event, &one, 8) != 8)
				fail("write", 0, 0);
		pthread_join(threads[i], NULL);
	}
	check_dispositions();
	if (interrupted)
		fprintf(stderr, "busy: %d waits were interrupted\n", interrupted);
	puts(failures ? "failed" : "fine");
	return failures != 0;
}
