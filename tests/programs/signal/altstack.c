/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alternate signal stacks: used only with SA_ONSTACK, shown as in use by sigaltstack and uc_stack,
 * and enough to survive a stack overflow, again and again, by siglongjmp out of the handler.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>

#define SIZE (256 * 1024)

static char *stack;
static volatile int hits;
static sigjmp_buf back;
static volatile uintptr_t overflow_low;

static int
on_alternate(const void *p)
{
	return (const char *)p >= stack && (const char *)p < stack + SIZE;
}

static void
check_queries(void *context, int inside)
{
	stack_t now;
	ucontext_t *uc = context;

	CHECK(!sigaltstack(NULL, &now), "sigaltstack query failed");
	CHECK_EQ((uintptr_t)now.ss_sp, (uintptr_t)stack);
	CHECK_EQ(now.ss_size, SIZE);
	CHECK_EQ(now.ss_flags, inside ? SS_ONSTACK : 0);
	CHECK_EQ((uintptr_t)uc->uc_stack.ss_sp, (uintptr_t)stack);
	CHECK_EQ(uc->uc_stack.ss_size, SIZE);
}

static void
on_with(int sig, siginfo_t *info, void *context)
{
	int here;

	(void)sig, (void)info;
	CHECK(on_alternate(&here), "SA_ONSTACK handler is not on the alternate stack");
	CHECK((char *)context > stack && on_alternate(context), "ucontext is elsewhere");
	check_queries(context, 1);
	CHECK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL) == -1 && errno == EPERM,
	      "an alternate stack in use could be disabled");
	hits++;
	if (hits == 1)
		raise_here(SIGUSR2); /* without SA_ONSTACK, yet on the stack that is in use */
}

static void
on_without(int sig, siginfo_t *info, void *context)
{
	int here;

	(void)sig, (void)info;
	CHECK_EQ(on_alternate(&here), hits == 1);
	check_queries(context, hits == 1);
	hits++;
}

static void
on_overflow(int sig, siginfo_t *info, void *context)
{
	int here;
	uintptr_t address = (uintptr_t)info->si_addr, sp = get_reg(context, REG_RSP);

	CHECK_EQ(sig, SIGSEGV);
	CHECK(on_alternate(&here), "overflow handler is not on the alternate stack");
	CHECK(address <= sp + 4096 && address + 65536 > sp, "si_addr %#lx is far from rsp %#lx",
	      address, sp);
	hits++;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static uint64_t
recurse(volatile uint64_t n)
{
	volatile char frame[200];

	frame[n % 200] = (char)n;
	if (!n)
		return 0;
	return recurse(n + 1) + (uint64_t)frame[n % 200];
}

static void *
overflow_again_and_again(void *arg)
{
	stack_t mine = {.ss_sp = stack, .ss_size = SIZE};

	(void)arg;
	CHECK(!sigaltstack(&mine, NULL), "sigaltstack failed");
	for (volatile int i = 0; i < 20; i++) {
		hits = 0;
		if (!sigsetjmp(back, 1))
			recurse(1);
		CHECK_EQ(hits, 1);
		check_queries(&(ucontext_t){.uc_stack = mine}, 0);
	}
	return NULL;
}

int
main(void)
{
	stack_t old;
	pthread_t thread;
	pthread_attr_t attributes;

	stack = aligned_alloc(4096, SIZE);
	CHECK(!sigaltstack(NULL, &old) && old.ss_flags == SS_DISABLE && !old.ss_size,
	      "a fresh program has an alternate stack");
	CHECK(!sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIZE}, NULL),
	      "sigaltstack failed");
	CHECK(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 100}, NULL) == -1 &&
	              errno == ENOMEM,
	      "a tiny stack was accepted");
	handle(SIGUSR1, on_with, SA_ONSTACK);
	handle(SIGUSR2, on_without, 0);
	raise_here(SIGUSR1);
	CHECK_EQ(hits, 2);
	raise_here(SIGUSR2);
	CHECK_EQ(hits, 3);
	handle(SIGSEGV, on_overflow, SA_ONSTACK);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 512 * 1024);
	CHECK(!sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL), "cannot disable");
	CHECK(!pthread_create(&thread, &attributes, overflow_again_and_again, NULL), "thread");
	pthread_join(thread, NULL);
	puts("alternate stacks are used as asked, overflows are caught");
	return 0;
}
