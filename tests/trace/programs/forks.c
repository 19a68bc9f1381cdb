/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forks WHAT: processes that the program starts, or becomes.
 *
 * fork: a child that makes a thread and returns through its parent's calls; a child of it.
 * exec: this program as "leaf", by fork, by vfork, by posix_spawn, and in a thread.
 * fails: execve of what is not there, in a child and in the program.
 * becomes: the program becomes "leaf".
 * leaves: a child that outlives the program.
 * forever: a child and the program, which both work until SIGUSR1; then each says if it was right.
 * leaf: calls t_fib(8): 67 calls.
 * accuses PID: tells strobe, in its shared memory, that another process is about to call execve.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/probe.h"

#define CALLED __attribute__((noinline, noipa))

static volatile sig_atomic_t asked_to_end;

CALLED static int
t_fib(int n)
{
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

CALLED static void *
t_thread(void *arg)
{
	t_fib(5);
	return arg;
}

CALLED static void
t_work(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, t_thread, NULL);
	pthread_join(thread, NULL);
	t_fib(10);
}

static void
wait_for(pid_t pid, int wanted)
{
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != wanted)
		puts("wrong");
}

CALLED static int
t_forks(int levels)
{
	fflush(stdout);
	const pid_t pid = fork();
	if (pid == 0) {
		t_work();
		if (levels > 1)
			t_forks(levels - 1);
		return 7;
	}
	wait_for(pid, 7);
	return 0;
}

static void
become(const char *self, const char *what)
{
	char *const args[] = {(char *)self, (char *)what, NULL};
	execv(self, args);
}

CALLED static void *
t_execs(void *self)
{
	const pid_t pid = fork();
	if (pid == 0) {
		t_fib(3);
		become(self, "leaf");
		_exit(1);
	}
	wait_for(pid, 0);
	return NULL;
}

CALLED static void
t_vforks(const char *self)
{
	const pid_t pid = vfork();
	if (pid == 0) {
		become(self, "leaf");
		_exit(1);
	}
	wait_for(pid, 0);
}

CALLED static void
t_spawns(const char *self)
{
	char *const args[] = {(char *)self, "leaf", NULL}, *const none[] = {NULL};
	pid_t pid;
	if (posix_spawn(&pid, self, NULL, NULL, args, none))
		puts("wrong");
	else
		wait_for(pid, 0);
}

CALLED static void *
t_becomes(void *self)
{
	become(self, "leaf");
	return NULL;
}

/* In a child's thread that is not its first. */
CALLED static void
t_execs_in_thread(const char *self)
{
	pthread_t thread;
	const pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, t_becomes, (void *)self);
		pthread_join(thread, NULL);
		_exit(1);
	}
	wait_for(pid, 0);
}

CALLED static void
t_fails(void)
{
	const pid_t pid = fork();
	become("/nonexistent", "leaf");
	t_fib(6);
	if (pid == 0)
		_exit(3);
	wait_for(pid, 3);
}

static void
on_end(int signo)
{
	(void)signo;
	asked_to_end = 1;
}

CALLED static void
t_forever(void)
{
	signal(SIGUSR1, on_end);
	fflush(stdout);
	const pid_t pid = fork();
	int wrong = 0;
	printf("%d\n", getpid());
	fflush(stdout);
	while (!asked_to_end)
		wrong += t_fib(15) != 610;
	if (pid)
		wait_for(pid, 0);
	puts(wrong ? "wrong" : "right");
	fflush(stdout);
}

static struct st_probe_area *
find_area(void)
{
	char line[512], access[5];
	unsigned long long start, offset;
	struct st_probe_area *area = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && !area && fgets(line, sizeof line, maps))
		if (strstr(line, "/memfd:strobe-probes") &&
		    sscanf(line, "%llx-%*x %4s %llx", &start, access, &offset) == 3 && !offset)
			area = (struct st_probe_area *)(uintptr_t)start;
	if (maps)
		fclose(maps);
	return area;
}

static void
print_tracer(int pid)
{
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "TracerPid:", 10))
			printf("traced by %d\n", atoi(line + 10));
	if (f)
		fclose(f);
}

/* Waits until strobe has answered. */
static void
accuse(int pid)
{
	struct st_probe_area *a = find_area();
	if (!a)
		return;
	a->exec_pid = (uint32_t)pid;
	__atomic_store_n(&a->exec_tid, (uint32_t)pid, __ATOMIC_RELEASE);
	__atomic_add_fetch(&a->exec_asked, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &a->exec_asked, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (__atomic_load_n(&a->exec_tid, __ATOMIC_ACQUIRE))
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	print_tracer(pid);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *self = "/proc/self/exe";
	char path[4096] = "";
	if (readlink(self, path, sizeof path - 1) > 0)
		self = path;
	if (!strcmp(what, "leaf"))
		t_fib(8);
	if (!strcmp(what, "fork"))
		return t_forks(2);
	if (!strcmp(what, "exec")) {
		t_execs((void *)self);
		t_vforks(self);
		t_spawns(self);
		t_execs_in_thread(self);
	}
	if (!strcmp(what, "fails"))
		t_fails();
	if (!strcmp(what, "becomes")) {
		t_fib(4);
		t_becomes((void *)self);
	}
	if (!strcmp(what, "leaves") && fork() == 0) {
		nanosleep(&(struct timespec){0, 500000000}, NULL);
		become(self, "leaf");
	}
	if (!strcmp(what, "forever"))
		t_forever();
	if (!strcmp(what, "accuses") && argc > 2)
		accuse(atoi(argv[2]));
	puts("done");
	return 0;
}
