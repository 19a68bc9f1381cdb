/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is measured in short regions only (--region), deep inside its calls: what was called before is
 * under way, with a count of 0, whatever the stack went through between two regions.
 */
#include "hazard.h"

#include <strobe/region.h>

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 1 << 16 };

static jmp_buf there;
static int arrived, told, done;

NOIPA static void
f_seen(void)
{
	DONE;
}

#define LOOK()                                                                                     \
	do {                                                                                       \
		strobe_region_begin();                                                             \
		f_seen();                                                                          \
		strobe_region_end();                                                               \
	} while (0)

/* ---- calls and returns ---- */

NOIPA static void
f_inner(void)
{
	LOOK();
	DONE;
}

NOIPA static void
f_chain(void)
{
	f_inner();
	DONE;
}

NOIPA static void
f_down(int n)
{
	if (n)
		f_down(n - 1);
	else
		LOOK();
	DONE;
}

/* The region is left in the function that called the one where it began. */
NOIPA static void
f_low(void)
{
	strobe_region_begin();
	f_seen();
	DONE;
}

NOIPA static void
f_returns(void)
{
	f_low();
	f_seen();
	strobe_region_end();
	DONE;
}

NOIPA static void
f_grows(volatile size_t *n)
{
	char *more = alloca(*n);
	memset(more, 1, *n);
	LOOK();
	__asm__ volatile("" : : "r"(more) : "memory");
}

NOIPA static void
f_aligned(volatile size_t *n)
{
	_Alignas(128) char there_is[256];
	memset(there_is, 1, *n);
	__asm__ volatile("" : : "r"(there_is) : "memory");
	f_grows(n);
	DONE;
}

NOIPA static void
f_target(int n)
{
	if (n)
		LOOK();
	DONE;
}

/* The compiler makes a jump of it. */
NOIPA static void
f_jumper(int n)
{
	f_target(n + 1);
}

NOIPA static void
f_calls_jumper(void)
{
	f_jumper(1);
	DONE;
}

/* ---- left unseen ---- */

NOIPA static void
f_deep(int jump)
{
	strobe_region_begin();
	f_seen();
	if (!jump)
		strobe_region_end();
	longjmp(there, 1);
}

NOIPA static void
f_jumps_unseen(void)
{
	if (!setjmp(there))
		f_deep(0);
	LOOK();
	DONE;
}

NOIPA static void
f_jumps_seen(void)
{
	if (!setjmp(there))
		f_deep(1);
	f_seen();
	strobe_region_end();
	DONE;
}

/* Two functions, one after the other, whose frames lie alike. */
NOIPA static void
f_left(void)
{
	f_inner();
	DONE;
}

NOIPA static void
f_right(void)
{
	f_inner();
	DONE;
}

/* ---- signals ---- */

NOIPA static void
f_handler(int number)
{
	strobe_region_begin();
	f_seen();
	if (number == SIGUSR1)
		strobe_region_end();
}

NOIPA static void
f_interrupted(int number)
{
	raise(number);
	if (number != SIGUSR1) {
		f_seen();
		strobe_region_end();
	}
	DONE;
}

NOIPA static void
f_signals(int flags)
{
	static char stack[STACK];
	stack_t own = {.ss_sp = stack, .ss_size = STACK};
	struct sigaction action = {.sa_handler = f_handler, .sa_flags = flags};
	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	f_interrupted(SIGUSR1);
	f_interrupted(SIGUSR2);
	DONE;
}

/* ---- other stacks ---- */

static ucontext_t back, other;
static char stack[STACK];

NOIPA static void
f_yields(void)
{
	LOOK();
	swapcontext(&other, &back);
	DONE;
}

NOIPA static void
f_coroutine(void)
{
	f_yields();
	f_yields();
	f_yields();
}

NOIPA static void
f_begins(int seen)
{
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = STACK;
	other.uc_link = &back;
	makecontext(&other, f_coroutine, 0);
	if (seen)
		strobe_region_begin();
	swapcontext(&back, &other);
	strobe_region_end();
	DONE;
}

NOIPA static void
f_goes_on(void)
{
	swapcontext(&back, &other);
	LOOK();
	DONE;
}

/* ---- hand-written, without a word on its frames ---- */

NOIPA void f_bare(void (*called)(void));
__asm__(".text\n.globl f_bare\n.type f_bare,@function\n"
        "f_bare:\tpush %rbx\n\tpush %r15\n\tsub $56, %rsp\n\tcall *%rdi\n"
        "\tadd $56, %rsp\n\tpop %r15\n\tpop %rbx\n\tret\n.size f_bare, .-f_bare\n");
NOIPA void f_framed(void (*called)(void));
__asm__(".text\n.globl f_framed\n.type f_framed,@function\n"
        "f_framed:\tpush %rbp\n\tmov %rsp, %rbp\n\tsub $64, %rsp\n\tcall *%rdi\n"
        "\tleave\n\tret\n.size f_framed, .-f_framed\n");

NOIPA static void
f_bares(void (*volatile framed)(void (*)(void)))
{
	f_bare(f_inner);
	framed(f_inner);
	DONE;
}

/* ---- threads ---- */

static void
await(const int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_SEQ_CST))
		__asm__ volatile("pause");
}

NOIPA static void
f_waits(void)
{
	__atomic_store_n(&arrived, 1, __ATOMIC_SEQ_CST);
	await(&told);
	f_seen();
	__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
}

NOIPA static void *
f_thread(void *nothing)
{
	f_waits();
	DONE;
	return nothing;
}

NOIPA static void
f_threads(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, f_thread, NULL);
	await(&arrived);
	strobe_region_begin();
	__atomic_store_n(&told, 1, __ATOMIC_SEQ_CST);
	await(&done);
	strobe_region_end();
	pthread_join(thread, NULL);
}

int
main(void)
{
	volatile size_t n = 200;
	f_chain();
	f_down(5);
	f_returns();
	f_aligned(&n);
	f_calls_jumper();
	f_jumps_unseen();
	f_jumps_seen();
	f_left();
	f_right();
	f_signals(0);
	f_signals(SA_ONSTACK);
	f_begins(0);
	f_goes_on();
	f_begins(1);
	f_goes_on();
	f_bares(f_framed);
	f_threads();
	return 0;
}
