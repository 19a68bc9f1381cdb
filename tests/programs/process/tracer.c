/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A debugger in small: a program that traces its own child, steps through it, reads its memory,
 * sets a breakpoint, sees it hit, steps over it, changes a register and lets go. It swallows all
 * signals that it sees: none of them is the engine's.
 */
/* strobe-test: follow=1 stress=blocks,lookup */
#include "check.h"
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

__attribute__((noipa)) static int
target(int x)
{
	return x + 1;
}

static void
child(void)
{
	CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL), "PTRACE_TRACEME");
	raise(SIGSTOP);
	_exit(target(10));
}

static void
wait_stop(pid_t pid, int sig)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == sig,
	      "status %#x, should be a stop by %d", status, sig);
}

static void
trace(pid_t pid)
{
	struct user_regs_struct regs;
	long address = (long)(uintptr_t)target, word, own;
	int status;

	wait_stop(pid, SIGSTOP);
	for (int i = 0; i < 5; i++) {
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "PTRACE_SINGLESTEP");
		wait_stop(pid, SIGTRAP);
	}
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	memcpy(&own, (void *)address, sizeof own);
	CHECK_EQ(word, own);
	CHECK(!ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)((word & ~0xffl) | 0xcc)),
	      "PTRACE_POKETEXT");
	CHECK(!ptrace(PTRACE_CONT, pid, NULL, NULL), "PTRACE_CONT");
	wait_stop(pid, SIGTRAP);
	CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs), "PTRACE_GETREGS");
	CHECK_EQ(regs.rip, address + 1);
	CHECK_EQ(regs.rdi, 10);
	regs.rip--;
	regs.rdi = 40;
	CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &regs), "PTRACE_SETREGS");
	CHECK(!ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)word), "PTRACE_POKETEXT");
	CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "PTRACE_SINGLESTEP");
	wait_stop(pid, SIGTRAP);
	CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs) && regs.rip != (unsigned long)address,
	      "the step did not move");
	CHECK(!ptrace(PTRACE_DETACH, pid, NULL, NULL), "PTRACE_DETACH");
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 41,
	      "status %#x", status);
}

int
main(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0, "fork");
		if (!pid)
			child();
		trace(pid);
	}
	puts("ten children were debugged");
	return 0;
}
