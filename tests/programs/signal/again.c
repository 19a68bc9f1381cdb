/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals arrive each 100 us while instructions count what they do: an instruction that is executed
 * twice, or not at all, where a signal came right before or after it changes a sum. In code of a
 * file, and in code that writes to its own page.
 */
/* strobe-test: */
#include "code/emit.h"
#include "signal/ucontext.h"
#include <sys/time.h>

enum { SIGNALS = 1500, TURNS = 1000 };

static volatile int taken;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	taken++;
}

long sums[4];

/* Four instructions of one basic block, each of which counts: two through a register, two by an
 * address relative to their own, which engines have to change. */
static __attribute__((noinline)) void
step(long *n)
{
	__asm__ volatile("lock incq (%0)\n"
	                 "addq $1, 8 + sums(%%rip)\n"
	                 "lock incq 16 + sums(%%rip)\n"
	                 "addq $1, 24(%0)\n"
	                 :
	                 : "r"(n)
	                 : "memory");
}

typedef void steps(long *n);

enum { PAGE = 4096 };

/* The same for sums on the page behind, and a write to its own page; returns the page. */
static char *
writing_step(void)
{
	static const unsigned char code[] = {
	        0xf0, 0x48, 0xff, 0x07,                         /* lock incq (%rdi) */
	        0x48, 0x83, 0x05, 0xfc, 0x0f, 0x00, 0x00, 0x01, /* addq $1, sums + 8 */
	        0xc6, 0x05, 0x20, 0x00, 0x00, 0x00, 0x01,       /* movb $1, 32(%rip) */
	        0xf0, 0x48, 0xff, 0x05, 0xf5, 0x0f, 0x00, 0x00, /* lock incq sums + 16 */
	        0x48, 0x83, 0x47, 0x18, 0x01,                   /* addq $1, 24(%rdi) */
	        0xc3,                                           /* ret */
	};
	char *page = map_code(2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);

	memcpy(page, code, sizeof code);
	return page;
}

static void
count(steps *f, long *n, const char *what)
{
	long want = 0;

	for (taken = 0; taken < SIGNALS; want += TURNS)
		for (int i = 0; i < TURNS; i++)
			f(n);
	for (int i = 0; i < 4; i++)
		CHECK(n[i] == want, "%s: sum %d is wrong by %ld", what, i, n[i] - want);
	printf("%s: right\n", what);
}

int
main(void)
{
	struct itimerval period = {{0, 100}, {0, 100}};

	handle(SIGALRM, on_alarm, SA_RESTART);
	CHECK_EQ(setitimer(ITIMER_REAL, &period, NULL), 0);
	count(step, sums, "code of a file");
	char *page = writing_step();
	count((steps *)(uintptr_t)page, (long *)(page + PAGE), "code that writes to its own page");
	return 0;
}
