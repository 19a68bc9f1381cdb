/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that executes itself ten times, from the main thread and from others, after failed
 * attempts (ENOENT, EACCES, ENOEXEC, E2BIG, ENOTDIR), by execve, fexecve and execveat; what
 * survives exec is checked: pid, descriptors without close-on-exec, ignored signals, mask, pending
 * signals, name; and what does not: handlers, threads, alternate stack.
 */
/* strobe-test: follow=1 exit=23 */
#include "signal/ucontext.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define GENERATIONS 10

extern char **environ;
static char self[4096], generation_text[16], pid_text[16], fd_text[16];
static int generation;
static char *nowhere = (char *)16;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
}

static void
check_inherited(char **argv)
{
	struct sigaction now;
	sigset_t set;
	stack_t stack;
	char name[16];
	struct stat info;

	CHECK_EQ(atoi(argv[2]), getpid());
	CHECK_EQ(getpid(), gettid());
	CHECK(!sigaction(SIGUSR1, NULL, &now) && now.sa_handler == SIG_DFL,
	      "a handler survived exec");
	CHECK(!sigaction(SIGUSR2, NULL, &now) && now.sa_handler == SIG_IGN,
	      "SIG_IGN did not survive");
	sigprocmask(SIG_SETMASK, NULL, &set);
	CHECK(sigismember(&set, SIGTERM) && !sigismember(&set, SIGINT), "the mask did not survive");
	sigpending(&set);
	CHECK(sigismember(&set, SIGTERM), "the pending signal did not survive");
	CHECK(!sigaltstack(NULL, &stack) && stack.ss_flags == SS_DISABLE,
	      "alternate stack survived");
	CHECK(!prctl(PR_GET_NAME, name) && !strncmp(strrchr(argv[0], '/') + 1, name, 15), "name %s",
	      name);
	int fd = atoi(argv[3]);
	CHECK(!fstat(fd, &info), "descriptor %d did not survive", fd);
	CHECK(fstat(fd + 1, &info) == -1 && errno == EBADF, "a close-on-exec descriptor survived");
	close(fd);
}

static void
prepare(void)
{
	static char stack[65536];
	sigset_t set;

	handle(SIGUSR1, on_signal, SA_ONSTACK);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGTERM);
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
	prctl(PR_SET_NAME, "changed");
	int fd = open("/dev/null", O_RDONLY);
	CHECK_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), fd + 1);
	snprintf(fd_text, sizeof fd_text, "%d", fd);
	snprintf(pid_text, sizeof pid_text, "%d", getpid());
	snprintf(generation_text, sizeof generation_text, "%d", generation + 1);
}

static void
fail(char **argv)
{
	static char huge[200000];

	CHECK(execve("/nonexistent", argv, environ) == -1 && errno == ENOENT, "ENOENT: %d", errno);
	CHECK(execve("/etc/passwd", argv, environ) == -1 && errno == EACCES, "EACCES: %d", errno);
	CHECK(execve("/tmp", argv, environ) == -1 && errno == EACCES, "EACCES: %d", errno);
	CHECK(execve("/etc/passwd/x", argv, environ) == -1 && errno == ENOTDIR, "ENOTDIR: %d",
	      errno);
	CHECK(execve(*(char *volatile *)&nowhere, argv, environ) == -1 && errno == EFAULT,
	      "EFAULT: %d", errno);
	memset(huge, 'x', sizeof huge - 1);
	CHECK(execve(self, (char *[]){self, huge, NULL}, environ) == -1 && errno == E2BIG, "E2BIG");
	int fd = memfd_create("empty", MFD_CLOEXEC);
	CHECK(write(fd, "no program\n", 11) == 11 && !fchmod(fd, 0755), "memfd");
	CHECK(fexecve(fd, argv, environ) == -1 && errno == ENOEXEC, "ENOEXEC: %d", errno);
	close(fd);
}

static void *
execute(void *arg)
{
	char *argv[] = {self, generation_text, pid_text, fd_text, NULL};

	(void)arg;
	fail(argv);
	if (generation % 3 == 0)
		execve(self, argv, environ);
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	if (generation % 3 == 1)
		fexecve(fd, argv, environ);
	execveat(AT_FDCWD, self, argv, environ, 0);
	CHECK(0, "exec failed");
}

static void *
spin(void *arg)
{
	for (volatile uint64_t *n = arg;; ++*n) {
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static uint64_t n[2];
	pthread_t thread;

	CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
	if (argc > 1) {
		generation = atoi(argv[1]);
		check_inherited(argv);
	}
	printf("generation %d\n", generation);
	fflush(stdout);
	if (generation == GENERATIONS)
		return 23;
	prepare();
	for (int i = 0; i < generation % 3; i++)
		CHECK(!pthread_create(&thread, NULL, spin, &n[i]), "thread");
	if (generation % 2) {
		CHECK(!pthread_create(&thread, NULL, execute, NULL), "thread");
		pthread_join(thread, NULL);
	}
	execute(NULL);
}
