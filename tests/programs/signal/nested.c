/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Handlers within handlers: SA_NODEFER, chains of different signals, masks in force in each, and
 * what uc_sigmask says.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <stdbool.h>

static int depth, deepest;
static char trace[256];

static bool
blocked(int sig)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, sig);
}

static void
on_nodefer(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	CHECK(!blocked(sig), "SA_NODEFER signal is blocked in its handler");
	depth++;
	if (depth > deepest)
		deepest = depth;
	if (depth < 20)
		raise_here(sig);
	depth--;
}

static void
on_deferred(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	CHECK(blocked(sig), "signal is not blocked in its handler");
	CHECK(!sigismember(&((ucontext_t *)context)->uc_sigmask, sig), "uc_sigmask has the signal");
	strcat(trace, "(");
	if (strlen(trace) < 8)
		raise_here(sig); /* must wait until this handler is done */
	strcat(trace, ")");
}

static void
on_chain(int sig, siginfo_t *info, void *context)
{
	static const int next[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGHUP, 0};
	unsigned i = 0;

	(void)info, (void)context;
	while (next[i] != sig)
		i++;
	snprintf(trace + strlen(trace), 16, "<%u", i);
	for (unsigned k = 0; k < i; k++) /* the handlers around this one keep theirs blocked */
		CHECK(blocked(next[k]), "signal %d is not blocked in handler of %d", next[k], sig);
	if (next[i + 1])
		raise_here(next[i + 1]);
	snprintf(trace + strlen(trace), 16, "%u>", i);
}

static void
on_masked(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	if (sig == SIGUSR1) {
		CHECK(blocked(SIGUSR2) && blocked(SIGINT), "sa_mask is not in force");
		raise_here(SIGUSR2);
		raise_here(SIGINT);
		strcat(trace, "1");
	} else {
		strcat(trace, sig == SIGINT ? "i" : "2");
	}
}

static void
on_unblock(int sig, siginfo_t *info, void *context)
{
	(void)info;
	strcat(trace, "u");
	/* A handler that blocks a signal for the code it returns to. */
	sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
	sigdelset(&((ucontext_t *)context)->uc_sigmask, sig);
}

static void
chain_and_mask(void)
{
	struct sigaction action = {.sa_sigaction = on_masked, .sa_flags = SA_SIGINFO};

	for (const int *s = (int[]){SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGHUP, 0}; *s; s++)
		handle(*s, on_chain, 0);
	raise_here(SIGUSR1);
	CHECK(!strcmp(trace, "<0<1<2<3<44>3>2>1>0>"), "chain ran as %s", trace);
	trace[0] = 0;
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaddset(&action.sa_mask, SIGINT);
	sigaction(SIGUSR1, &action, NULL);
	handle(SIGUSR2, on_masked, 0);
	handle(SIGINT, on_masked, 0);
	raise_here(SIGUSR1);
	/* Both become deliverable together; the lower number's handler is set up first, so that it
	 * runs last. */
	CHECK(!strcmp(trace, "12i") || !strcmp(trace, "1i2"), "masked handlers ran as %s", trace);
	trace[0] = 0;
}

int
main(void)
{
	handle(SIGUSR1, on_nodefer, SA_NODEFER);
	raise_here(SIGUSR1);
	CHECK_EQ(deepest, 20);
	handle(SIGUSR1, on_deferred, 0);
	raise_here(SIGUSR1);
	CHECK(!strcmp(trace, "()()()()()"), "deferred handlers ran as %s", trace);
	trace[0] = 0;
	chain_and_mask();
	handle(SIGUSR1, on_unblock, 0);
	raise_here(SIGUSR1);
	CHECK(blocked(SIGUSR2) && !blocked(SIGUSR1), "edited uc_sigmask is not in force");
	CHECK(!strcmp(trace, "u"), "trace %s", trace);
	puts("nested handlers and their masks are right");
	return 0;
}
