/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe-test: args=exit stdin=x exit=7 stress=none */
/*
 * Goes away, in a way of choice, once it has read a byte; or is in a state in which it cannot be
 * attached.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *
computes(void *arg)
{
	for (volatile unsigned long n = 0;; n++)
		;
	return arg;
}

/* For ever, however the process is attached and left. */
static void *
sleeps(void *arg)
{
	poll(NULL, 0, -1);
	_exit(8);
	return arg;
}

static void
add_threads(void)
{
	pthread_t t;
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, computes, NULL);
		pthread_create(&t, NULL, sleeps, NULL);
	}
}

static void *
nothing(void *arg)
{
	return arg;
}

/* Threads and children in quick succession, up to the end of input. */
static void
storm(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	while (poll(&input, 1, 0) == 0) {
		pthread_t t[8];
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, nothing, NULL);
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
		waitpid(pid, NULL, 0);
	}
}

/* Forked, spawned and threaded children do what they do natively. */
static int
children(void)
{
	char *const words[] = {"true", NULL};
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t t;
		void *back = NULL;
		if (pthread_create(&t, NULL, nothing, &status) != 0)
			_exit(1);
		pthread_join(t, &back);
		_exit(back == &status ? 3 : 1);
	}
	if (waitpid(pid, &status, 0) != pid || status != 3 << 8)
		return 1;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		return 1;
	puts("children are well");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}

static void
set_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What takes a process out of an engine. */
static void
leave_engine(const char *how)
{
	static long area[8];
	if (strstr(how, "gs"))
		syscall(SYS_arch_prctl, ARCH_SET_GS, area);
	else
		__asm__ volatile("sub $128, %%rsp\n"
		                 "mov %%cs, %%ecx\n"
		                 "pushq %%rcx\n"
		                 "leaq 1f(%%rip), %%rax\n"
		                 "pushq %%rax\n"
		                 "lretq\n"
		                 "1: add $128, %%rsp\n" ::
		                         : "rax", "rcx", "memory", "cc");
	puts("native");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static void
say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Cannot be stopped meanwhile. */
static int
wait_for_child(int ms)
{
	if (vfork() == 0) {
		poll(NULL, 0, ms);
		_exit(0);
	}
	puts("child has ended");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 7;
}

static int
is(const char *how, const char *name)
{
	return strncmp(how, name, strlen(name)) == 0;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	char *const words[] = {"echo", "executed", NULL};
	char byte;
	if (strstr(how, "-threads"))
		add_threads();
	if (is(how, "filter"))
		set_filter();
	if (is(how, "gs"))
		syscall(SYS_arch_prctl, ARCH_SET_GS, &byte);
	if (is(how, "vfork") && vfork() == 0) {
		say_ready();
		_exit(read(STDIN_FILENO, &byte, 1) < 0);
	}
	say_ready();
	if (is(how, "storm"))
		storm();
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 9;
	if (is(how, "children"))
		return children();
	if (is(how, "waits"))
		return wait_for_child(4500);
	if (is(how, "leaves"))
		leave_engine(how);
	if (is(how, "exec"))
		execv("/bin/echo", words);
	if (is(how, "abort"))
		abort();
	if (is(how, "segv"))
		*(volatile int *)8 = 1; /* NOLINT */
	if (is(how, "kill"))
		kill(getpid(), SIGKILL);
	exit(7);
}
