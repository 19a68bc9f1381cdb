/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "control/internal.h"

int
st_remote_begin(struct st_remote *r, pid_t pid, struct st_error *e)
{
	r->pid = pid;
	if (ptrace(PTRACE_GETREGS, pid, 0, &r->saved) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the program's registers: %s",
		               strerror(errno));
	r->at = r->saved.rip;
	errno = 0;
	r->patched = ptrace(PTRACE_PEEKTEXT, pid, r->at, 0);
	if (errno)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the program's first instruction: %s",
		               strerror(errno));
	/* syscall; int3 */
	long code = (r->patched & ~0xffffffl) | 0xcc050f;
	if (ptrace(PTRACE_POKETEXT, pid, r->at, code) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot write to the program's memory: %s",
		               strerror(errno));
	return 0;
}

void
st_remote_borrow(struct st_remote *r, pid_t tid, const struct user_regs_struct *saved, uint64_t at)
{
	*r = (struct st_remote){.pid = tid, .saved = *saved, .at = at, .found = true};
}

/* Up to the breakpoint behind the instruction. */
static int
run_to_trap(pid_t pid)
{
	int status;
	if (ptrace(PTRACE_CONT, pid, 0, 0) != 0)
		return -1;
	for (;;) {
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) == SIGTRAP && status >> 16 == 0)
			return 0;
		/* Some other stop (a group stop, say): go on to ours. */
		if (ptrace(PTRACE_CONT, pid, 0, 0) != 0)
			return -1;
	}
}

/*
 * The thread's next stop, or -1. All others that we trace are stopped and can only be killed: their
 * ends are taken, too, since that of the process' first thread is told when all others' are.
 */
static int
wait_for_stop(pid_t pid, int *status)
{
	pid_t who;
	do
		who = waitpid(-1, status, __WALL);
	while (who > 0 && who != pid);
	return who == pid && WIFSTOPPED(*status) ? 0 : -1;
}

/* Into the system call, and out of it. */
static int
run_through_call(pid_t pid)
{
	int status;
	for (int stops = 0; stops < 2;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) != 0 || wait_for_stop(pid, &status) != 0)
			return -1;
		stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
	}
	return 0;
}

long
st_remote_call(struct st_remote *r, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
               uint64_t f, uint64_t g)
{
	struct user_regs_struct regs = r->saved;
	regs.rip = r->at;
	regs.rax = (unsigned long long)nr;
	regs.orig_rax = ~0ull;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.r10 = d;
	regs.r8 = f;
	regs.r9 = g;
	if (ptrace(PTRACE_SETREGS, r->pid, 0, &regs) != 0 ||
	    (r->found ? run_through_call(r->pid) : run_to_trap(r->pid)) != 0)
		return -ESRCH;
	if (ptrace(PTRACE_GETREGS, r->pid, 0, &regs) != 0)
		return -ESRCH;
	return (long)regs.rax;
}

int
st_remote_end(struct st_remote *r)
{
	return ptrace(PTRACE_POKETEXT, r->pid, r->at, r->patched) == 0 ? 0 : -1;
}
