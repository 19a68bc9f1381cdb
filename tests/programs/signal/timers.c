/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Timers of every kind fire: alarm, setitimer real, virtual and profiling, timer_create by signal
 * and by thread, timerfd; clocks never go back, through the vdso and by system call.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

static volatile int hits[65];
static atomic_int notified;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	hits[sig]++;
}

static void
on_notify(union sigval value)
{
	CHECK_EQ(value.sival_int, 99);
	notified++;
}

static void
spin_until(int sig, int n)
{
	volatile uint64_t x = 0;

	while (hits[sig] < n)
		x++;
}

static void
interval(int which, int sig)
{
	struct itimerval period = {{0, 2000}, {0, 2000}}, now;

	handle(sig, on_signal, SA_RESTART);
	CHECK(!setitimer(which, &period, NULL), "setitimer");
	CHECK(!getitimer(which, &now) && now.it_interval.tv_usec >= 2000, "getitimer");
	spin_until(sig, 5);
	memset(&period, 0, sizeof period);
	CHECK(!setitimer(which, &period, NULL), "setitimer");
}

static void
posix_timers(void)
{
	struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigevent by_thread = {.sigev_notify = SIGEV_THREAD,
	                             .sigev_notify_function = on_notify};
	struct itimerspec period = {{0, 2000000}, {0, 2000000}};
	timer_t a, b;

	by_thread.sigev_value.sival_int = 99;
	handle(SIGUSR1, on_signal, SA_RESTART);
	CHECK(!timer_create(CLOCK_MONOTONIC, &by_signal, &a) &&
	              !timer_create(CLOCK_REALTIME, &by_thread, &b),
	      "timer_create");
	CHECK(!timer_settime(a, 0, &period, NULL) && !timer_settime(b, 0, &period, NULL),
	      "timer_settime");
	spin_until(SIGUSR1, 5);
	while (notified < 3)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	CHECK(!timer_delete(a) && !timer_delete(b), "timer_delete");
}

static void
by_descriptor(void)
{
	struct itimerspec period = {{0, 1000000}, {0, 1000000}};
	uint64_t total = 0, n;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	CHECK(fd >= 0 && !timerfd_settime(fd, 0, &period, NULL), "timerfd");
	while (total < 10) {
		CHECK_EQ(read(fd, &n, 8), 8);
		total += n;
	}
	close(fd);
}

static void
clocks(void)
{
	static const clockid_t ids[] = {CLOCK_MONOTONIC,         CLOCK_MONOTONIC_RAW,
	                                CLOCK_BOOTTIME,          CLOCK_MONOTONIC_COARSE,
	                                CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID};

	for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		struct timespec before = {0, 0}, now;
		for (int k = 0; k < 2000; k++) {
			long r = k % 2 ? clock_gettime(ids[i], &now)
			               : syscall(SYS_clock_gettime, ids[i], &now);
			CHECK(!r, "clock_gettime");
			CHECK(now.tv_sec > before.tv_sec || (now.tv_sec == before.tv_sec &&
			                                     now.tv_nsec >= before.tv_nsec),
			      "clock %d went back", ids[i]);
			before = now;
		}
	}
	struct timeval tv;
	CHECK(!gettimeofday(&tv, NULL), "gettimeofday");
	long difference = (long)(time(NULL) - tv.tv_sec);
	CHECK(difference >= -1 && difference <= 2, "time and gettimeofday differ by %ld",
	      difference);
	unsigned cpu = 9999, node;
	CHECK(!getcpu(&cpu, &node) && cpu < 4096, "getcpu");
}

/* Blocked until it is waited for: on a busy machine a second may pass before. */
static void
by_alarm(void)
{
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	hits[SIGALRM] = 0;
	handle(SIGALRM, on_signal, 0);
	CHECK(!sigprocmask(SIG_BLOCK, &blocked, &before), "sigprocmask");
	CHECK_EQ(alarm(1), 0);
	CHECK(sigsuspend(&before) == -1 && errno == EINTR && hits[SIGALRM] == 1, "alarm");
	CHECK(!sigprocmask(SIG_SETMASK, &before, NULL), "sigprocmask");
}

int
main(void)
{
	clocks();
	interval(ITIMER_REAL, SIGALRM);
	interval(ITIMER_VIRTUAL, SIGVTALRM);
	interval(ITIMER_PROF, SIGPROF);
	posix_timers();
	by_descriptor();
	by_alarm();
	puts("timers fire, clocks go forward");
	return 0;
}
