/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that measures its own time, beside a thread that computes in `work` for half of its
 * time. Each step adds a line to the file: its name, how long it took by the program's clocks and
 * by the kernel's, which it asks by system calls of its own, and, of steps that wait for a
 * deadline, by how much that had passed, all in ns. Exit code 1: a clock went back. usage: clocks
 * FILE [for-ever]
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

enum { PART_NS = 1000000, SECOND = 1000000000, LIMIT_NS = 100000000, LATER_NS = 60000000 };
static volatile unsigned long sum;
static volatile int ended;
static FILE *out;

static long
ns_of(struct timespec t)
{
	return t.tv_sec * SECOND + t.tv_nsec;
}

static long
own_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return ns_of(t);
}

/* The kernel's clock, by a system call that is not the C library's. */
static long
real_ns(clockid_t clock)
{
	struct timespec t;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(SYS_clock_gettime), "D"((long)clock), "S"(&t)
	                 : "rcx", "r11", "memory");
	return ns_of(t);
}

static void
compute(long ns)
{
	const long begin = own_ns(CLOCK_THREAD_CPUTIME_ID);
	while (own_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
		for (int i = 0; i < 1000; i++)
			sum++;
}

CALLED static void
work(void)
{
	compute(PART_NS);
	__asm__ volatile(""); /* no tail call */
}

CALLED static void
other_work(void)
{
	compute(PART_NS);
	__asm__ volatile("");
}

static void *
compute_both(void *arg)
{
	while (!ended) {
		work();
		other_work();
	}
	return arg;
}

/* ---- steps ---- */

struct step {
	const char *name;
	long own, real;
};

static struct step
begin_step(const char *name)
{
	return (struct step){name, own_ns(CLOCK_MONOTONIC), real_ns(CLOCK_MONOTONIC)};
}

static void
end_step(const struct step *s, long late)
{
	const long own = own_ns(CLOCK_MONOTONIC), real = real_ns(CLOCK_MONOTONIC);
	fprintf(out, "%s %ld %ld %ld\n", s->name, own - s->own, real - s->real, late);
}

static struct timespec
at(clockid_t clock, long ns)
{
	const long when = own_ns(clock) + ns;
	return (struct timespec){when / SECOND, when % SECOND};
}

/* It ends after a time by its own clock, and never goes back. */
static void
count_to_limit(void)
{
	static const clockid_t clocks[] = {
	        CLOCK_REALTIME, CLOCK_MONOTONIC,       CLOCK_MONOTONIC_RAW,   CLOCK_BOOTTIME,
	        CLOCK_TAI,      CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE};
	enum { N = sizeof clocks / sizeof *clocks };
	long last[N] = {0};
	const struct step s = begin_step("limit");
	const long end = own_ns(CLOCK_MONOTONIC) + LIMIT_NS;
	while (own_ns(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < N; i++) {
			const long now = own_ns(clocks[i]);
			if (now < last[i]) {
				fprintf(out, "clock %d went back by %ld\n", clocks[i],
				        last[i] - now);
				fflush(out);
				_exit(1);
			}
			last[i] = now;
		}
	end_step(&s, own_ns(CLOCK_MONOTONIC) - end);
}

static void
sleep_for(void)
{
	const struct step s = begin_step("sleep");
	nanosleep(&(struct timespec){0, LATER_NS}, NULL);
	end_step(&s, 0);
}

static void
sleep_until(void)
{
	const struct step s = begin_step("clock_nanosleep");
	const struct timespec t = at(CLOCK_MONOTONIC, LATER_NS);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	end_step(&s, own_ns(CLOCK_MONOTONIC) - ns_of(t));
}

static void
wait_for_condition(clockid_t clock)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	const bool is_real = clock == CLOCK_REALTIME;
	const struct step s =
	        begin_step(is_real ? "pthread_cond_timedwait" : "pthread_cond_clockwait");
	const struct timespec t = at(clock, LATER_NS);
	pthread_mutex_lock(&mutex);
	while ((is_real ? pthread_cond_timedwait(&cond, &mutex, &t)
	                : pthread_cond_clockwait(&cond, &mutex, clock, &t)) != ETIMEDOUT)
		;
	end_step(&s, own_ns(clock) - ns_of(t));
}

static void
wait_for_semaphore(void)
{
	sem_t semaphore;
	sem_init(&semaphore, 0, 0);
	const struct step s = begin_step("sem_timedwait");
	const struct timespec t = at(CLOCK_REALTIME, LATER_NS);
	while (sem_timedwait(&semaphore, &t) != 0 && errno == EINTR)
		;
	end_step(&s, own_ns(CLOCK_REALTIME) - ns_of(t));
}

static void *
lock_late(void *arg)
{
	const struct step s = begin_step("pthread_mutex_timedlock");
	const struct timespec t = at(CLOCK_REALTIME, LATER_NS);
	if (pthread_mutex_timedlock(arg, &t) == ETIMEDOUT)
		end_step(&s, own_ns(CLOCK_REALTIME) - ns_of(t));
	return NULL;
}

static void
wait_for_mutex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, lock_late, &mutex);
	pthread_join(thread, NULL);
}

static void
wait_for_timer(void)
{
	const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	const struct step s = begin_step("timerfd_settime");
	const struct itimerspec t = {{0, 0}, at(CLOCK_MONOTONIC, LATER_NS)};
	unsigned long times;
	timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL);
	while (read(timer, &times, sizeof times) < 0 && errno == EINTR)
		;
	end_step(&s, own_ns(CLOCK_MONOTONIC) - ns_of(t.it_value));
	close(timer);
}

static void
wait_by_number(void)
{
	enum { WAIT_BITSET = 9, ALL = -1 };
	int word = 0;
	const struct step s = begin_step("syscall");
	const struct timespec t = at(CLOCK_MONOTONIC, LATER_NS);
	while (syscall(SYS_futex, &word, WAIT_BITSET, 0, &t, NULL, ALL) != 0 && errno != ETIMEDOUT)
		;
	end_step(&s, own_ns(CLOCK_MONOTONIC) - ns_of(t));
}

/* A child of fork is not paused, and its clocks go on from where they were. */
static void
fork_child(void)
{
	const struct step s = begin_step("fork");
	fflush(out);
	const pid_t child = fork();
	if (child == 0) {
		nanosleep(&(struct timespec){0, LATER_NS}, NULL);
		end_step(&s, 0);
		fclose(out);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* How far the program's clocks are behind the kernel's: by each function, in ns. */
static void
compare_clocks(void)
{
	enum { US = 1000 };
	struct timeval day;
	const long real = real_ns(CLOCK_REALTIME), own = own_ns(CLOCK_REALTIME);
	gettimeofday(&day, NULL);
	const long seconds = time(NULL);
	fprintf(out, "clocks %ld %ld %ld\n", real - own,
	        real - (day.tv_sec * SECOND + day.tv_usec * US), own / SECOND - seconds);
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	out = argc > 1 ? fopen(argv[1], "a") : NULL;
	if (!out)
		return 2;
	setlinebuf(out);
	const struct step all = begin_step("all");
	pthread_create(&thread, NULL, compute_both, NULL);
	do {
		count_to_limit();
		sleep_for();
		sleep_until();
		wait_for_condition(CLOCK_REALTIME);
		wait_for_condition(CLOCK_MONOTONIC);
		wait_for_semaphore();
		wait_for_mutex();
		wait_for_timer();
		wait_by_number();
	} while (argc > 2);
	ended = 1;
	pthread_join(thread, NULL);
	fork_child();
	compare_clocks();
	end_step(&all, 0);
	fclose(out);
	return 0;
}
