/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that puts itself under a seccomp filter: getppid fails with EPERM, uname traps into a
 * SIGSYS handler that gives the answer, everything else is allowed; the filter also holds in a
 * child.
 */
/* strobe-test: stress=blocks,lookup */
#include "signal/ucontext.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static volatile int trapped;

static void
on_trap(int sig, siginfo_t *info, void *context)
{
	CHECK(sig == SIGSYS && info->si_code == 1 /* SYS_SECCOMP */ &&
	              info->si_syscall == SYS_uname,
	      "SIGSYS of %d", info->si_syscall);
	CHECK_EQ(get_reg(context, REG_RIP), (uintptr_t)info->si_call_addr);
	set_reg(context, REG_RAX, 4321);
	trapped++;
}

static void
install(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp: %s",
	      strerror(errno));
}

static void
use(void)
{
	struct utsname u;

	CHECK(syscall(SYS_getppid) == -1 && errno == EPERM, "getppid was not refused");
	trapped = 0;
	CHECK_EQ(syscall(SYS_uname, &u), 4321);
	CHECK_EQ(trapped, 1);
}

int
main(void)
{
	int status;

	handle(SIGSYS, on_trap, 0);
	install();
	for (int i = 0; i < 20; i++)
		use();
	pid_t pid = fork();
	if (!pid) {
		use();
		_exit(11);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 11,
	      "status %#x", status);
	puts("the filter filters");
	return 0;
}
