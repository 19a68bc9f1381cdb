/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs with known run times. Most sleep instead of computing, so that they take the same time
 * on a busy machine. usage: planted
 * serial|pair|unequal|compute|service|eight|answer|hazards|crash|hang|deadlock|lost|spin|late-service|output|exit|for-ever|rarely|abort
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

enum { ROUNDS = 10 };

static void
nap_us(long us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

static long
elapsed_us(const struct timespec *since)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000000 + (now.tv_nsec - since->tv_nsec) / 1000;
}

/* ---- one thread: a quarter of the time is in one function ---- */

CALLED static void
quarter(void)
{
	nap_us(1000);
}

CALLED static void
other_half(void)
{
	nap_us(2000);
}

CALLED static void
the_rest(void)
{
	nap_us(1000);
}

static void
serial(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		quarter();
		other_half();
		the_rest();
	}
}

/* ---- two threads that meet: only the longer one matters ---- */

static pthread_barrier_t barrier;

CALLED static void
left_part(void)
{
	nap_us(5000);
}

CALLED static void
right_part(void)
{
	nap_us(4000);
}

CALLED static void
idle_part(void)
{
	nap_us(100);
}

static void *
right_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		right_part();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *
idle_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		idle_part();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void
meet(void *(*other)(void *))
{
	pthread_t thread;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		left_part();
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
}

/* ---- two threads that compute ---- */

static volatile unsigned long sum;

static void
compute(long us)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		sum++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

CALLED static void
main_part(void)
{
	compute(4000);
}

CALLED static void
worker_part(void)
{
	compute(3000);
}

static void *
computing_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		worker_part();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void
compute_together(void)
{
	pthread_t thread;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, computing_thread, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		main_part();
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
}

/* ---- a service, which does not end ---- */

CALLED static void
read_request(void)
{
	compute(300);
}

CALLED static void
answer_request(void)
{
	compute(700);
}

CALLED static void
serve_request(void)
{
	read_request();
	answer_request();
}

CALLED static void
never_called(void)
{
	puts("never");
}

static void
serve(void)
{
	for (;;)
		serve_request();
}

/* ---- a service of which eight requests are always in flight ----
 * A thread that ends a request begins the next one at once, and any thread may end any request. */

enum { IN_FLIGHT = 8, SERVERS = 2 };
static struct {
	pthread_mutex_t lock;
	int waiting[IN_FLIGHT], n;
} line_of_requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

CALLED static void
work_on_request(void)
{
	compute(300);
}

/* Writes to memory, so that the calls of the two functions are not the same code. */
CALLED static void
accept_request(volatile int *request)
{
	(*request)++;
}

CALLED static void
finish_request(volatile int *request)
{
	(*request)--;
}

/* The longest wait is over first. */
static void
serve_next(void)
{
	pthread_mutex_lock(&line_of_requests.lock);
	int request = line_of_requests.waiting[0];
	line_of_requests.n--;
	memmove(line_of_requests.waiting, line_of_requests.waiting + 1,
	        (size_t)line_of_requests.n * sizeof request);
	pthread_mutex_unlock(&line_of_requests.lock);
	work_on_request();
	finish_request(&request);
	accept_request(&request);
	pthread_mutex_lock(&line_of_requests.lock);
	line_of_requests.waiting[line_of_requests.n++] = request;
	pthread_mutex_unlock(&line_of_requests.lock);
}

static void *
serve_in_line(void *arg)
{
	for (;;)
		serve_next();
	return arg;
}

static void
serve_eight(void)
{
	pthread_t threads[SERVERS];
	for (int i = 0; i < IN_FLIGHT; i++) {
		accept_request(&line_of_requests.waiting[i]);
		line_of_requests.n++;
	}
	for (int i = 0; i < SERVERS; i++)
		pthread_create(&threads[i], NULL, serve_in_line, NULL);
	pthread_join(threads[0], NULL);
}

/* ---- a service that answers each line of its input: a quarter of the time is in one function ----
 */

CALLED static void
answer_line(const char *line)
{
	quarter();
	other_half();
	the_rest();
	fputs(line, stdout);
	fflush(stdout);
}

static void
answer(void)
{
	char line[64];
	while (fgets(line, sizeof line, stdin))
		answer_line(line);
}

/* ---- what a traced process must not notice ---- */

static volatile sig_atomic_t signals;

static void
count_signal(int signo)
{
	(void)signo;
	signals++;
}

static void *
signalling_thread(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		worker_part();
	}
	return NULL;
}

/* Signals, threads that end, a child, and exec. */
static int
hazards(void)
{
	pthread_t self = pthread_self(), thread;
	int status = 0;
	signal(SIGUSR1, count_signal);
	signal(SIGUSR2, count_signal);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, signalling_thread, &self);
		worker_part();
		pthread_join(thread, NULL);
	}
	raise(SIGUSR2);
	const pid_t child = fork();
	if (child == 0) {
		worker_part();
		_exit(5);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	printf("%s %d\n", signals > 1 ? "signals" : "none", WEXITSTATUS(status));
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
	return 1;
}

/* ---- faults that only noise brings out ---- */

static struct timespec begin;

CALLED static void
in_time(void)
{
	clock_gettime(CLOCK_MONOTONIC, &begin);
}

CALLED static void
may_be_late(void)
{
	nap_us(100);
}

/* Noise of more than a second is what it takes. */
static int
was_late(void)
{
	in_time();
	may_be_late();
	return elapsed_us(&begin) > 1000000;
}

/* A service that does not end if it begins late. */
static void
serve_late(void)
{
	serve_request();
	if (was_late())
		serve();
}

CALLED static void
wait_for_ever(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
}

/* Waits for ever in the n-th of the runs that the file counts by its bytes. */
CALLED static void
wait_rarely(const char *file, int n)
{
	FILE *runs = fopen(file, "ae");
	if (!runs)
		return;
	fputc('.', runs);
	may_be_late();
	if (ftell(runs) == n) {
		fflush(runs);
		wait_for_ever();
	}
	fclose(runs);
}

/* Two threads that take two locks in different orders, both of them after the other has its first
 * one. */
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER,
                       second_lock = PTHREAD_MUTEX_INITIALIZER;

CALLED static void
take_second_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	sum++;
}

static void *
other_order(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&second_lock);
	pthread_barrier_wait(&barrier);
	take_second_lock(&first_lock);
	return NULL;
}

static void
lock_each_other_out(void)
{
	pthread_t thread;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other_order, NULL);
	pthread_mutex_lock(&first_lock);
	pthread_barrier_wait(&barrier);
	take_second_lock(&second_lock);
	pthread_join(thread, NULL);
}

/* A thread that waits for a condition after its signal. */
static void *
wait_too_late(void *arg)
{
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	(void)arg;
	pthread_cond_signal(&condition);
	pthread_mutex_lock(&first_lock);
	pthread_cond_wait(&condition, &first_lock);
	return NULL;
}

static void
lose_wakeup(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_too_late, NULL);
	pthread_join(thread, NULL);
}

CALLED static void
spin(void)
{
	for (;;)
		sum++;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "serial"))
		serial();
	else if (!strcmp(what, "pair"))
		meet(right_thread);
	else if (!strcmp(what, "unequal"))
		meet(idle_thread);
	else if (!strcmp(what, "compute"))
		compute_together();
	else if (!strcmp(what, "service"))
		serve();
	else if (!strcmp(what, "eight"))
		serve_eight();
	else if (!strcmp(what, "answer"))
		answer();
	else if (!strcmp(what, "never"))
		never_called();
	else if (!strcmp(what, "hazards"))
		return hazards();
	else if (!strcmp(what, "crash") && was_late())
		abort();
	else if (!strcmp(what, "hang") && was_late())
		wait_for_ever();
	else if (!strcmp(what, "deadlock") && was_late())
		lock_each_other_out();
	else if (!strcmp(what, "lost") && was_late())
		lose_wakeup();
	else if (!strcmp(what, "spin") && was_late())
		spin();
	else if (!strcmp(what, "late-service"))
		serve_late();
	else if (!strcmp(what, "for-ever"))
		wait_for_ever();
	else if (!strcmp(what, "rarely") && argc > 3)
		wait_rarely(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "abort"))
		abort();
	else if (!strcmp(what, "output"))
		puts(was_late() ? "late" : "in time");
	else if (!strcmp(what, "exit"))
		return was_late();
	return 0;
}
