/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that end within nested functions: by cancellation, whose handler stands under the
 * function that has asked for it, and by pthread_exit, after which a destructor of thread-specific
 * data runs at the root.
 */
#include "hazard.h"

#include <pthread.h>

static pthread_key_t key;
static pthread_barrier_t loops;

NOIPA static void
f_destroyed(void *value)
{
	(void)value;
	DONE;
}

NOIPA static void
f_cleanup(void *value)
{
	(void)value;
	DONE;
}

NOIPA static void
f_loops(void)
{
	pthread_barrier_wait(&loops);
	for (;;)
		pthread_testcancel();
}

NOIPA static void
f_waits(void)
{
	f_loops();
	DONE;
}

NOIPA static void
f_a(void)
{
	pthread_cleanup_push(f_cleanup, NULL);
	f_waits();
	pthread_cleanup_pop(0);
	DONE;
}

NOIPA static void *
f_cancelled(void *value)
{
	f_a();
	return value;
}

NOIPA static void
f_exits(void)
{
	pthread_exit(NULL);
}

NOIPA static void
f_b(void)
{
	f_exits();
	DONE;
}

NOIPA static void *
f_leaves(void *value)
{
	pthread_setspecific(key, &key);
	f_b();
	return value;
}

NOIPA static int
f_joins(void *(*run)(void *), int cancel)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	if (cancel) {
		pthread_barrier_wait(&loops);
		pthread_cancel(thread);
	}
	if (pthread_join(thread, &result))
		return 1;
	return result != (cancel ? PTHREAD_CANCELED : NULL);
}

int
main(void)
{
	if (pthread_key_create(&key, f_destroyed) || pthread_barrier_init(&loops, NULL, 2))
		return 1;
	return f_joins(f_cancelled, 1) || f_joins(f_leaves, 0);
}
