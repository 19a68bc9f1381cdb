/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls serve 50 times, forbids itself all system calls but its own, and calls it 2,000 times.
 * Usage: sandbox strict|kill|errno|mount|exec|twice|child [syscall]: seccomp's strict mode; a
 * filter that kills for other system calls, lets them fail, or kills only for mount; the first
 * after one that lets process_vm_readv fail, or only in a child; installed by prctl, or by syscall
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
	int n;
};
struct box {
	struct item *data;
};

__attribute__((noinline, noipa)) int
serve(struct box *p)
{
	return p->data->n;
}

static int
serve_times(int times)
{
	int sum = 0;
	for (int i = 0; i < times; i++) {
		struct item item = {i};
		struct box box = {&item};
		sum += serve(&box);
	}
	return sum;
}

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                       \
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define OTHERS(verdict)                                                                            \
	{                                                                                          \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),             \
		        ALLOW(SYS_write), ALLOW(SYS_exit), ALLOW(SYS_exit_group),                  \
		        BPF_STMT(BPF_RET | BPF_K, (verdict))                                       \
	}

static int
install(struct sock_fprog *filter, int by_syscall)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	return by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter)
	                  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter);
}

static int
install_in_child(struct sock_fprog *filter)
{
	int status = 0;
	if (!fork())
		syscall(SYS_exit, install(filter, 0));
	wait(&status);
	return status != 0;
}

int
main(int argc, char **argv)
{
	static struct sock_filter kill[] = OTHERS(SECCOMP_RET_KILL_PROCESS),
	                          fail[] = OTHERS(SECCOMP_RET_ERRNO | 1);
	static struct sock_filter mount[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {sizeof kill / sizeof *kill, kill};
	const int before = serve_times(50);
	if (!strcmp(argv[1], "exec")) { /* a child executes this program under a filter that kills
		                           for what only strobe needs */
		mount[1].k = SYS_memfd_create;
		filter = (struct sock_fprog){sizeof mount / sizeof *mount, mount};
		if (!fork())
			return install(&filter, 0) || execl(argv[0], argv[0], "mount", NULL);
		int status = 0;
		wait(&status);
		return status != 0;
	}
	if (!strcmp(argv[1], "errno"))
		filter.filter = fail;
	if (!strcmp(argv[1], "mount"))
		filter = (struct sock_fprog){sizeof mount / sizeof *mount, mount};
	if (!strcmp(argv[1], "twice")) {
		mount[1].k = SYS_process_vm_readv;
		mount[2].k = SECCOMP_RET_ERRNO | 1;
		if (install(&(struct sock_fprog){sizeof mount / sizeof *mount, mount}, 0))
			return 1;
	}
	const int failed = !strcmp(argv[1], "strict")  ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
	                   : !strcmp(argv[1], "child") ? install_in_child(&filter)
	                                               : install(&filter, argc > 2);
	const int sum = before + serve_times(2000);
	static const char right[] = "right\n", wrong[] = "wrong\n", none[] = "no seccomp\n";
	const char *said = failed ? none : sum == 49 * 25 + 1999 * 1000 ? right : wrong;
	syscall(SYS_write, 1, said, strlen(said));
	syscall(SYS_exit, 0);
	return 1;
}
