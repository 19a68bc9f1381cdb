/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three functions of the vsyscall page, by a pointer and by a jump; what the kernel refuses
 * there is a fault. */
/* strobe-test: */
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

typedef long (*function)(void *, void *, void *);

static function gettime = (function)0xffffffffff600000;
static function seconds = (function)0xffffffffff600400;
static function cpu_of = (function)0xffffffffff600800;
static sigjmp_buf back;
static volatile sig_atomic_t faults;

static void
handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	faults++;
	siglongjmp(back, 1);
}

__attribute__((noipa)) static int
after(int x)
{
	return x + 1;
}

__attribute__((noipa)) static long
by_jump(void)
{
	return seconds(NULL, NULL, NULL); /* the last thing: a jump */
}

int
main(void)
{
	char line[512];
	bool there = false;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f))
		there |= strstr(line, "[vsyscall]") != NULL;
	if (!there)
		return 77;
	for (int i = 0; i < 1000; i++) {
		struct timeval now = {0};
		unsigned cpu = ~0u;
		CHECK_EQ(gettime(&now, NULL, NULL), 0);
		CHECK(now.tv_sec > 1000000000, "tv_sec %ld", (long)now.tv_sec);
		CHECK(by_jump() - now.tv_sec < 100, "by_jump");
		CHECK_EQ(cpu_of(&cpu, NULL, NULL), 0);
		CHECK(cpu < 100000, "cpu %u", cpu);
		CHECK_EQ(after(i),
		         i + 1); /* counted, if we are still there: tests/engine/outside.py */
	}
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(back, 1)) {
		gettime((void *)16, NULL, NULL);
		CHECK(false, "no fault");
	}
	CHECK_EQ(faults, 1);
	puts("time, time of day and processor by the vsyscall page");
	return 0;
}
