/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planted programs of up to three threads, for forecasts: planted CASE ROUNDS F G H. The work of
 * the functions f, g and h is given in percent of its usual amount, so that each of them can really
 * be made faster. With -DWITH_COZ, the end of each round is a progress point of coz.
 *
 *	serial		f 1 ms, then g 3 ms
 *	barrier		f 4 ms in one thread, g 3.2 ms in the other one; then they meet
 *	pipeline	f 4 ms, g 2.4 ms, h 1.2 ms in three threads, by queues of four items
 *	producer	f 2 ms in one thread, g 4 ms in the other one, by a queue of two items
 *	convoy		two threads: f 2 ms under the same lock, then g 0.8 ms
 *	io		a thread sleeps 2.4 ms, then h 0.8 ms; the other one g 4 ms; then they meet
 *	pair		f 4 ms in one thread, g 4 ms in the other one; then they meet
 *	both		two threads: f 2 ms, then g 1 ms, then they meet
 *	short		two threads: ten times f 0.2 ms, then g 0.1 ms, then they meet
 *	sleep		a thread sleeps 4 ms, the other one g 3 ms; then they meet
 *	naps		f 1 ms, then g 3 ms, beside a thread that sleeps 2 ms in each round
 *	steal		two threads take tasks from a common pool: f 2 ms, then g 1 ms
 *	context		by_g calls f for 3 ms, and by_h for 1 ms: of these, G and H are the percents
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_COZ
#include <coz.h>
#else
#define COZ_PROGRESS_NAMED(name) ((void)(name))
#endif

enum { STEPS_OF_MS = 800000, MOST_QUEUED = 4 };
#define CALLED __attribute__((noinline, noipa))

static long percent[3], rounds;

/* A step takes the latency of a multiplication and an addition, and no memory: threads that write
 * to one cache line would make each other slower, so that no forecast could be right. */
#define STEP(x) __asm__ volatile("imul $3, %0\n\tadd $1, %0" : "+r"(x))

/* Each function is a line of its own, since coz makes lines faster. */
/* clang-format off */
CALLED static void
f(double ms)
{
	unsigned long x = 0;
	for (long i = (long)(ms * STEPS_OF_MS) * percent[0] / 100; i > 0; i--) STEP(x); /* f */
}

CALLED static void
g(double ms)
{
	unsigned long x = 0;
	for (long i = (long)(ms * STEPS_OF_MS) * percent[1] / 100; i > 0; i--) STEP(x); /* g */
}

CALLED static void
h(double ms)
{
	unsigned long x = 0;
	for (long i = (long)(ms * STEPS_OF_MS) * percent[2] / 100; i > 0; i--) STEP(x); /* h */
}

/* clang-format on */

static void
nap(double ms)
{
	nanosleep(&(struct timespec){0, (long)(ms * 1e6)}, NULL);
}

/* ---- queues ---- */

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int n, room;
};
static struct queue queues[2] = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0},
                                 {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}};

static void
change_queue(struct queue *q, int by)
{
	pthread_mutex_lock(&q->lock);
	while (by > 0 ? q->n == q->room : !q->n)
		pthread_cond_wait(&q->changed, &q->lock);
	q->n += by;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

/* ---- the rounds of each thread ---- */

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
serial_round(int thread)
{
	(void)thread;
	f(1);
	g(3);
}

static void
barrier_round(int thread)
{
	if (thread)
		g(3.2);
	else
		f(4);
	pthread_barrier_wait(&barrier);
}

static void
pipeline_round(int thread)
{
	if (thread)
		change_queue(&queues[thread - 1], -1);
	if (thread == 0)
		f(4);
	else if (thread == 1)
		g(2.4);
	else
		h(1.2);
	if (thread < 2)
		change_queue(&queues[thread], 1);
}

static void
producer_round(int thread)
{
	if (thread) {
		change_queue(&queues[0], -1);
		g(4);
	} else {
		f(2);
		change_queue(&queues[0], 1);
	}
}

static void
convoy_round(int thread)
{
	(void)thread;
	pthread_mutex_lock(&lock);
	f(2);
	pthread_mutex_unlock(&lock);
	g(0.8);
}

static void
io_round(int thread)
{
	if (thread) {
		nap(2.4);
		h(0.8);
	} else {
		g(4);
	}
	pthread_barrier_wait(&barrier);
}

static void
pair_round(int thread)
{
	if (thread)
		g(4);
	else
		f(4);
	pthread_barrier_wait(&barrier);
}

static void
both_round(int thread)
{
	(void)thread;
	f(2);
	g(1);
	pthread_barrier_wait(&barrier);
}

static void
short_round(int thread)
{
	(void)thread;
	for (int i = 0; i < 10; i++) {
		f(0.2);
		g(0.1);
	}
	pthread_barrier_wait(&barrier);
}

static void
sleep_round(int thread)
{
	if (thread)
		nap(4);
	else
		g(3);
	pthread_barrier_wait(&barrier);
}

static void
naps_round(int thread)
{
	if (thread) {
		nap(2);
	} else {
		f(1);
		g(3);
	}
}

/* As many tasks as two threads have rounds. */
static void
steal_round(int thread)
{
	static long taken;
	(void)thread;
	while (__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED) < 2 * rounds) {
		f(2);
		g(1);
	}
}

CALLED static void
by_g(void)
{
	f(3 * (double)percent[1] / 100);
	__asm__ volatile(""); /* no tail call */
}

CALLED static void
by_h(void)
{
	f((double)percent[2] / 100);
	__asm__ volatile(""); /* no tail call */
}

static void
context_round(int thread)
{
	(void)thread;
	by_g();
	by_h();
}

static const struct planted {
	const char *name;
	void (*round)(int thread);
	int threads, room;
} cases[] = {{"serial", serial_round, 1, 0},     {"barrier", barrier_round, 2, 0},
             {"pipeline", pipeline_round, 3, 4}, {"producer", producer_round, 2, 2},
             {"convoy", convoy_round, 2, 0},     {"io", io_round, 2, 0},
             {"pair", pair_round, 2, 0},         {"both", both_round, 2, 0},
             {"short", short_round, 2, 0},       {"sleep", sleep_round, 2, 0},
             {"naps", naps_round, 2, 0},         {"steal", steal_round, 2, 0},
             {"context", context_round, 1, 0}};
static const struct planted *is;

static void
run_rounds(int thread)
{
	for (long i = 0; i < rounds; i++) {
		is->round(thread);
		if (thread == is->threads - 1)
			COZ_PROGRESS_NAMED("round");
	}
}

static void *
other_thread(void *arg)
{
	run_rounds((int)(long)arg);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[3];
	for (size_t i = 0; argc == 6 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1]))
			is = &cases[i];
	if (!is)
		return 2;
	rounds = atol(argv[2]);
	for (int i = 0; i < 3; i++)
		percent[i] = atol(argv[3 + i]);
	queues[0].room = queues[1].room = is->room;
	pthread_barrier_init(&barrier, NULL, (unsigned)is->threads);
	for (long i = 1; i < is->threads; i++)
		pthread_create(&threads[i], NULL, other_thread, (void *)i);
	run_rounds(0);
	for (int i = 1; i < is->threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
