/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait for each other in ways that are known: for test_locks.py. A thread that is to
 * wait is waited for until the kernel has it in a futex call on the lock: no time decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, alone = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, for_condition = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static int word;
static volatile int waiter, is_ready; /* the thread that is to wait */

/* Until the thread is in a futex call on the object. */
static void
until_it_waits(const void *object, size_t bytes)
{
	char path[64], text[64];
	for (;;) {
		snprintf(path, sizeof path, "/proc/self/task/%d/syscall", waiter);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
		if (n < 0 && waiter && errno != ESRCH)
			exit(77); /* the kernel does not say */
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = 0;
		unsigned long number = 0, address = 0;
		if (n > 0 && sscanf(text, "%lu %lx", &number, &address) == 2 &&
		    number == SYS_futex && address - (unsigned long)object < bytes)
			return;
		usleep(1000);
	}
}

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE void
take_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void
hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	is_ready = 1;
	until_it_waits(&mutex, sizeof mutex);
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void
take_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
hold_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
	is_ready = 1;
	until_it_waits(&rwlock, sizeof rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
take_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
hold_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
	is_ready = 1;
	until_it_waits(&rwlock, sizeof rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
wait_for_condition(void)
{
	pthread_mutex_lock(&for_condition);
	is_ready = 1;
	pthread_cond_wait(&condition, &for_condition);
	pthread_mutex_unlock(&for_condition);
}

static NOINLINE void
signal_condition(void)
{
	until_it_waits(&condition, sizeof condition);
	pthread_mutex_lock(&for_condition);
	pthread_mutex_unlock(&for_condition);
	pthread_cond_signal(&condition);
}

static NOINLINE void
wait_for_post(void)
{
	is_ready = 1;
	while (sem_wait(&semaphore) && errno == EINTR)
		;
}

static NOINLINE void
post(void)
{
	until_it_waits(&semaphore, sizeof semaphore);
	sem_post(&semaphore);
}

static NOINLINE void
come_first(void)
{
	is_ready = 1;
	pthread_barrier_wait(&barrier);
}

static NOINLINE void
come_last(void)
{
	until_it_waits(&barrier, sizeof barrier);
	pthread_barrier_wait(&barrier);
}

static NOINLINE void
wait_for_word(void)
{
	is_ready = 1;
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	__atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
}

static NOINLINE void
change_word(void)
{
	until_it_waits(&word, sizeof word);
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The work of the waiting thread, the work of main, and whether main begins. */
static const struct {
	void (*waits)(void), (*lets)(void);
	int main_first;
} all[] = {
        {take_mutex, hold_mutex, 1},      {take_to_read, hold_to_write, 1},
        {take_to_write, hold_to_read, 1}, {wait_for_condition, signal_condition, 0},
        {wait_for_post, post, 0},         {come_first, come_last, 0},
        {wait_for_word, change_word, 0},
};
enum { ALL = sizeof all / sizeof *all };

static void *
waits(void *arg)
{
	waiter = (int)syscall(SYS_gettid);
	for (int i = 0; i < ALL * ROUNDS; i++) {
		if (all[i / ROUNDS].main_first)
			while (!is_ready)
				usleep(100);
		all[i / ROUNDS].waits();
		is_ready = 0;
		__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void
be_alone(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&alone);
		pthread_mutex_unlock(&alone);
	}
	for (int i = 0; i < 5; i++)
		pthread_mutex_lock(&recursive);
	for (int i = 0; i < 5; i++)
		pthread_mutex_unlock(&recursive);
	pthread_mutex_lock(&alone);
	for (int i = 0; i < 7; i++)
		pthread_mutex_trylock(&alone);
	pthread_mutex_unlock(&alone);
}

int
main(void)
{
	pthread_t thread;
	int done = 0;
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	be_alone();
	pthread_create(&thread, NULL, waits, &done);
	while (!waiter)
		usleep(100);
	for (int i = 0; i < ALL * ROUNDS; i++) {
		all[i / ROUNDS].lets();
		while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) <= i)
			usleep(100);
	}
	printf("main %d, waiter %d\n", (int)getpid(), waiter);
	pthread_join(thread, NULL);
	return 0;
}
