/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sandbox that allows only what the program itself needs (read, write, exit, sigreturn, futex)
 * and kills for the rest. The engine's own system calls, for its cache say, are not on such a list.
 */
/* strobe-test: stress=blocks,lookup */
#include "check.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

__attribute__((noinline)) static uint64_t
work(uint64_t n)
{
	uint64_t h = 1;

	for (uint64_t i = 0; i < n; i++)
		h = h * 31 + i;
	return h;
}

int
main(void)
{
#define ALLOW(name)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        ALLOW(read),
	        ALLOW(write),
	        ALLOW(exit),
	        ALLOW(exit_group),
	        ALLOW(rt_sigreturn),
	        ALLOW(futex),
	        ALLOW(newfstatat),
	        ALLOW(brk),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	puts("going into the sandbox");
	fflush(stdout);
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp: %s",
	      strerror(errno));
	printf("worked: %lu\n", work(100000));
	return 0;
}
