/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that rewrite the code they run, on pages of their own, while another one sends them
 * signals: the handler runs code of the same page, and nobody waits for anybody for ever.
 */
/* strobe-test: */
#include "code/emit.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define THREADS 3
#define ROUNDS 400

static atomic_int running;
static _Thread_local char *page;
static _Thread_local volatile int handled;

static void
on_signal(int sig)
{
	CHECK(sig == SIGUSR1, "signal %d", sig);
	if (page)
		handled += call(page + 256);
}

static void *
rewriter(void *arg)
{
	char *mine = map_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	emit_return(mine + 256, 1);
	page = mine;
	for (int i = 0; i < ROUNDS || handled < 20; i++) {
		emit_return(mine + 512 + i % 8 * 16, i);
		CHECK_EQ(call(mine + 512 + i % 8 * 16), i);
	}
	page = NULL;
	atomic_fetch_sub(&running, 1);
	return arg;
}

int
main(void)
{
	pthread_t threads[THREADS];
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	CHECK(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	atomic_store(&running, THREADS);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, rewriter, NULL), "thread");
	while (atomic_load(&running)) {
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
		usleep(200);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("signals and rewritten code go together");
	return 0;
}
