/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags that make other code go wrong: alignment check, direction, nested task, identification.
 * They stay set through branches, calls, system calls and faults; handlers see them as natively. */
/* strobe-test: */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { DF = 0x400, NT = 0x4000, AC = 0x40000, ID = 0x200000, ALL = DF | NT | AC | ID };

static volatile uint64_t in_handler, in_context, signals;

static inline uint64_t
flags(void)
{
	uint64_t f;
	__asm__ volatile("pushfq; pop %0; cld" : "=r"(f));
	return f;
}

__attribute__((noipa)) static void
handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint64_t f = flags() & ALL;
	(void)info;
	/* The C library may not be called with them. Identification goes on with the program: it is
	 * no part of the context. */
	__asm__ volatile("push %0; popfq" ::"r"(f & ID));
	in_handler = f;
	in_context = (uint64_t)uc->uc_mcontext.gregs[REG_EFL] & ALL;
	signals++;
	if (sig == SIGILL)
		uc->uc_mcontext.gregs[REG_RIP] += 2;
}

/* With the flags set: a loop with calls through a register, a system call, an instruction that
 * faults, new code. Returns the flags at its end. */
__attribute__((noipa)) static uint64_t
go(uint64_t set, long rounds, int fault)
{
	uint64_t after, sum = 0;
	__asm__ volatile("push %[set]\n popfq\n"
	                 "mov %[rounds], %%r12\n"
	                 "1: lea 3f(%%rip), %%rax\n"
	                 "test $1, %%r12\n jz 2f\n"
	                 "lea 4f(%%rip), %%rax\n"
	                 "2: call *%%rax\n"
	                 "mov $39, %%eax\n syscall\n" /* getpid */
	                 "dec %%r12\n jnz 1b\n"
	                 "test %[fault], %[fault]\n jz 5f\n ud2\n jmp 5f\n"
	                 "3: add $1, %[sum]\n ret\n"
	                 "4: add $2, %[sum]\n ret\n"
	                 "5: pushfq\n pop %[after]\n push $2\n popfq\n"
	                 : [after] "=&r"(after), [sum] "+r"(sum)
	                 : [set] "r"(set | 2), [rounds] "r"(rounds), [fault] "r"(fault)
	                 : "rax", "rcx", "r11", "r12", "memory", "cc");
	if (sum != (uint64_t)(rounds / 2 * 3 + rounds % 2 * 2)) {
		fprintf(stderr, "sum %lu\n", sum);
		exit(1);
	}
	return after & ALL;
}

static void
check(const char *what, uint64_t seen, uint64_t expected)
{
	/* Some hypervisors lose it in system calls. */
	if (!((seen ^ expected) & ~(uint64_t)NT))
		return;
	fprintf(stderr, "%s: %lx instead of %lx\n", what, seen, expected);
	exit(1);
}

int
main(void)
{
	static const uint64_t sets[] = {DF, NT, AC, ID, AC | NT | DF, ALL};
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
		check("after", go(sets[i], 100, 0), sets[i]);
		check("after a fault", go(sets[i], 3, 1), sets[i]);
		check("in the handler", in_handler, sets[i] & ~(uint64_t)DF);
		check("in its context", in_context, sets[i]);
		struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
		uint64_t before = signals;
		setitimer(ITIMER_PROF, &often, NULL);
		while (signals < before + 5)
			check("with signals", go(sets[i], 20000, 0), sets[i]);
		setitimer(ITIMER_PROF, &never, NULL);
	}
	puts("alignment check, direction, nested task, identification: kept");
	return 0;
}
