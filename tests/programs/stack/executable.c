/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks are made executable, that of the main thread also as the C library does it (down to where
 * it grows), and code is written there and executed. */
/* strobe-test: */
#include "check.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };

__attribute__((noipa)) static int
runs_on_stack(int grows_down)
{
	/* mov eax, edi; inc eax; ret */
	static const unsigned char code[] = {0x89, 0xf8, 0xff, 0xc0, 0xc3};
	unsigned char here[64];
	uintptr_t page = (uintptr_t)here & ~(uintptr_t)(PAGE - 1);
	size_t bytes = (uintptr_t)here + sizeof here - page;

	CHECK(!mprotect((void *)page, bytes, ALL), "mprotect");
	CHECK(!grows_down || !mprotect((void *)page, PAGE, ALL | PROT_GROWSDOWN), "PROT_GROWSDOWN");
	memcpy(here, code, sizeof code);
	return ((int (*)(int))(uintptr_t)here)(41);
}

static void *
thread(void *unused)
{
	(void)unused;
	CHECK_EQ(runs_on_stack(0), 42);
	return NULL;
}

int
main(void)
{
	pthread_t t;

	CHECK_EQ(runs_on_stack(1), 42);
	CHECK(!pthread_create(&t, NULL, thread, NULL) && !pthread_join(t, NULL), "thread");
	puts("stacks are executable");
	return 0;
}
