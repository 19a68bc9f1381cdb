/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Handlers that never return: siglongjmp out of a handler that interrupted a blocking read, a
 * nanosleep, a futex, a busy loop and malloc-free computation, hundreds of times; the thread must
 * be able to block and be interrupted again.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <setjmp.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static sigjmp_buf back;
static volatile int hits;
static int ends[2];

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	hits++;
	siglongjmp(back, 1);
}

static void
block(int kind)
{
	char c;
	uint32_t word = 0;
	volatile uint64_t n = 0;

	switch (kind) {
	case 0:
		CHECK(read(ends[0], &c, 1) < 0, "read returned");
		break;
	case 1:
		nanosleep(&(struct timespec){10, 0}, NULL);
		break;
	case 2:
		syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0);
		break;
	default:
		for (;;)
			n++;
	}
	CHECK(0, "kind %d came back without a jump", kind);
}

int
main(void)
{
	struct itimerval soon = {{0, 0}, {0, 1000}};

	CHECK(!pipe(ends), "pipe");
	handle(SIGALRM, on_alarm, SA_RESTART);
	for (volatile int i = 0; i < 200; i++) {
		if (!sigsetjmp(back, 1)) {
			setitimer(ITIMER_REAL, &soon, NULL);
			block(i % 4);
		}
		CHECK_EQ(hits, i + 1);
	}
	printf("%d handlers jumped away\n", hits);
	return 0;
}
