/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One place calls 5,000 functions, which return to one place, some far more often than others, with
 * flags and registers alive on the way, while signals come. Usage: many return | jump | threads: a
 * timer's signals at 10 kHz, of which half leave by siglongjmp if told so; or the first with four
 * threads. A function and the place behind the call first count the arrival in memory; a handler
 * that jumps away from right there counts it, too. Prints `function CALLS RETURNS` for each.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { FUNCTIONS = 5000, THREADS = 4, TURNS = 1000000, FUNCTION_BYTES = 16 };

uint64_t many_calls[FUNCTIONS], many_returns[FUNCTIONS];
extern const char many_begin[], many_end[], many_back[], many_functions[];
/* 2 i + 12, one more if i is odd. */
uint64_t many(uint64_t i);
__asm__(".globl many, many_begin, many_end, many_site, many_back, many_functions\n"
        "many_begin: many: mov %rdi, %rax; shl $4, %rax; add $many_functions, %rax\n"
        "	lea 5(%rdi), %rcx; lea 7(%rdi), %rdx; bt $0, %rdi\n"
        "many_site: call *%rax\n"
        "many_back: lock incq many_returns(, %rdi, 8)\n" /* inc keeps CF */
        "	lea (%rcx, %rdx), %rax; adc $0, %rax; ret\n"
        "	.balign 16; many_functions: .set i, 0\n"
        "	.rept 5000; .balign 16; lock incq many_calls + 8 * i; ret; .set i, i + 1; .endr\n"
        "many_end:\n");

static int jumps;
static volatile unsigned signals;
static volatile unsigned turn;
static sigjmp_buf start;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const char *pc = (const char *)regs[REG_RIP];
	(void)sig, (void)info;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	if (!jumps || signals % 2 || pc < many_begin || pc >= many_end)
		return;
	if (pc == many_back)
		many_returns[regs[REG_RDI]]++;
	if (pc >= many_functions && (pc - many_functions) % FUNCTION_BYTES == 0)
		many_calls[(pc - many_functions) / FUNCTION_BYTES]++;
	siglongjmp(start, 1);
}

static void
check(uint64_t i)
{
	if (many(i) == 2 * i + 12 + i % 2)
		return;
	fprintf(stderr, "function %llu\n", (unsigned long long)i);
	exit(1);
}

static void *
call_many(void *seed)
{
	uint64_t random = (uint64_t)(uintptr_t)seed;
	for (unsigned i = 0; i < TURNS / THREADS; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		check((random >> 40) % FUNCTIONS * (random >> 16 & 0xffff) >> 16);
	}
	return NULL;
}

static void
call_many_in_threads(void)
{
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_many, (void *)(i + 1));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void
set_timer(int us)
{
	struct itimerval every = {{0, us}, {0, us}};
	setitimer(ITIMER_REAL, &every, NULL);
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	if (argc != 2)
		return 1;
	jumps = !strcmp(argv[1], "jump");
	sigaction(SIGALRM, &action, NULL);
	set_timer(100);
	sigsetjmp(start, 1);
	if (!strcmp(argv[1], "threads"))
		call_many_in_threads();
	else
		while (turn++ < TURNS)
			check(turn % 7 ? turn % FUNCTIONS : turn % 20);
	set_timer(0);
	printf("signals %u\n", signals);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		printf("function %llu %llu\n", (unsigned long long)many_calls[i],
		       (unsigned long long)many_returns[i]);
	return 0;
}
