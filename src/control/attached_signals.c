/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that come to us while a process is attached. */
#include <signal.h>

#include "control/attach.h"
#include "control/supervisor.h"

static volatile sig_atomic_t interrupted, stopping;

static void
on_interrupt(int signo)
{
	(void)signo;
	interrupted = 1;
}

static void
on_stop_attached(int signo)
{
	(void)signo;
	stopping = 1;
}

void
st_attached_stop(const struct st_run_options *o)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, old;
	if (!stopping)
		return;
	stopping = 0;
	o->pause(o->progress_arg, true);
	sigaction(SIGTSTP, &plain, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
	o->pause(o->progress_arg, false);
}

bool
st_attached_interrupted(void)
{
	return interrupted;
}

void
st_attached_catch(const struct st_run_options *o)
{
	struct sigaction action = {.sa_handler = on_interrupt};
	struct sigaction old;
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (st_signal_ends(signo) && sigaction(signo, NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaction(signo, &action, NULL);
	if (o->pause && !sigaction(SIGTSTP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &(struct sigaction){.sa_handler = on_stop_attached}, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}
