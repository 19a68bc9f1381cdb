/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls, jumps and returns to where no code is: the handler must see the bad address as the PC and
 * si_addr, the stack as the transfer left it, and can return as if the call had ended.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <sys/mman.h>

#define UNMAPPED 0x10000000ull

static uint64_t target, want_rip;
static volatile int taken;
static int want_code, want_sig;

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t rip = get_reg(context, REG_RIP), sp = get_reg(context, REG_RSP);

	CHECK_EQ(sig, want_sig);
	CHECK(rip == want_rip, "PC is %#lx, should be %#lx", rip, want_rip);
	CHECK_EQ(info->si_code, want_code);
	if (want_code != SI_KERNEL)
		CHECK_EQ((uintptr_t)info->si_addr, target);
	taken++;
	/* Every test leaves the address to continue at on top of the stack. */
	set_reg(context, REG_RIP, *(uint64_t *)sp);
	set_reg(context, REG_RSP, sp + 8);
}

/* The red zone is moved away first, since these push by hand. */
#define AWAY "lea -128(%%rsp), %%rsp\n"
#define BACK "lea 128(%%rsp), %%rsp\n"
#define CLOBBERS "memory", "cc", "rcx", "rdx"

__attribute__((noinline)) static void
transfer(int kind)
{
	uint64_t at = target;

	if (kind == 0)
		__asm__ volatile(AWAY "call *%0\n" BACK ::"a"(at) : CLOBBERS);
	if (kind == 1)
		__asm__ volatile(AWAY "call *%0\n" BACK ::"m"(target) : CLOBBERS);
	if (kind == 2)
		__asm__ volatile(AWAY
		                 "lea 1f(%%rip), %%rcx\npush %%rcx\njmp *%0\nud2\n1:" BACK ::"a"(at)
		                 : CLOBBERS);
	if (kind == 3)
		__asm__ volatile(
		        AWAY
		        "lea 1f(%%rip), %%rcx\npush %%rcx\npush %0\nret\nud2\n1:" BACK ::"a"(at)
		        : CLOBBERS);
}

static void
all_kinds(uint64_t address, int sig, int code)
{
	target = address;
	want_sig = sig;
	want_code = code;
	want_rip = address;
	for (int kind = 0; kind < 4; kind++) {
		taken = 0;
		transfer(kind);
		CHECK(taken == 1, "kind %d to %#lx did not fault", kind, address);
	}
}

int
main(void)
{
	char *page = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 8192, 4096);
	handle(SIGSEGV, on_fault, 0);
	handle(SIGILL, on_fault, 0);
	page[0] = (char)0xc3;
	for (int round = 0; round < 20; round++) {
		all_kinds(UNMAPPED, SIGSEGV, SEGV_MAPERR);
		all_kinds(0, SIGSEGV, SEGV_MAPERR);
		all_kinds((uintptr_t)page, SIGSEGV, SEGV_ACCERR);
		all_kinds((uintptr_t)page + 8192, SIGSEGV, SEGV_MAPERR);
	}
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	target = (uintptr_t)page;
	taken = 0;
	transfer(0);
	CHECK_EQ(taken, 0);
	/* Code that runs off the end of its page: the next instruction is what faults. */
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	page[4095] = (char)0x90;
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	want_sig = SIGSEGV;
	want_code = SEGV_ACCERR;
	want_rip = (uintptr_t)page + 4096;
	void (*last)(void) = (void (*)(void))(uintptr_t)(page + 4095);
	target = want_rip;
	last();
	CHECK_EQ(taken, 1);
	puts("transfers to nowhere fault at their target");
	return 0;
}
