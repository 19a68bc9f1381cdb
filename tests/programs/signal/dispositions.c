/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sigaction and sigprocmask answer is what was set, for every signal and also through the bare
 * system call (handler, flags, restorer, mask), SIGSEGV and the like included; what is refused is
 * refused; raising an ignored signal is nothing.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <sys/syscall.h>

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

#define RESTORER 0x04000000ul

static volatile int hits, last;

static void
on_a(int sig)
{
	hits++;
	last = sig;
}

static void
on_b(int sig)
{
	hits += 100;
	last = sig;
}

void own_restorer(void);
__asm__(".text\nown_restorer: incl restored(%rip)\nmov $15, %eax\nsyscall\n");
int restored;

static long
raw_action(int sig, const struct kernel_action *set, struct kernel_action *old)
{
	return syscall(SYS_rt_sigaction, sig, set, old, 8) ? -errno : 0;
}

static void
every_signal(void)
{
	for (int sig = 1; sig <= 64; sig++) {
		struct kernel_action old = {0},
		                     set = {(void *)(uintptr_t)on_a, RESTORER | SA_RESTART,
		                            (void *)(uintptr_t)own_restorer,
		                            0x123456ul << sig % 30};
		if (sig == SIGKILL || sig == SIGSTOP) {
			CHECK_EQ(raw_action(sig, &set, NULL), -EINVAL);
			CHECK_EQ(raw_action(sig, NULL, &old), 0);
			continue;
		}
		CHECK_EQ(raw_action(sig, NULL, &old), 0);
		CHECK(!old.handler && !old.flags && !old.mask,
		      "signal %d has a handler from the start", sig);
		CHECK_EQ(raw_action(sig, &set, &old), 0);
		CHECK(!old.handler, "signal %d: old handler %p", sig, old.handler);
		struct kernel_action other = {(void *)(uintptr_t)on_b,
		                              RESTORER | SA_NODEFER | SA_ONSTACK,
		                              (void *)(uintptr_t)own_restorer, 0};
		CHECK_EQ(raw_action(sig, &other, &old), 0);
		uint64_t mask = set.mask & ~(1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1));
		CHECK(old.handler == set.handler && old.flags == set.flags &&
		              old.restorer == set.restorer && old.mask == mask,
		      "signal %d: answer is handler %p flags %#lx restorer %p mask %#lx", sig,
		      old.handler, old.flags, old.restorer, old.mask);
		if (sig != SIGCONT && sig < 32)
			raise_here(sig);
		CHECK(sig == SIGCONT || sig >= 32 || last == sig, "handler of %d did not run", sig);
		other.handler = SIG_DFL;
		CHECK_EQ(raw_action(sig, &other, &old), 0);
		CHECK_EQ((uintptr_t)old.handler, (uintptr_t)on_b);
		CHECK_EQ(raw_action(sig, NULL, &old), 0);
		CHECK(!old.handler && old.flags == other.flags, "signal %d: %p %#lx", sig,
		      old.handler, old.flags);
		other = (struct kernel_action){0};
		raw_action(sig, &other, NULL);
	}
	CHECK(restored == hits / 100 && restored == 28, "the program's restorer ran %d times",
	      restored);
}

static void
refused(void)
{
	struct kernel_action set = {(void *)(uintptr_t)on_a, 0, NULL, 0}, old;

	CHECK_EQ(raw_action(0, &set, NULL), -EINVAL);
	CHECK_EQ(raw_action(65, &set, NULL), -EINVAL);
	CHECK_EQ(raw_action(-1, NULL, &old), -EINVAL);
	CHECK_EQ(raw_action(SIGUSR1, (void *)8, NULL), -EFAULT);
	CHECK_EQ(raw_action(65, (void *)8, NULL), -EFAULT); /* the kernel reads first */
	CHECK_EQ(raw_action(SIGKILL, (void *)8, NULL), -EFAULT);
	CHECK_EQ(raw_action(SIGUSR1, NULL, (void *)8), -EFAULT);
	set.flags = 0x400 | 0x800; /* SA_UNSUPPORTED, which tells old kernels by being kept */
	CHECK_EQ(raw_action(SIGUSR1, &set, NULL), 0);
	CHECK_EQ(raw_action(SIGUSR1, NULL, &old), 0);
	CHECK_EQ(old.flags, 0x800);
	set.handler = SIG_DFL;
	set.flags = 0;
	CHECK_EQ(raw_action(SIGUSR1, &set, NULL), 0);
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 4) == -1 && errno == EINVAL, "size");
	CHECK(syscall(SYS_rt_sigprocmask, 77, &old, NULL, 8) == -1 && errno == EINVAL, "how");
	CHECK(!syscall(SYS_rt_sigprocmask, 1L << 32 | SIG_BLOCK, NULL, &old, 8),
	      "an int's high half");
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void *)8, NULL, 8) == -1 && errno == EFAULT,
	      "set");
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &old, NULL, 4) == -1 && errno == EINVAL,
	      "size");
}

static uint64_t
raw_mask(int how, uint64_t set)
{
	uint64_t old;

	CHECK(!syscall(SYS_rt_sigprocmask, how, &set, &old, 8), "rt_sigprocmask");
	return old;
}

static void
masks(void)
{
	uint64_t never = 1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1), all = ~never, before;

	before = raw_mask(SIG_SETMASK, ~0ul);
	CHECK_EQ(before, 0);
	CHECK_EQ(raw_mask(SIG_BLOCK, 0), all);
	for (int sig = 1; sig <= 64; sig++) {
		CHECK_EQ(raw_mask(SIG_UNBLOCK, 1ul << (sig - 1)), all);
		CHECK_EQ(raw_mask(SIG_BLOCK, 1ul << (sig - 1)), all & ~(1ul << (sig - 1)));
	}
	CHECK_EQ(raw_mask(SIG_SETMASK, 0x5555), all);
	CHECK_EQ(raw_mask(SIG_SETMASK, 0), 0x5555 & ~never);
}

/* A blocked fault kills; an ignored one is nothing when it is sent, but kills when it happens:
 * tested in process/ends. */
static void
ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	raise_here(SIGSEGV);
	raise_here(SIGTERM);
	kill(getpid(), SIGSEGV);
	signal(SIGSEGV, SIG_DFL);
	CHECK(signal(SIGTERM, on_a) == SIG_IGN, "signal's answer");
	CHECK(signal(SIGTERM, SIG_DFL) == on_a, "signal's answer");
	raise_here(SIGCHLD);
	raise_here(SIGWINCH);
	raise_here(SIGURG);
}

int
main(void)
{
	masks();
	refused();
	every_signal();
	ignored();
	puts("dispositions and masks read back as set");
	return 0;
}
