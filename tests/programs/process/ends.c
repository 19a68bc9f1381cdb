/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every way to end, one per run; the runner compares the exit code (128 + signal after a signal)
 * and the output so far.
 */
/* strobe-test: name=return args=return exit=5 stress=none */
/* strobe-test: name=exit args=exit exit=255 stress=lookup */
/* strobe-test: name=underscore args=underscore exit=6 stress=none */
/* strobe-test: name=group args=group exit=7 stress=lookup */
/* strobe-test: name=thread args=thread exit=8 stress=lookup */
/* strobe-test: name=pthread_exit args=pthread_exit exit=0 stress=lookup */
/* strobe-test: name=raw_exit args=raw_exit exit=9 stress=none */
/* strobe-test: name=abort args=abort exit=134 stress=blocks,versions */
/* strobe-test: name=segv args=segv exit=139 stress=blocks,versions */
/* strobe-test: name=jump args=jump exit=139 stress=blocks,versions */
/* strobe-test: name=fpe args=fpe exit=136 stress=blocks,versions */
/* strobe-test: name=ill args=ill exit=132 stress=blocks,versions */
/* strobe-test: name=trap args=trap exit=133 stress=blocks,versions */
/* strobe-test: name=bus args=bus exit=135 stress=blocks,versions */
/* strobe-test: name=kill args=kill exit=137 stress=none */
/* strobe-test: name=term args=term exit=143 stress=none */
/* strobe-test: name=usr1 args=usr1 exit=138 stress=none */
/* strobe-test: name=realtime args=realtime exit=168 stress=none */
/* strobe-test: name=alarm args=alarm exit=142 stress=none */
/* strobe-test: name=pipe args=pipe exit=141 stress=none */
/* strobe-test: name=overflow args=overflow exit=139 stress=blocks,versions */
/* strobe-test: name=threads_segv args=threads_segv exit=139 stress=lookup */
/* strobe-test: name=child_kills args=child_kills exit=143 follow=1 stress=lookup */
/* strobe-test: name=parent_kills args=parent_kills exit=0 follow=1 stress=lookup */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void
at_exit(void)
{
	puts("atexit ran");
}

static void *
spin(void *arg)
{
	for (volatile int *n = arg;; ++*n) {
	}
	return NULL;
}

static void
start_spinning(void)
{
	static int n[4];
	pthread_t t;

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&t, NULL, spin, &n[i]), "thread");
}

static void *
end_from_thread(void *how)
{
	if (!strcmp(how, "thread"))
		exit(8);
	if (!strcmp(how, "group"))
		syscall(SYS_exit_group, 7);
	if (!strcmp(how, "threads_segv"))
		*(volatile int *)8 = 1;
	return NULL;
}

static void *
last_words(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	puts("the other thread goes on");
	return NULL;
}

static int
overflow(volatile int n)
{
	volatile char frame[4000];

	frame[n % 4000] = 1;
	return n < 0 ? 0 : overflow(n + 1) + frame[n % 4000];
}

static void
by_signal(const char *how)
{
	static const struct {
		const char *name;
		int sig;
	} table[] = {{"kill", SIGKILL}, {"term", SIGTERM}, {"usr1", SIGUSR1}, {"realtime", 40}};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
		if (!strcmp(how, table[i].name)) {
			kill(getpid(), table[i].sig);
			pause();
		}
}

static void
by_fault(const char *how)
{
	volatile int zero = 0;

	if (!strcmp(how, "segv"))
		*(volatile int *)16 = 1;
	if (!strcmp(how, "jump"))
		((void (*volatile)(void))0x1234)();
	if (!strcmp(how, "fpe"))
		__asm__ volatile("divl %0" ::"m"(zero) : "eax", "edx");
	if (!strcmp(how, "ill"))
		__asm__ volatile("ud2");
	if (!strcmp(how, "trap"))
		__asm__ volatile("int3");
	if (!strcmp(how, "overflow"))
		overflow(0);
	if (!strcmp(how, "bus")) {
		int fd = memfd_create("short", 0);
		char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		zero = *(volatile char *)p;
	}
}

static void
by_call(char *how)
{
	pthread_t t, me = pthread_self();

	if (!strcmp(how, "exit"))
		exit(-1);
	if (!strcmp(how, "underscore"))
		_exit(6);
	if (!strcmp(how, "raw_exit")) {
		fflush(stdout);
		syscall(SYS_exit, 9);
	}
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "alarm")) {
		alarm(1);
		spin(&(int){0});
	}
	if (!strcmp(how, "pipe")) {
		int ends[2];
		CHECK(!pipe(ends), "pipe");
		close(ends[0]);
		CHECK(write(ends[1], "x", 1) == 1, "EPIPE without SIGPIPE");
	}
	if (!strcmp(how, "pthread_exit")) {
		CHECK(!pthread_create(&t, NULL, last_words, &me), "thread");
		pthread_exit(NULL);
	}
	if (!strcmp(how, "group") || !strcmp(how, "thread") || !strcmp(how, "threads_segv")) {
		start_spinning();
		CHECK(!pthread_create(&t, NULL, end_from_thread, how), "thread");
		for (;;)
			pause();
	}
}

/* A parent stops, continues and ends a spinning child. */
static void
parent_kills(void)
{
	int status, n = 0;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin(&n);
	}
	kill(pid, SIGSTOP);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
	              WSTOPSIG(status) == SIGSTOP,
	      "status %#x", status);
	kill(pid, SIGCONT);
	CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status), "status %#x",
	      status);
	kill(pid, SIGTERM);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
	      "status %#x", status);
	puts("stopped, continued and ended a child");
}

int
main(int argc, char **argv)
{
	CHECK(argc == 2, "say how to end");
	setvbuf(stdout, NULL, _IOLBF, 0);
	atexit(at_exit);
	printf("ending by %s\n", argv[1]);
	if (!strcmp(argv[1], "parent_kills")) {
		parent_kills();
		return 0;
	}
	if (!strcmp(argv[1], "child_kills")) {
		if (!fork()) {
			kill(getppid(), SIGTERM);
			_exit(0);
		}
		spin(&argc);
	}
	by_signal(argv[1]);
	by_fault(argv[1]);
	by_call(argv[1]);
	return 5;
}
