/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transfers that compilers never write but the CPU allows: far returns and iretq within the same
 * segment, int 0x80 from 64-bit code, an instruction of 15 bytes over a page border. Whoever is
 * left alone at one of these must really be alone: it computes for a while afterwards.
 */
/* strobe-test: */
/* strobe-test: name=int80 args=int80 */
#include "check.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t
far_return(uint64_t x)
{
	uint64_t out;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
	                 "mov %%cs, %%eax\npush %%rax\nlea 1f(%%rip), %%rax\npush %%rax\n"
	                 "lretq\nud2\n"
	                 "1: lea 3(%1), %0\nlea 128(%%rsp), %%rsp"
	                 : "=&r"(out)
	                 : "r"(x)
	                 : "rax", "memory", "cc");
	return out;
}

static uint64_t
interrupt_return(uint64_t x)
{
	uint64_t out, flags;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
	                 "mov %%rsp, %%rcx\n"
	                 "mov %%ss, %%eax\npush %%rax\npush %%rcx\npushfq\norl $0x801, (%%rsp)\n"
	                 "mov %%cs, %%eax\npush %%rax\nlea 1f(%%rip), %%rax\npush %%rax\n"
	                 "iretq\nud2\n"
	                 "1: pushfq\npop %1\nlea 3(%2), %0\nlea 128(%%rsp), %%rsp"
	                 : "=&r"(out), "=&r"(flags)
	                 : "r"(x)
	                 : "rax", "rcx", "memory", "cc");
	CHECK((flags & 0x801) == 0x801, "flags after iretq: %#lx", flags);
	return out;
}

static void
old_system_call(void)
{
	uint64_t result, r8 = 0x88, r11 = 0x1111;

	__asm__ volatile("mov %3, %%r8\nmov %4, %%r11\nint $0x80\nmov %%r8, %1\nmov %%r11, %2"
	                 : "=a"(result), "=r"(r8), "=r"(r11)
	                 : "r"(r8), "r"(r11), "0"(20ul)
	                 : "r8", "r9", "r10", "r11", "memory");
	/* Without IA32 emulation the kernel answers by SIGSEGV; main finds out first. */
	CHECK_EQ(result, getpid());
	CHECK_EQ(r11, 0x1111);
}

/* Is there IA32 emulation? The kernel can be built without it, and told at boot to do without it.
 */
static bool
emulation(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		old_system_call();
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "a child to find out");
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : !status, "status %#x", status);
	return !status;
}

static uint32_t target;

/* Eight cs: prefixes, which mean nothing here, in front of addl $0x01020304, 0x11(%rbx); then ret.
 */
static void
longest(void)
{
	unsigned char *page =
	        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned char code[] = {0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e,
	                                     0x81, 0x43, 0x11, 0x04, 0x03, 0x02, 0x01, 0xc3};
	unsigned char *at = page + 4096 - 7; /* over the page border */

	memcpy(at, code, sizeof code);
	CHECK(!mprotect(page, 8192, PROT_READ | PROT_EXEC), "mprotect");
	target = 5;
	for (int i = 0; i < 3; i++)
		__asm__ volatile(
		        "lea -128(%%rsp), %%rsp\ncall *%0\nlea 128(%%rsp), %%rsp" ::"r"(at),
		        "b"((char *)&target - 0x11)
		        : "memory", "cc");
	CHECK_EQ(target, 5 + 3 * 0x01020304);
	munmap(page, 8192);
}

static void
compute(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 10; clock() < end;)
		longest();
}

/* Under a budget, the thread has spent it and runs natively when it comes to int 0x80. There the
 * kernel reports int 0x80 as it reports syscall, but 20 is getpid for one and writev for the other.
 */
static int
old_calls_after_computing(bool with_32)
{
	if (!with_32) {
		puts("the kernel has no IA32 emulation");
		return CHECK_SKIPPED;
	}
	compute();
	for (int i = 0; i < 100; i++)
		old_system_call();
	puts("old system calls arrive");
	return 0;
}

int
main(int argc, char **argv)
{
	bool with_32 = emulation();

	(void)argv;
	if (argc > 1)
		return old_calls_after_computing(with_32);
	for (uint64_t i = 0; i < 100; i++) {
		CHECK_EQ(far_return(i), i + 3);
		CHECK_EQ(interrupt_return(i), i + 3);
		longest();
		if (with_32)
			old_system_call();
	}
	compute();
	puts("rare transfers arrive");
	return 0;
}
