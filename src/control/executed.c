/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has a process that is not traced executed another program? Its file is looked at while it runs;
 * once it has ended, the kernel keeps only its name until it is waited for. A name that the program
 * has given itself is seen together with its file, and is not taken for another program.
 */
#include "control/executed.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct st_executed {
	pid_t pid;
	char name[32];        /* that the process had when its file was looked at */
	char first[PATH_MAX]; /* its file in the beginning */
	char last[PATH_MAX];  /* another file that it had later; "": none was seen */
	pthread_t thread;
	bool stop; /* atomic */
};

static void
executed_read_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(name, (int)size, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

static bool
read_file_of(pid_t pid, char *file, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	const ssize_t n = readlink(path, file, size - 1);
	file[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The name is read before the file: it is this file's then, or the next look corrects it. */
static void
look_at_file_of(struct st_executed *x)
{
	char name[sizeof x->name] = "", file[PATH_MAX];
	executed_read_name(x->pid, name, sizeof name);
	if (!read_file_of(x->pid, file, sizeof file))
		return;
	if (strcmp(file, x->first))
		memcpy(x->last, file, sizeof file);
	else
		memcpy(x->name, name, sizeof name);
}

static void *
look_again_and_again(void *arg)
{
	struct st_executed *x = arg;
	while (!__atomic_load_n(&x->stop, __ATOMIC_ACQUIRE)) {
		look_at_file_of(x);
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	return NULL;
}

struct st_executed *
st_executed_begin(pid_t pid)
{
	sigset_t all, before;
	struct st_executed *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->pid = pid;
	executed_read_name(pid, x->name, sizeof x->name);
	bool runs = read_file_of(pid, x->first, sizeof x->first);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	runs = runs && !pthread_create(&x->thread, NULL, look_again_and_again, x);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (runs)
		return x;
	free(x);
	return NULL;
}

char *
st_executed_end(struct st_executed *x)
{
	char name[sizeof x->name] = "";
	if (!x)
		return NULL;
	__atomic_store_n(&x->stop, true, __ATOMIC_RELEASE);
	pthread_join(x->thread, NULL);
	executed_read_name(x->pid, name, sizeof name);
	char *found = *x->last                              ? strdup(x->last)
	              : *name && strcmp(name, x->name) != 0 ? strdup(name)
	                                                    : NULL;
	free(x);
	return found;
}
