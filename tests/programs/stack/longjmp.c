/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * setjmp and longjmp: 10,000 short ones, jumps over a thousand frames, out of nested signal
 * handlers with and without the saved mask, and from one function into its caller's caller with
 * registers restored.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <setjmp.h>

static jmp_buf outer;
static sigjmp_buf from_handler;
static volatile int handled;

__attribute__((noinline)) static long
dive(int n)
{
	volatile long keep = n;

	if (!n)
		longjmp(outer, 77);
	return n > 0 ? dive(n - 1) + keep : keep;
}

static void
short_jumps(void)
{
	jmp_buf here;
	volatile int count = 0;

	int r = setjmp(here);
	CHECK(r == (count ? count % 5 + 1 : 0), "setjmp returned %d at %d", r, count);
	if (count < 10000) {
		count++;
		longjmp(here, count % 5 + 1);
	}
	if (!setjmp(here))
		longjmp(here, 0);
	CHECK_EQ(count, 10000);
}

static void
deep_jumps(void)
{
	for (volatile int i = 0; i < 100; i++) {
		int r = setjmp(outer);
		if (!r)
			dive(1000);
		CHECK_EQ(r, 77);
	}
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	handled++;
	if (sig == SIGUSR1)
		raise_here(SIGUSR2);
	siglongjmp(from_handler, sig);
}

static void
out_of_handlers(void)
{
	sigset_t now;

	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_signal, 0);
	handle(SIGSEGV, on_signal, 0);
	for (volatile int i = 0; i < 1000; i++) {
		handled = 0;
		int r = sigsetjmp(from_handler, 1);
		if (!r)
			raise_here(SIGUSR1);
		CHECK(r == SIGUSR2 && handled == 2, "round %d: %d after %d handlers", i, r,
		      handled);
		sigprocmask(SIG_SETMASK, NULL, &now);
		CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2),
		      "mask not restored");
		r = sigsetjmp(from_handler, 1);
		if (!r)
			*(volatile int *)(uintptr_t)(8 + i) = 1;
		CHECK_EQ(r, SIGSEGV);
	}
	if (!sigsetjmp(from_handler, 0))
		raise_here(SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHECK(sigismember(&now, SIGUSR1) && sigismember(&now, SIGUSR2), "the mask was restored");
}

int
main(void)
{
	short_jumps();
	deep_jumps();
	out_of_handlers();
	puts("long jumps land where they should");
	return 0;
}
