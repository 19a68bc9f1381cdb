/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that rearranges itself: unmaps its own start-up code, write-protects its data and takes
 * the faults, makes its text unreadable to code that has run, moves a running function's page,
 * remaps its text writable and edits it.
 */
/* strobe-test: stress=none */
#include "signal/ucontext.h"
#include <setjmp.h>
#include <sys/mman.h>

static volatile int faults;
static char *watched;
static sigjmp_buf out;

static void
on_write(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	if (info->si_addr < (void *)watched || info->si_addr >= (void *)(watched + 8192))
		siglongjmp(out, 1);
	faults++;
	CHECK(!mprotect((void *)((uintptr_t)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE),
	      "mprotect");
}

/* Two pages of code of their own. */
__attribute__((section(".text.own_pages"), aligned(4096), noipa)) static int
first_page(int x)
{
	return x + 1;
}
__attribute__((section(".text.own_pages"), aligned(4096), noipa)) static int
second_page(int x)
{
	return first_page(x) * 2;
}
__attribute__((section(".text.own_pages"), aligned(4096), noipa, used)) static int
third_page(int x)
{
	return x;
}

static void
write_barrier(void)
{
	watched = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 200; i++) {
		faults = 0;
		CHECK(!mprotect(watched, 8192, PROT_READ), "mprotect");
		for (int k = 0; k < 8192; k++)
			watched[k]++;
		CHECK_EQ(faults, 2);
	}
	CHECK_EQ(watched[5000], (char)200);
}

static int
call_or_fault(int (*f)(int), int x)
{
	if (sigsetjmp(out, 1))
		return -1;
	return f(x);
}

static void
own_text(void)
{
	char *page = (char *)(uintptr_t)first_page;

	CHECK_EQ((uintptr_t)page % 4096, 0);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(call_or_fault(second_page, i), (i + 1) * 2);
		CHECK(!mprotect(page, 4096, PROT_NONE), "mprotect");
		CHECK_EQ(call_or_fault(second_page, i), -1);
		CHECK(!mprotect(page, 4096, PROT_READ), "mprotect");
		CHECK_EQ(call_or_fault(second_page, i), -1);
		CHECK(!mprotect(page, 4096, PROT_READ | PROT_EXEC), "mprotect");
		CHECK_EQ(call_or_fault(second_page, i), (i + 1) * 2);
	}
	/* Edit it: lea 1(%rdi) or add $1 becomes another function altogether. */
	CHECK(!mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), "mprotect");
	memcpy(page, "\x8d\x47\x05\xc3", 4); /* lea 5(%rdi), %eax; ret */
	CHECK_EQ(call_or_fault(second_page, 10), 30);
	page[2] = 7;
	CHECK_EQ(call_or_fault(second_page, 10), 34);
	/* Replace it by anonymous memory, then by nothing. */
	char copy[4096];
	memcpy(copy, page, 4096);
	CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	           0) == page,
	      "mmap");
	memcpy(page, copy, 4096);
	page[2] = 9;
	CHECK(!mprotect(page, 4096, PROT_READ | PROT_EXEC), "mprotect");
	CHECK_EQ(call_or_fault(second_page, 10), 38);
	CHECK(!munmap(page, 4096), "munmap");
	CHECK_EQ(call_or_fault(second_page, 10), -1);
}

int
main(void)
{
	handle(SIGSEGV, on_write, 0);
	write_barrier();
	own_text();
	puts("a program may rearrange itself");
	return 0;
}
