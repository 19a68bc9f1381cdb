/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and processes by the bare system calls: clone3 with a stack and TLS of its own, clone as
 * a thread with CLONE_CHILD_CLEARTID, clone3 as fork, set_tid and pidfd; the child's registers are
 * those of the parent at the call.
 */
/* strobe-test: follow=1 */
#include "check.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct shared {
	uint64_t registers[6]; /* rbx r12 r13 r14 r15 rbp as the child finds them */
	uint64_t rsp, rax, r8;
	_Atomic uint32_t tid;
};

static struct shared shared;
static char stack[65536] __attribute__((aligned(16)));

/* clone3(args, size): the child stores its registers in `shared` and leaves by exit(0). */
long raw_clone3(struct clone_args *args, size_t size);
__asm__(".text\n.globl raw_clone3\n"
        "raw_clone3: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "mov $0x11, %ebx; mov $0x12, %r12d; mov $0x13, %r13d; mov $0x14, %r14d; mov $0x15, %r15d\n"
        "mov $0x16, %ebp; mov $0x18, %r8d\n"
        "mov $435, %eax\n"
        "syscall\n"
        "test %rax, %rax\n"
        "jz 1f\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "ret\n"
        "1: mov %rbx, shared(%rip); mov %r12, shared+8(%rip); mov %r13, shared+16(%rip)\n"
        "mov %r14, shared+24(%rip); mov %r15, shared+32(%rip); mov %rbp, shared+40(%rip)\n"
        "mov %rsp, shared+48(%rip); mov %rax, shared+56(%rip); mov %r8, shared+64(%rip)\n"
        "call 2f\n"
        "2: pop %rcx\n"
        "mov $60, %eax; xor %edi, %edi; syscall\n"
        "hlt\n");

static void
check_child(const char *what)
{
	static const uint64_t values[] = {0x11, 0x12, 0x13, 0x14, 0x15, 0x16};

	for (unsigned i = 0; i < 6; i++)
		CHECK(shared.registers[i] == values[i], "%s: register %u is %#lx", what, i,
		      shared.registers[i]);
	CHECK_EQ(shared.rsp, (uintptr_t)(stack + sizeof stack));
	CHECK_EQ(shared.rax, 0);
	CHECK_EQ(shared.r8, 0x18);
}

static void
wait_cleared(void)
{
	uint32_t now;

	while ((now = shared.tid))
		syscall(SYS_futex, &shared.tid, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void
as_thread(void)
{
	static char tls[256];

	for (int i = 0; i < 200; i++) {
		memset(&shared, 0, sizeof shared);
		struct clone_args args = {
		        .flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		                 CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_CLEARTID |
		                 CLONE_PARENT_SETTID,
		        .child_tid = (uintptr_t)&shared.tid,
		        .parent_tid = (uintptr_t)&shared.tid,
		        .stack = (uintptr_t)stack,
		        .stack_size = sizeof stack,
		        .tls = (uintptr_t)tls,
		};
		long tid = raw_clone3(&args, sizeof args);
		CHECK(tid > 0, "clone3 gave %ld", tid);
		wait_cleared();
		check_child("thread");
	}
}

static void
as_process(unsigned long flags)
{
	for (int i = 0; i < 50; i++) {
		memset(&shared, 0, sizeof shared);
		int pidfd = -1, status;
		struct clone_args args = {
		        .flags = flags | CLONE_PIDFD,
		        .pidfd = (uintptr_t)&pidfd,
		        .exit_signal = SIGCHLD,
		        .stack = (uintptr_t)stack,
		        .stack_size = sizeof stack,
		};
		long pid = raw_clone3(&args, sizeof args);
		CHECK(pid > 0 && pidfd > 2, "clone3 gave %ld, pidfd %d", pid, pidfd);
		siginfo_t info = {0};
		CHECK(!waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT) &&
		              info.si_pid == pid && info.si_code == CLD_EXITED,
		      "waitid");
		CHECK(waitpid((pid_t)pid, &status, 0) == pid && status == 0, "status %#x", status);
		close(pidfd);
		if (flags & CLONE_VM)
			check_child("sharing process");
		else
			CHECK_EQ(shared.rsp, 0);
	}
}

static void
refused(void)
{
	struct clone_args args = {.flags = CLONE_THREAD, .exit_signal = 0};

	CHECK_EQ(syscall(SYS_clone3, &args, sizeof args), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK(syscall(SYS_clone3, &args, 8) == -1 && errno == EINVAL, "short clone_args");
	CHECK(syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0) == -1 && errno == EINVAL,
	      "CLONE_SIGHAND");
}

int
main(void)
{
	as_thread();
	as_process(0);
	as_process(CLONE_VM);
	as_process(CLONE_VM | CLONE_VFORK);
	refused();
	puts("cloned threads and processes start as they should");
	return 0;
}
