/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread writes functions while three run others in the same pages: each function is published
 * by an atomic after it was written, and must then run as written; slots are used again and again.
 */
/* strobe-test: */
#include "code/emit.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SLOTS 64
#define ROUNDS 60

static char *page;
static atomic_int published[SLOTS]; /* value that the slot returns, 0: being written */
static atomic_int readers[SLOTS], done;

static void *
writer(void *arg)
{
	(void)arg;
	for (int round = 1; round <= ROUNDS; round++) {
		for (int s = 0; s < SLOTS; s++) {
			atomic_store(&published[s], 0);
			while (atomic_load(&readers[s]))
				sched_yield();
			emit_return(page + s * 64, round * 1000 + s);
			atomic_store(&published[s], round * 1000 + s);
		}
	}
	atomic_store(&done, 1);
	return NULL;
}

static void *
reader(void *arg)
{
	unsigned random = (unsigned)(uintptr_t)arg;

	while (!atomic_load(&done)) {
		random = random * 1103515245 + 12345;
		unsigned s = random >> 16 & (SLOTS - 1);
		atomic_fetch_add(&readers[s], 1);
		int value = atomic_load(&published[s]);
		if (value)
			CHECK_EQ(call(page + s * 64), value);
		atomic_fetch_sub(&readers[s], 1);
	}
	return NULL;
}

int
main(void)
{
	pthread_t threads[4];

	page = map_code(SLOTS * 64, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (uintptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, i ? reader : writer, (void *)i), "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int s = 0; s < SLOTS; s++)
		CHECK_EQ(call(page + s * 64), ROUNDS * 1000 + s);
	puts("code written beside running threads runs as written");
	return 0;
}
