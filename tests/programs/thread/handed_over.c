/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One of several threads does what an engine may not be able to keep in its cache. Whatever becomes
 * of it, all threads go on: sums are right, handlers run in whom they are meant for, and children
 * of each thread are well.
 */
/* strobe-test: name=far args=far follow=1 stress=flush,threads */
/* strobe-test: name=int80 args=int80 follow=1 stress=flush,threads */
/* strobe-test: name=gs args=gs follow=1 stress=flush,threads */
/* strobe-test: name=filter args=filter follow=1 stress=flush,threads */
/* strobe-test: name=all args=all follow=1 stress=flush,threads */
#include "check.h"
#include <asm/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SIGNALS = 100 };

static long area[8] = {11, 22, 33};
static volatile int stop;
static _Thread_local volatile int taken;

static void
on_signal(int sig)
{
	CHECK_EQ(sig, SIGUSR1);
	taken++;
}

static void
raise_often(const char *who)
{
	taken = 0;
	for (int i = 0; i < SIGNALS; i++)
		CHECK(!pthread_kill(pthread_self(), SIGUSR1), "pthread_kill: %m");
	CHECK(taken == SIGNALS, "%s took %d signals", who, taken);
}

/* A child that takes signals, too. */
static void
fork_one(const char *who)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		raise_often(who);
		_exit(33);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 33 << 8, "%s: its child has %#x", who,
	      status);
}

static uint64_t
compute(void)
{
	volatile uint64_t x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 31 + 7;
	return x;
}

static void *
turn(void *arg)
{
	long id = (long)arg;
	uint64_t want = compute();

	while (!stop) {
		CHECK_EQ(compute(), want);
		if (id % 2)
			poll(NULL, 0, 1);
		raise_often("a thread");
	}
	fork_one("a thread");
	return NULL;
}

static void
far_return(void)
{
	__asm__ volatile("sub $128, %%rsp\n"
	                 "mov %%cs, %%ecx\n"
	                 "pushq %%rcx\n"
	                 "leaq 1f(%%rip), %%rax\n"
	                 "pushq %%rax\n"
	                 "lretq\n"
	                 "1: add $128, %%rsp\n" ::
	                         : "rax", "rcx", "memory", "cc");
}

static void
int_80(void)
{
	enum { GETPID_32 = 20 };
	int answer;

	__asm__ volatile("int $0x80"
	                 : "=a"(answer)
	                 : "a"(GETPID_32)
	                 : "memory", "r8", "r9", "r10", "r11");
	CHECK_EQ(answer, getpid());
}

/* Is there a kernel behind int $0x80? */
static bool
has_int_80(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		int_80();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void
use_gs(void)
{
	long found;

	CHECK(!syscall(SYS_arch_prctl, ARCH_SET_GS, area), "ARCH_SET_GS: %m");
	__asm__ volatile("movq %%gs:8, %0" : "=r"(found));
	CHECK_EQ(found, 22);
}

static void
long_filter(void)
{
	enum { LONGEST = 4096 };
	static struct sock_filter code[LONGEST];
	struct sock_fprog program = {LONGEST, code};

	for (int i = 0; i < LONGEST - 1; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	code[LONGEST - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs: %m");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "filter: %m");
}

static void
do_it(const char *how)
{
	bool all = !strcmp(how, "all");

	if (all || !strcmp(how, "far"))
		far_return();
	if (!strcmp(how, "int80") || (all && has_int_80()))
		int_80();
	if (all || !strcmp(how, "gs"))
		use_gs();
	if (all || !strcmp(how, "filter"))
		long_filter();
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "far";
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread[THREADS];

	if (!strcmp(how, "int80") && !has_int_80()) {
		puts("this kernel does not answer int $0x80");
		return 77;
	}
	CHECK(!sigaction(SIGUSR1, &action, NULL), "sigaction: %m");
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, turn, (void *)i), "pthread_create");
	do_it(how);
	fork_one("the thread");
	raise_often("the thread");
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	fork_one("the last thread");
	printf("%s: all are well\n", how);
	return 0;
}
