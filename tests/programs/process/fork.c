/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork in many ways: 60 short children, a tree of them, from a thread while others run, from
 * within a signal handler, with the child doing real work; memory is apart, exit statuses come
 * back, SIGCHLD arrives.
 */
/* strobe-test: follow=1 */
#include "signal/ucontext.h"
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

static volatile int children_seen;
static volatile int own = 1;
static volatile pid_t handler_child;

static uint64_t
work(uint64_t n)
{
	uint64_t h = n;

	for (int i = 0; i < 5000; i++)
		h = (h ^ (h >> 7)) * 0x9e3779b97f4a7c15ull + n;
	return h;
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		CHECK(errno == EINTR, "waitpid failed");
	CHECK(WIFEXITED(status), "child ended with status %#x", status);
	return WEXITSTATUS(status);
}

static void
many(void)
{
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0, "fork failed");
		if (!pid) {
			own = i + 2;
			_exit((int)(work(i) & 0x7f));
		}
		CHECK_EQ(own, 1);
		CHECK_EQ(wait_for(pid), work(i) & 0x7f);
	}
}

static int
tree(int depth)
{
	int below = 0;
	pid_t pids[2];

	if (!depth)
		return 1;
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork failed");
		if (!pids[i])
			_exit(tree(depth - 1));
	}
	for (int i = 0; i < 2; i++)
		below += wait_for(pids[i]);
	return below + 1;
}

static void *
forking_thread(void *arg)
{
	for (int i = 0; i < 8; i++) {
		uint64_t before = work(*(int *)arg);
		pid_t pid = fork();
		CHECK(pid >= 0, "fork failed");
		if (!pid)
			_exit(before == work(*(int *)arg) ? *(int *)arg + 10 : 99);
		CHECK_EQ(wait_for(pid), *(int *)arg + 10);
	}
	return NULL;
}

static void
in_threads(void)
{
	pthread_t threads[4];
	int ids[4] = {0, 1, 2, 3};

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, forking_thread, &ids[i]), "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	if (sig == SIGCHLD) {
		children_seen++;
		return;
	}
	pid_t pid = fork();
	if (pid)
		handler_child = pid;
	else
		own = 5; /* the child returns from the handler too */
}

static void
in_handler(void)
{
	handle(SIGUSR1, on_signal, 0);
	handle(SIGCHLD, on_signal, SA_RESTART);
	raise_here(SIGUSR1);
	if (own == 5)
		_exit(17);
	CHECK_EQ(wait_for(handler_child), 17);
	CHECK_EQ(children_seen, 1);
	pid_t pid = fork();
	if (!pid) {
		kill(getppid(), SIGUSR2);
		pause();
	}
	sigset_t set;
	siginfo_t info;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	CHECK(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_pid == pid, "signal from the child");
	kill(pid, SIGKILL);
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	      "status %#x", status);
}

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	many();
	CHECK_EQ(tree(4), 31);
	in_threads();
	in_handler();
	CHECK(wait(NULL) == -1 && errno == ECHILD, "children left");
	printf("forked children behave\n");
	return 0;
}
