/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that meet one criterion of the selection each, and near misses: each is called once. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static char buffer[64];

CALLED static void
reads(void)
{
	const int fd = open("/dev/null", O_RDONLY);
	sum += read(fd, buffer, sizeof buffer);
	close(fd);
	sum++;
}

/* Indirectly. */
CALLED static void
leads_to_read(void)
{
	sum++;
	reads();
	sum++;
}

/* By the system call itself. */
CALLED static void
writes_directly(void)
{
	long result;
	__asm__ volatile("mov $1, %%eax\n\tsyscall"
	                 : "=a"(result)
	                 : "D"(-1L), "S"(buffer), "d"(0L)
	                 : "rcx", "r11", "memory");
	sum += result;
}

/* An allocation may fail, and then the C library prints a message: that is no I/O. */
CALLED static void
allocates(void)
{
	char *p = malloc((size_t)sum % 100 + 1);
	sum += p != NULL;
	free(p);
	sum++;
}

CALLED static void
formats(void)
{
	sum += snprintf(buffer, sizeof buffer, "%ld", sum);
	sum++;
}

CALLED static void
locks(void)
{
	pthread_mutex_lock(&lock);
	sum++;
	pthread_mutex_unlock(&lock);
}

CALLED static void
wakes(void)
{
	sum += syscall(SYS_futex, &sum, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
	sum++;
}

/* A near miss: it calls none of the functions of locks itself. */
CALLED static void
around_locks(void)
{
	sum++;
	locks();
	sum++;
}

CALLED static void
has_two_sites(int again)
{
	sum += again;
	sum *= 3;
	sum += again;
}

CALLED static void
has_a_loop(int n)
{
	for (int i = 0; i < n; i++)
		sum += i * sum;
}

int
main(int argc, char **argv)
{
	(void)argv;
	leads_to_read();
	writes_directly();
	allocates();
	formats();
	around_locks();
	wakes();
	has_two_sites(0);
	if (argc > 100)
		has_two_sites(1);
	has_a_loop(5);
	return 0;
}
