/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vfork and exec, posix_spawn, system, popen, clone with CLONE_VM|CLONE_VFORK on a stack of its
 * own: exec of itself with arguments and environment, exec that fails and lets the child go on,
 * output in order.
 */
/* strobe-test: follow=1 */
#include "check.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static char self[4096];

static int
wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "status %#x", status);
	return WEXITSTATUS(status);
}

/* The program that is executed: checks what it was given. */
static int
child_main(int argc, char **argv)
{
	CHECK(argc == 4 && !strcmp(argv[2], "two words") && !strcmp(argv[3], ""), "arguments");
	CHECK(getenv("GIVEN") && !strcmp(getenv("GIVEN"), "value"), "environment");
	return atoi(argv[1]);
}

static void
with_vfork(void)
{
	volatile int shared = 0;

	setenv("GIVEN", "value", 1);
	for (int i = 0; i < 8; i++) {
		char number[16];
		snprintf(number, sizeof number, "%d", i);
		pid_t pid = vfork();
		if (!pid) {
			shared = i + 1; /* memory is shared until exec */
			execl(self, self, number, "two words", "", NULL);
			_exit(98);
		}
		CHECK(pid > 0, "vfork failed");
		CHECK_EQ(shared, i + 1);
		CHECK_EQ(wait_for(pid), i);
	}
	for (int i = 0; i < 8; i++) {
		pid_t pid = vfork();
		if (!pid) {
			shared = -1;
			execl("/nonexistent/program", "program", NULL);
			_exit(errno == ENOENT && shared == -1 ? 55 : 56);
		}
		CHECK_EQ(wait_for(pid), 55);
	}
}

static void
with_spawn(void)
{
	char *argv[] = {self, "7", "two words", "", NULL};
	char *envp[] = {"GIVEN=value", NULL};

	for (int i = 0; i < 10; i++) {
		pid_t pid;
		CHECK(!posix_spawn(&pid, self, NULL, NULL, argv, envp), "posix_spawn failed");
		CHECK_EQ(wait_for(pid), 7);
	}
	pid_t pid;
	CHECK_EQ(posix_spawn(&pid, "/etc/passwd", NULL, NULL, argv, envp), EACCES);
	CHECK_EQ(posix_spawnp(&pid, "no-such-program", NULL, NULL, argv, envp), ENOENT);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, 0);
	CHECK(!posix_spawnp(&pid, "true", &actions, NULL, (char *[]){"true", NULL}, environ),
	      "true");
	CHECK_EQ(wait_for(pid), 0);
	posix_spawn_file_actions_destroy(&actions);
}

static void
with_shell(void)
{
	char line[64];

	CHECK_EQ(WEXITSTATUS(system("exit 3")), 3);
	fflush(stdout);
	CHECK_EQ(system("echo from the shell"), 0);
	FILE *f = popen("echo one; echo two | tr a-z A-Z", "r");
	CHECK(fgets(line, sizeof line, f) && !strcmp(line, "one\n"), "popen gave %s", line);
	CHECK(fgets(line, sizeof line, f) && !strcmp(line, "TWO\n"), "popen gave %s", line);
	CHECK_EQ(pclose(f), 0);
}

static int shared_by_clone;

static int
cloned(void *arg)
{
	shared_by_clone++;
	if (*(int *)arg)
		execl(self, self, "21", "two words", "", NULL);
	return 22;
}

static void
with_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	for (int i = 0; i < 8; i++) {
		int exec = i % 2;
		pid_t pid = clone(cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
		                  &exec);
		CHECK(pid > 0, "clone failed");
		CHECK_EQ(wait_for(pid), exec ? 21 : 22);
		CHECK_EQ(shared_by_clone, i + 1);
	}
	shared_by_clone = 0; /* without CLONE_VM: a fork on another stack */
	int exec = 0;
	pid_t pid = clone(cloned, stack + sizeof stack, SIGCHLD, &exec);
	CHECK_EQ(wait_for(pid), 22);
	CHECK_EQ(shared_by_clone, 0);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return child_main(argc, argv);
	CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
	with_vfork();
	with_spawn();
	with_shell();
	with_clone();
	puts("children were started in every way");
	return 0;
}
