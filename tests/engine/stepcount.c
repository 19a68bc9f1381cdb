/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts what a program executes by stepping each instruction under ptrace: the independent truth
 * for inscount and bbcount. Prints `instructions N blocks N` on stderr. A block ends at every
 * branch, call, return and system call; an instruction with a rep prefix counts once, however often
 * it repeats; an instruction that faults does not count. About 26 microseconds a step, so only for
 * short programs. Threads are stepped too; children are not followed. A hypervisor that does cpuid
 * in the CPU's place may forget the trap after it: the step is then two instructions, and counts as
 * two.
 *
 * Usage: stepcount PROGRAM [ARGUMENT...]
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 64
#define MAX_LENGTH 15  /* of an instruction */
#define CPUID_LENGTH 2 /* nobody writes prefixes in front of it */

enum kind { PLAIN, BRANCH, REPEATED, CPUID };

/* The step a thread has under way. */
struct thread {
	pid_t tid;
	uint64_t rip;   /* where it began */
	enum kind kind; /* of the instruction there */
	bool stepping;
	bool repeating; /* the instruction there has been counted and goes on */
};

static struct thread threads[MAX_THREADS];
static uint64_t instructions, blocks;

static void
fail(const char *what)
{
	fprintf(stderr, "stepcount: %s: %s\n", what, strerror(errno));
	exit(125);
}

static bool
is_string_operation(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

static bool
ends_block(const uint8_t *p)
{
	uint8_t operation = p[1] >> 3 & 7;

	if ((*p >= 0x70 && *p <= 0x7f) || (*p >= 0xe0 && *p <= 0xe3))
		return true;
	switch (*p) {
	case 0xc2: /* returns */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xcd: /* int */
	case 0xe8: /* calls and jumps */
	case 0xe9:
	case 0xeb:
		return true;
	case 0xff:
		return operation >= 2 && operation <= 5;
	case 0x0f:
		return p[1] == 0x05 || p[1] == 0x34 || (p[1] >= 0x80 && p[1] <= 0x8f);
	default:
		return false;
	}
}

/* What kind of instruction these bytes begin with. VEX and EVEX prefixes never lead to a branch. */
static enum kind
classify(const uint8_t *p)
{
	bool repeated = false;

	for (;; p++) {
		if (*p == 0xf2 || *p == 0xf3)
			repeated = true;
		else if (*p != 0x66 && *p != 0x67 && *p != 0x2e && *p != 0x36 && *p != 0x3e &&
		         *p != 0x26 && *p != 0x64 && *p != 0x65 && (*p & 0xf0) != 0x40)
			break;
	}
	if (repeated && is_string_operation(*p))
		return REPEATED;
	if (p[0] == 0x0f && p[1] == 0xa2)
		return CPUID;
	return ends_block(p) ? BRANCH : PLAIN;
}

/* Reads the instruction at an address; near an unmapped page perhaps fewer bytes, the rest zero. */
static bool
read_code(pid_t tid, uint64_t rip, uint8_t code[MAX_LENGTH + 1])
{
	size_t room = 4096 - rip % 4096, length = room < MAX_LENGTH ? room : MAX_LENGTH;
	struct iovec local[2] = {{code, length}, {code + length, MAX_LENGTH - length}};
	struct iovec remote[2] = {{(void *)rip, length},
	                          {(void *)(rip + length), MAX_LENGTH - length}};

	memset(code, 0, MAX_LENGTH + 1);
	return process_vm_readv(tid, local, 1, remote, 1, 0) > 0 &&
	       (length == MAX_LENGTH ||
	        process_vm_readv(tid, local + 1, 1, remote + 1, 1, 0) >= -1);
}

static struct thread *
find(pid_t tid)
{
	struct thread *free_one = NULL;

	for (struct thread *t = threads; t < threads + MAX_THREADS; t++) {
		if (t->tid == tid)
			return t;
		if (!t->tid && !free_one)
			free_one = t;
	}
	if (!free_one) {
		errno = EAGAIN;
		fail("too many threads");
	}
	*free_one = (struct thread){.tid = tid};
	return free_one;
}

/* The instruction that the thread's last step began at has been executed. */
static void
count(struct thread *t)
{
	if (!t->stepping)
		return;
	t->stepping = false;
	if (!t->repeating) {
		instructions++;
		blocks += t->kind == BRANCH;
	}
}

/* A step over cpuid has ended here: somewhere else than behind it, the next one is executed as
 * well. */
static void
count_behind_cpuid(const struct thread *t, uint64_t rip)
{
	uint64_t behind = t->rip + CPUID_LENGTH;
	uint8_t code[MAX_LENGTH + 1];

	if (rip == behind || !read_code(t->tid, behind, code))
		return;
	instructions++;
	blocks += classify(code) == BRANCH;
}

/* The thread is stopped; a step that has ended is counted, and the next begins. */
static void
step(struct thread *t, bool completed, int sig)
{
	struct user_regs_struct regs;
	uint8_t code[MAX_LENGTH + 1];

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs))
		return; /* it is being killed */
	if (completed && t->stepping && t->kind == CPUID)
		count_behind_cpuid(t, regs.rip);
	if (completed)
		count(t);
	/* A repetition goes on if the step left it where it was. */
	t->repeating = completed && t->kind == REPEATED && t->rip == regs.rip;
	t->rip = regs.rip;
	t->kind = read_code(t->tid, regs.rip, code) ? classify(code) : PLAIN;
	t->stepping = true;
	if (ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (void *)(long)sig) && errno != ESRCH)
		fail("cannot step");
}

/* A stop: the end of a step, the birth of a thread, or a signal to hand on. */
static void
stopped(pid_t tid, int status)
{
	struct thread *t = find(tid);
	int sig = WSTOPSIG(status), event = status >> 16;
	siginfo_t info;

	if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_EXEC) {
		/* In the middle of the system call: the step itself is reported after it. */
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) && errno != ESRCH)
			fail("cannot step");
		return;
	}
	if (sig == SIGSTOP && !t->stepping) {
		step(t, false, 0); /* a new thread */
		return;
	}
	if (sig == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) && info.si_code > 0 &&
	    info.si_code != SI_KERNEL) {
		/* With SIGTRAP for a code it tells of the entry to a handler: nothing has been
		 * executed yet. */
		step(t, info.si_code != SIGTRAP, 0);
		return;
	}
	/* A signal arrives before the instruction at rip, or that one has faulted: the step did not
	 * happen. */
	step(t, false, sig);
}

static int
run(pid_t pid)
{
	int status, result = -1;
	pid_t tid;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("the program did not start");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
		fail("cannot trace");
	step(find(pid), false, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			stopped(tid, status);
			continue;
		}
		count(find(tid)); /* its last step was the system call that ended it */
		find(tid)->tid = 0;
		if (tid == pid)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: stepcount PROGRAM [ARGUMENT...]\n");
		return 125;
	}
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		fail(argv[1]);
	}
	int result = run(pid);
	fprintf(stderr, "instructions %lu blocks %lu\n", instructions, blocks);
	return result;
}
