/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/internal.h"
#include "control/threads.h"

/*
 * Makes the calls of the table from rbx to rbp, and puts each answer in the place of its number. It
 * ends at the breakpoint, behind the last one or the first that has failed.
 */
static const unsigned char caller[8 * ST_REMOTE_WORDS] = {
        0x48, 0x8b, 0x03,                   /* mov rax, [rbx] */
        0x48, 0x8b, 0x7b, 0x08,             /* mov rdi, [rbx + 8] */
        0x48, 0x8b, 0x73, 0x10,             /* mov rsi, [rbx + 16] */
        0x48, 0x8b, 0x53, 0x18,             /* mov rdx, [rbx + 24] */
        0x4c, 0x8b, 0x53, 0x20,             /* mov r10, [rbx + 32] */
        0x4c, 0x8b, 0x43, 0x28,             /* mov r8, [rbx + 40] */
        0x4c, 0x8b, 0x4b, 0x30,             /* mov r9, [rbx + 48] */
        0x0f, 0x05,                         /* syscall, at SYSCALL_AT */
        0x48, 0x89, 0x03,                   /* mov [rbx], rax */
        0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, /* cmp rax, -4095 */
        0x73, 0x09,                         /* jae to the breakpoint */
        0x48, 0x83, 0xc3, 0x38,             /* add rbx, 56 */
        0x48, 0x39, 0xeb,                   /* cmp rbx, rbp */
        0x72, 0xcf,                         /* jb to the beginning */
        0xcc,                               /* int3 */
};
enum { SYSCALL_AT = 27 };
_Static_assert(sizeof(struct st_remote_call) == 56, "the caller knows it");

static bool
ignores(pid_t pid, int signo)
{
	char path[64], line[256];
	unsigned long long set = 0;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "SigIgn: %llx", &set) == 1)
			break;
	if (f)
		fclose(f);
	return set >> (signo - 1) & 1;
}

/* In place of the program's first instructions: for a process that has no room for a way back. */
static st_status
patch(struct st_remote *r, struct st_error *e)
{
	/* All of it in one page: that of the program's first instruction. */
	r->at = r->saved.rip;
	if ((r->at & 4095) > 4096 - sizeof caller)
		r->at = (r->at | 4095) + 1 - sizeof caller;
	for (unsigned i = 0; i < ST_REMOTE_WORDS; i++) {
		errno = 0;
		r->patched[i] = ptrace(PTRACE_PEEKTEXT, r->pid, r->at + 8 * i, 0);
		if (errno)
			return st_fail(e, ST_EXIT_FAILED,
			               "cannot read the program's first instruction: %s",
			               strerror(errno));
	}
	for (unsigned i = 0; i < ST_REMOTE_WORDS; i++) {
		long word;
		memcpy(&word, caller + 8 * i, 8);
		if (ptrace(PTRACE_POKETEXT, r->pid, r->at + 8 * i, word) != 0)
			return st_fail(e, ST_EXIT_FAILED,
			               "cannot write to the program's memory: %s", strerror(errno));
	}
	r->ignores_traps = ignores(r->pid, SIGTRAP);
	return 0;
}

/* The thread is where it goes back by itself. First that, then its mask: on the way back it gets
 * its own again. */
static st_status
stand_by(const struct st_remote *r, uint64_t mask)
{
	struct user_regs_struct regs = r->saved;
	regs.rip = st_retreat_back_at(&r->retreat);
	regs.orig_rax = ~0ull;
	if (r->retreat.at && ptrace(PTRACE_SETREGS, r->pid, 0, &regs) != 0)
		return -1;
	return ptrace(PTRACE_SETSIGMASK, r->pid, sizeof mask, &mask) == 0 ? 0 : -1;
}

/* By which the code tells that it has made its calls. */
static int
telling_signal(const struct st_remote *r)
{
	return r->retreat.at ? SIGURG : SIGTRAP;
}

st_status
st_remote_begin(struct st_remote *r, pid_t pid, const struct user_regs_struct *saved,
                uint64_t table, struct st_error *e)
{
	*r = (struct st_remote){.pid = pid, .saved = *saved, .table = table};
	if (ptrace(PTRACE_GETSIGMASK, pid, sizeof r->blocked, &r->blocked) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the program's signal mask: %s",
		               strerror(errno));
	if (st_retreat_put(&r->retreat, pid, saved, r->blocked))
		r->at = st_retreat_table_at(&r->retreat);
	else if (patch(r, e) != 0)
		return -1;
	/* Signals that arrive meanwhile stay pending. */
	if (stand_by(r, ~(1ull << (telling_signal(r) - 1))) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot block the program's signals: %s",
		               strerror(errno));
	return 0;
}

st_status
st_remote_borrow(struct st_remote *r, pid_t tid, const struct user_regs_struct *saved,
                 uint64_t mask)
{
	*r = (struct st_remote){.pid = tid, .saved = *saved, .blocked = mask, .single = true};
	if (st_retreat_put(&r->retreat, tid, saved, mask))
		r->at = st_retreat_call_at(&r->retreat);
	else
		r->at = st_syscall_in_vdso(tid);
	return r->at && stand_by(r, ~0ull) == 0 ? 0 : -1;
}

void
st_remote_way_back(struct st_remote *r, uint64_t undo, const struct st_remote_call *calls,
                   unsigned n, uint64_t fds, uint64_t fds_end)
{
	struct st_retreat_data *d = &r->retreat.data;
	if (!r->retreat.at)
		return;
	bool there = n == 0 || st_remote_write(r, undo, calls, n * sizeof *calls);
	d->undo = undo;
	d->undo_end = there ? undo + n * sizeof *calls : undo;
	d->fds = fds;
	d->fds_end = fds_end;
	st_retreat_update(&r->retreat); /* or else the way back is that of before */
}

bool
st_next_stop(pid_t pid, int *signal_and_event)
{
	siginfo_t seen;
	do {
		if (waitid(P_PID, (id_t)pid, &seen, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0 ||
		    (seen.si_code != CLD_TRAPPED && seen.si_code != CLD_STOPPED))
			return false;
		seen.si_pid = 0; /* it may be killed between the two */
		waitid(P_PID, (id_t)pid, &seen, WSTOPPED | WNOHANG | __WALL);
	} while (seen.si_pid != pid);
	*signal_and_event = seen.si_status;
	return true;
}

/* Up to where the code tells that it has made its calls. */
static bool
run_to_end(const struct st_remote *r)
{
	struct user_regs_struct regs;
	int stop = 0;
	do { /* some other stop (a group stop, say): go on to ours */
		if (ptrace(PTRACE_CONT, r->pid, 0, 0) != 0 || !st_next_stop(r->pid, &stop) ||
		    ptrace(PTRACE_GETREGS, r->pid, 0, &regs) != 0)
			return false;
	} while (stop != telling_signal(r) ||
	         (r->retreat.at && regs.rip != st_retreat_told_at(&r->retreat)));
	return true;
}

/*
 * The thread's next stop, or -1. All others that we trace are stopped and can only be killed: their
 * ends are taken, too, since that of the process' first thread is told when all others' are.
 */
static st_status
wait_for_stop(pid_t pid, int *status)
{
	pid_t who;
	do
		who = waitpid(-1, status, __WALL);
	while (who > 0 && who != pid);
	return who == pid && WIFSTOPPED(*status) ? 0 : -1;
}

/* Into the system call, and out of it. */
static st_status
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

bool
st_remote_run_back(struct st_remote *r, unsigned n)
{
	struct user_regs_struct regs = r->saved;
	regs.rip = st_retreat_back_at(&r->retreat);
	if (ptrace(PTRACE_SETREGS, r->pid, 0, &regs) != 0)
		return false;
	while (n-- > 0)
		if (run_through_call(r->pid) != 0)
			return true; /* it has ended */
	ptrace(PTRACE_SETREGS, r->pid, 0, &r->saved);
	st_retreat_clear(&r->retreat);
	ptrace(PTRACE_DETACH, r->pid, 0, 0);
	return true;
}

/* All by registers. */
static long
call_single(const struct st_remote *r, const struct st_remote_call *call)
{
	struct user_regs_struct regs = r->saved;
	regs.rip = r->at;
	regs.rax = (unsigned long long)call->nr;
	regs.orig_rax = ~0ull;
	regs.rdi = call->arg[0];
	regs.rsi = call->arg[1];
	regs.rdx = call->arg[2];
	regs.r10 = call->arg[3];
	regs.r8 = call->arg[4];
	regs.r9 = call->arg[5];
	if (ptrace(PTRACE_SETREGS, r->pid, 0, &regs) != 0 || run_through_call(r->pid) != 0 ||
	    ptrace(PTRACE_GETREGS, r->pid, 0, &regs) != 0)
		return -ESRCH;
	return (long)regs.rax;
}

static bool
has_failed(long answer)
{
	return answer < 0 && answer > -4096;
}

/* All of them at one stop. */
static bool
call_table(const struct st_remote *r, struct st_remote_call *calls, unsigned n)
{
	struct user_regs_struct regs = r->saved;
	regs.rip = r->at;
	regs.orig_rax = ~0ull;
	regs.rbx = r->table;
	regs.rbp = r->table + n * sizeof *calls;
	return st_remote_write(r, r->table, calls, n * sizeof *calls) &&
	       ptrace(PTRACE_SETREGS, r->pid, 0, &regs) == 0 && run_to_end(r) &&
	       st_remote_read(r, r->table, calls, n * sizeof *calls);
}

unsigned
st_remote_calls(struct st_remote *r, struct st_remote_call *calls, unsigned n)
{
	unsigned done = 0;
	if (!r->single && !call_table(r, calls, n)) {
		calls[0].nr = -ESRCH;
		return 0;
	}
	for (; done < n; done++) {
		if (r->single)
			calls[done].nr = call_single(r, &calls[done]);
		if (has_failed(calls[done].nr))
			break;
	}
	return done;
}

long
st_remote_call(struct st_remote *r, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
               uint64_t f, uint64_t g)
{
	struct st_remote_call call = {nr, {a, b, c, d, f, g}};
	st_remote_calls(r, &call, 1);
	return call.nr;
}

/* The program ignored SIGTRAP when it was started: it does so again. */
static bool
ignore_traps(struct st_remote *r)
{
	enum { MOST_STOPS = 64 };
	static const uint64_t none[4], ignore[4] = {1 /* SIG_IGN */};
	struct user_regs_struct regs = r->saved;
	int stop;
	bool done = false;
	regs.rip = r->at + SYSCALL_AT;
	regs.rax = __NR_rt_sigaction;
	regs.orig_rax = ~0ull;
	regs.rdi = SIGTRAP;
	regs.rsi = r->table;
	regs.rdx = 0;
	regs.r10 = 8;
	if (!st_remote_write(r, r->table, ignore, sizeof ignore) ||
	    ptrace(PTRACE_SETREGS, r->pid, 0, &regs) != 0)
		return false;
	/* Into the call, out of it, and what may come in between. */
	for (unsigned i = 0; !done && i < MOST_STOPS; i++)
		if (ptrace(PTRACE_SYSCALL, r->pid, 0, 0) != 0 || !st_next_stop(r->pid, &stop) ||
		    ptrace(PTRACE_GETREGS, r->pid, 0, &regs) != 0)
			return false;
		else
			done = regs.rip == r->at + SYSCALL_AT + 2 && regs.rax == 0;
	return st_remote_write(r, r->table, none, sizeof none) && done;
}

st_status
st_remote_end(struct st_remote *r)
{
	if (r->ignores_traps && !ignore_traps(r))
		return -1;
	for (unsigned i = 0; i < ST_REMOTE_WORDS && !r->retreat.at; i++)
		if (ptrace(PTRACE_POKETEXT, r->pid, r->at + 8 * i, r->patched[i]) != 0)
			return -1;
	return ptrace(PTRACE_SETSIGMASK, r->pid, sizeof r->blocked, &r->blocked) == 0 ? 0 : -1;
}

/* Opens the memory as a file, for containers that forbid the system calls. */
static int
open_memory(const struct st_remote *r)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", r->pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

bool
st_remote_read(const struct st_remote *r, uint64_t from, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)from, n};
	if (process_vm_readv(r->pid, &here, 1, &there, 1, 0) == (ssize_t)n)
		return true;
	int fd = open_memory(r);
	bool ok = fd >= 0 && pread(fd, to, n, (off_t)from) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return ok;
}

bool
st_remote_write(const struct st_remote *r, uint64_t to, const void *from, size_t n)
{
	struct iovec here = {(void *)from, n}, there = {(void *)to, n};
	if (process_vm_writev(r->pid, &here, 1, &there, 1, 0) == (ssize_t)n)
		return true;
	int fd = open_memory(r);
	bool ok = fd >= 0 && pwrite(fd, from, n, (off_t)to) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return ok;
}
