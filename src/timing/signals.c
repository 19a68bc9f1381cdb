/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timing/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "timing/timing.h"

static volatile sig_atomic_t timing_signal;
static _Atomic pid_t timing_children[2]; /* 0: none */
enum { MOST_CHILDREN = sizeof timing_children / sizeof *timing_children };

/* The terminal sends its signals to the program, too; those that another process sends are passed
 * on. */
static void
timing_on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	timing_signal = signal;
	for (size_t i = 0; i < MOST_CHILDREN && info->si_code <= 0; i++) {
		const pid_t pid = timing_children[i];
		if (pid)
			kill(pid, signal);
	}
}

void
st_timing_watch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction watch = {.sa_sigaction = timing_on_signal,
	                          .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before;
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(ending[i], &watch, NULL); /* ignored: as nohup has it */
}

/* Replaces the first slot that is `from`. */
static void
timing_children_replace(pid_t from, pid_t to)
{
	for (size_t i = 0; i < MOST_CHILDREN; i++) {
		pid_t expected = from;
		if (atomic_compare_exchange_strong(&timing_children[i], &expected, to))
			return;
	}
}

void
st_timing_child_begin(pid_t pid)
{
	if (pid > 0)
		timing_children_replace(0, pid);
}

void
st_timing_child_end(pid_t pid)
{
	if (pid > 0)
		timing_children_replace(pid, 0);
}

int
st_timing_interrupted(void)
{
	return timing_signal;
}
