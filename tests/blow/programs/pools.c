/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are created, and begin to work, in an order that differs from run to run. FILE
 * counts the runs by its bytes: the order follows from its size, not from chance.
 * usage: pools pool|kinds|reused|unnoticed|outside FILE
 *
 *	pool		one function creates four workers of two kinds, which begin in varying order
 *	kinds		two threads create the same kind of thread at the same time
 *	reused		one thread after the other, so that the C library gives each the same stack
 *	unnoticed	of three workers of one kind, one calls no function that is measured
 *	outside		the same as pool; the first thread calls none either
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLED __attribute__((noinline, noipa))

static volatile unsigned long sum;

CALLED static void
read_part(void)
{
	sum++;
}

CALLED static void
write_part(void)
{
	sum += 2;
}

CALLED static void
main_work(void)
{
	sum += 3;
}

/* ---- turns: thread `turn` may go on ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	long now;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void
wait_for_turn(long turn)
{
	pthread_mutex_lock(&turns.lock);
	while (turns.now != turn)
		pthread_cond_wait(&turns.changed, &turns.lock);
	pthread_mutex_unlock(&turns.lock);
}

static void
end_turn(void)
{
	pthread_mutex_lock(&turns.lock);
	turns.now++;
	pthread_cond_broadcast(&turns.changed);
	pthread_mutex_unlock(&turns.lock);
}

/* ---- a pool: readers call read_part 10, 20 times, writers call write_part 30, 40 times ---- */

struct job {
	long turn, calls;
};

static void *
reader(void *arg)
{
	const struct job *job = arg;
	wait_for_turn(job->turn);
	for (long i = 0; i < job->calls; i++)
		read_part();
	end_turn();
	return NULL;
}

static void *
writer(void *arg)
{
	const struct job *job = arg;
	wait_for_turn(job->turn);
	for (long i = 0; i < job->calls; i++)
		write_part();
	end_turn();
	return NULL;
}

__attribute__((always_inline)) static inline pthread_t
start(void *(*function)(void *), void *arg)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, arg))
		abort();
	return thread;
}

enum { WORKERS = 4 };

/* In each run they begin in another order, and kinds are created in another order. */
CALLED static void
start_pool(long run)
{
	static struct job jobs[WORKERS] = {{0, 10}, {0, 20}, {0, 30}, {0, 40}};
	pthread_t threads[WORKERS];
	for (long i = 0; i < WORKERS; i++)
		jobs[i].turn = run & 1 ? (i + run) % WORKERS : WORKERS - 1 - (i + run) % WORKERS;
	/* Readers first, or writers first; those of a kind in their order. */
	for (long i = 0; i < WORKERS; i++) {
		const long at = run & 2 ? (i + 2) % WORKERS : i;
		threads[i] = at < 2 ? start(reader, &jobs[at]) : start(writer, &jobs[at]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- two threads that create threads of the same kind ---- */

struct branch {
	struct job own, job;
};

static void *
first_branch(void *arg)
{
	struct branch *b = arg;
	wait_for_turn(b->own.turn);
	end_turn();
	pthread_join(start(reader, &b->job), NULL);
	return NULL;
}

static void *
second_branch(void *arg)
{
	struct branch *b = arg;
	wait_for_turn(b->own.turn);
	end_turn();
	pthread_join(start(reader, &b->job), NULL);
	sum++; /* so that it is not the same code as the other one */
	return NULL;
}

CALLED static void
start_branches(long run)
{
	struct branch first = {{run & 1, 0}, {2 + (run & 1), 10}},
	              second = {{!(run & 1), 0}, {3 - (run & 1), 20}};
	const pthread_t a = start(first_branch, &first), b = start(second_branch, &second);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

/* ---- one after the other ---- */

CALLED static void
start_in_turn(void)
{
	static struct job jobs[] = {{0, 10}, {1, 20}, {2, 30}};
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
		pthread_join(i == 1 ? start(writer, &jobs[i]) : start(reader, &jobs[i]), NULL);
}

CALLED static void
start_unnoticed(long run)
{
	struct job jobs[] = {{run % 3, 10}, {(run + 1) % 3, 0}, {(run + 2) % 3, 30}};
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		threads[i] = start(reader, &jobs[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* The number of earlier runs. */
static long
count_run(const char *path)
{
	FILE *file = fopen(path, "ae");
	if (!file)
		abort();
	fputc('.', file);
	const long runs = ftell(file) - 1;
	fclose(file);
	return runs;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const long run = argc > 2 ? count_run(argv[2]) : 0;
	if (strcmp(what, "outside") != 0)
		main_work();
	if (!strcmp(what, "pool") || !strcmp(what, "outside"))
		start_pool(run);
	else if (!strcmp(what, "kinds"))
		start_branches(run);
	else if (!strcmp(what, "reused"))
		start_in_turn();
	else if (!strcmp(what, "unnoticed"))
		start_unnoticed(run);
	return 0;
}
