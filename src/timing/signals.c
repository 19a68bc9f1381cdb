/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timing/signals.h"

#include <signal.h>

#include "timing/timing.h"

static volatile sig_atomic_t timing_signal, timing_child;

/* The terminal sends its signals to the program, too; those that another process sends are passed
 * on. */
static void
timing_on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	timing_signal = signal;
	if (timing_child && info->si_code <= 0)
		kill(timing_child, signal);
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

void
st_timing_child(pid_t pid)
{
	timing_child = pid;
}

int
st_timing_interrupted(void)
{
	return timing_signal;
}
