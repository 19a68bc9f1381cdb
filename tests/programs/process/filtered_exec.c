/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A filter that kills for one system call, recvmsg, which this program never makes, and an execve
 * under it. The engine would need that call to come into the new program: it must not try.
 */
/* strobe-test: follow=1 stress=blocks,lookup */
#include "check.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	if (argc > 1) {
		puts("came through");
		return 0;
	}
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp: %s",
	      strerror(errno));
	execl("/proc/self/exe", argv[0], "again", NULL);
	CHECK(0, "execl: %s", strerror(errno));
}
