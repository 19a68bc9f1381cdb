/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seccomp filters that concern system calls which an engine makes for the program or emulates: what
 * they forbid is forbidden, what they allow works, in threads and children, and whatever the filter
 * computes with. Strict mode, and a filter of the greatest length, end as they do natively.
 */
/* strobe-test: stress=blocks,lookup */
/* strobe-test: name=followed follow=1 stress=blocks,lookup */
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define END(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ON(name, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), END(action)
#define FAIL(error) (SECCOMP_RET_ERRNO | (error))

static int
enter(struct sock_filter *code, size_t n, unsigned flags)
{
	struct sock_fprog program = {(unsigned short)n, code};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}
#define ENTER(code, flags) CHECK_EQ(enter(code, sizeof code / sizeof *code, flags), 0)

/* Runs in a child; how that ended. */
static int
in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		run();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void
forbid(void)
{
	struct sock_filter code[] = {
	        LOAD(nr),
	        ON(rt_sigprocmask, FAIL(EACCES)),
	        ON(dup2, FAIL(EPERM)),
	        ON(prlimit64, FAIL(ENOSYS)),
	        ON(sigaltstack, FAIL(EXDEV)),
	        /* mprotect to executable: the MemoryDenyWriteExecute of system services */
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
	        LOAD(args[2]),
	        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
	        END(FAIL(EPERM)),
	        END(SECCOMP_RET_ALLOW),
	};

	ENTER(code, SECCOMP_FILTER_FLAG_TSYNC);
}

static void *
meet(void *arg)
{
	sigset_t set;
	struct rlimit limit;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	CHECK(page != MAP_FAILED, "mmap");
	CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == -1 && errno == EACCES, "sigprocmask");
	CHECK(dup2(1, 77) == -1 && errno == EPERM && fcntl(77, F_GETFD) == -1, "dup2");
	CHECK(getrlimit(RLIMIT_AS, &limit) == -1 && errno == ENOSYS, "getrlimit");
	CHECK(sigaltstack(NULL, NULL) == -1 && errno == EXDEV, "sigaltstack");
	CHECK(!mprotect(page, 4096, PROT_READ), "mprotect");
	CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == -1 && errno == EPERM, "mprotect x");
	CHECK(!munmap(page, 4096), "munmap");
	return NULL;
}

static pthread_barrier_t both;

static void *
meet_later(void *arg)
{
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return meet(arg);
}

/* A thread from before, one from after, a child. */
static void
forbidden(void)
{
	pthread_t before;

	pthread_barrier_init(&both, NULL, 2);
	CHECK(!pthread_create(&before, NULL, meet_later, NULL), "pthread_create");
	pthread_barrier_wait(&both);
	forbid();
	meet(NULL);
	pthread_barrier_wait(&both);
	CHECK(!pthread_join(before, NULL), "pthread_join");
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		meet(NULL);
		_exit(5);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5, "child");
}

/* Every way of computing that the kernel accepts; dup2(a, b) fails with a number made of both. */
static void
computed(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_ST, 3), /* A is 0 at the start */
	        LOAD(nr),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup2, 1, 0),
	        END(SECCOMP_RET_ALLOW),
	        LOAD(args[0]),
	        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),
	        BPF_STMT(BPF_MISC | BPF_TAX, 0),
	        BPF_STMT(BPF_STX, 1),
	        LOAD(args[1]),
	        BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 2),
	        BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
	        BPF_STMT(BPF_LDX | BPF_MEM, 3),
	        BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	        BPF_STMT(BPF_ALU | BPF_NEG, 0),
	        BPF_STMT(BPF_ALU | BPF_NEG, 0),
	        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 6),
	        BPF_STMT(BPF_LDX | BPF_IMM, 3),
	        BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
	        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
	        BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xf00),
	        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
	        BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
	        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_X, 0, 0, 2), /* more than 64? */
	        BPF_STMT(BPF_LD | BPF_IMM, 64),
	        BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0),
	        BPF_STMT(BPF_ST, 2),
	        BPF_STMT(BPF_LD | BPF_MEM, 1),
	        BPF_STMT(BPF_LD | BPF_MEM, 2),
	        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 3, 0, 2),
	        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
	        BPF_STMT(BPF_RET | BPF_A, 0),
	        END(FAIL(1)),
	};

	ENTER(code, 0);
	for (int a = 0; a < 6; a++)
		for (int b = 2; b < 6; b++) {
			int want = a << 4 | (b - 2);
			if (want > 64)
				want = 64;
			errno = 0;
			CHECK(dup2(a, b) == -1, "dup2");
			CHECK_EQ(errno, want >= 3 ? want : 1);
		}
}

static void
killed(void)
{
	struct sock_filter code[] = {LOAD(nr), ON(mremap, SECCOMP_RET_KILL_PROCESS),
	                             END(SECCOMP_RET_ALLOW)};

	ENTER(code, 0);
	mremap(NULL, 0, 0, 0);
}

static volatile sig_atomic_t trapped;

static void
on_trap(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	trapped = info->si_syscall;
}

static void
trap(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct sock_filter code[] = {LOAD(nr), ON(close, SECCOMP_RET_TRAP), END(SECCOMP_RET_ALLOW)};

	sigaction(SIGSYS, &action, NULL);
	ENTER(code, 0);
	close(1);
	CHECK_EQ(trapped, SYS_close);
	CHECK(fcntl(1, F_GETFD) == 0, "closed all the same");
}

static void
strict(void)
{
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), "strict");
	if (write(1, "strict\n", 7) == 7)
		syscall(SYS_getpid);
}

static void
longest(void)
{
	struct sock_filter *code = calloc(BPF_MAXINSNS, sizeof *code);

	for (int i = 0; i < BPF_MAXINSNS; i++)
		code[i] = (struct sock_filter)LOAD(nr);
	code[BPF_MAXINSNS - 3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_dup2, 0, 1);
	code[BPF_MAXINSNS - 2] = (struct sock_filter)END(FAIL(EXDEV));
	code[BPF_MAXINSNS - 1] = (struct sock_filter)END(SECCOMP_RET_ALLOW);
	CHECK_EQ(enter(code, BPF_MAXINSNS, 0), 0);
	CHECK(dup2(1, 2) == -1 && errno == EXDEV, "dup2");
}

/* What the kernel refuses. */
static void
refused(void)
{
	struct sock_filter endless[] = {LOAD(nr)};

	CHECK(enter(endless, 1, 0) == -1 && errno == EINVAL, "no end");
	CHECK(enter(endless, 0, 0) == -1 && errno == EINVAL, "empty");
	CHECK(enter((struct sock_filter *)8, 5, 0) == -1 && errno == EFAULT, "no memory");
	CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 16) == -1 && errno == EFAULT,
	      "no program");
	CHECK(!dup2(0, 0), "nothing was installed");
}

int
main(void)
{
	refused();
	printf("forbidden %d\n", in_child(forbidden));
	printf("computed %d\n", in_child(computed));
	printf("killed %d\n", in_child(killed));
	printf("trapped %d\n", in_child(trap));
	fflush(stdout);
	printf("strict %d\n", in_child(strict));
	printf("longest %d\n", in_child(longest));
	fflush(stdout);
	forbidden();
	puts("and here");
	return 0;
}
