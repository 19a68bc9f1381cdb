/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What bench/robust kills strobe beside: a program that checks itself, in a way for each mode.
 * Whatever happens to strobe, it says the same and exits with 7.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static unsigned wrong;

static void
check(int ok, const char *what)
{
	if (ok)
		return;
	wrong++;
	printf("wrong: %s\n", what);
}

static void
on_alarm(int signo)
{
	(void)signo;
	alarms = alarms + 1;
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef unsigned long step(unsigned long);

static unsigned long
add(unsigned long x)
{
	return x + 0x9e3779b97f4a7c15;
}

static unsigned long
turn(unsigned long x)
{
	return x << 13 | x >> 51;
}

static unsigned long
mix(unsigned long x)
{
	return (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
}

static unsigned long
compute(unsigned long rounds)
{
	static step *const steps[] = {add, turn, mix};
	unsigned long x = 1, table[256] = {0};
	for (unsigned long i = 0; i < rounds; i++) {
		x = steps[x % 3](x);
		table[x & 255] += x;
	}
	for (int i = 0; i < 256; i++)
		x ^= table[i];
	return x;
}

/* Nobody else's descriptors, mask or handlers. */
static void
check_process(const sigset_t *before)
{
	sigset_t mask;
	struct sigaction action;
	int fd = dup(0);
	check(fd == 3, "a descriptor is left open");
	close(fd);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	check(memcmp(&mask, before, 8) == 0, "the signal mask has changed");
	sigaction(SIGALRM, NULL, &action);
	check(action.sa_handler == on_alarm, "the handler has changed");
	sigaction(SIGSEGV, NULL, &action);
	check(action.sa_handler == SIG_DFL, "SIGSEGV is handled");
}

static void
load_libraries(void)
{
	static const char *const names[] = {"libm.so.6", "librt.so.1", "libresolv.so.2",
	                                    "libnss_files.so.2"};
	for (int i = 0; i < 4; i++) {
		void *library = dlopen(names[i], RTLD_NOW);
		if (library)
			dlclose(library);
	}
}

/* Computes in pieces for so long, so that every moment is alike. */
static void
work(double seconds)
{
	double end = now() + seconds;
	unsigned long first = compute(20000);
	for (int i = 0; now() < end; i++) {
		check(compute(20000) == first, "the sum");
		if (i % 16 == 0)
			load_libraries();
	}
}

struct worker {
	pthread_t thread;
	double seconds;
	int sleeps;
	unsigned long first;
};

static void *
work_aside(void *arg)
{
	struct worker *w = arg;
	sigset_t usual, mask;
	sigemptyset(&usual);
	sigaddset(&usual, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &usual, NULL);
	int epoll = w->sleeps == 2 ? epoll_create1(0) : -1;
	struct epoll_event event;
	double end = now() + w->seconds;
	unsigned long first = compute(5000);
	while (now() < end) {
		check(compute(5000) == first, "the sum of a thread");
		if (w->sleeps == 1)
			usleep(3000);
		if (w->sleeps == 2)
			epoll_wait(epoll, &event, 1, 5);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	check(memcmp(&mask, &usual, 8) == 0, "the signal mask of a thread has changed");
	if (epoll >= 0)
		close(epoll);
	return NULL;
}

static void
work_with_threads(double seconds)
{
	struct worker w[5];
	for (int i = 0; i < 5; i++) {
		w[i] = (struct worker){.seconds = seconds, .sleeps = i % 3};
		pthread_create(&w[i].thread, NULL, work_aside, &w[i]);
	}
	work(seconds);
	for (int i = 0; i < 5; i++)
		pthread_join(w[i].thread, NULL);
}

/* A child by fork and exec, or by posix_spawn (which is vfork and exec). */
static pid_t
start_child(int i, char *self)
{
	extern char **environ;
	char *words[] = {self, "leaf", NULL};
	pid_t pid = -1;
	if (i % 2)
		return posix_spawn(&pid, self, NULL, NULL, words, environ) == 0 ? pid : -1;
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (i % 4 == 2)
		_exit(compute(20000) ? 3 : 0);
	execv(self, words);
	_exit(127);
}

static void
work_with_children(double seconds, char *self)
{
	double end = now() + seconds;
	for (int i = 0; now() < end; i++) {
		int status = -1;
		pid_t pid = start_child(i, self);
		check(pid > 0 && waitpid(pid, &status, 0) == pid, "a child cannot be started");
		check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "a child ended otherwise");
	}
	work(0.05);
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	double seconds = argc > 2 ? atof(argv[2]) : 0.3;
	const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigset_t before;
	if (strcmp(way, "leaf") == 0)
		return compute(1000) ? 3 : 0;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	sigaction(SIGALRM, &action, NULL);
	if (strcmp(way, "tree") != 0)
		setitimer(ITIMER_REAL, &often, NULL);
	puts("begun");
	fflush(stdout);
	if (strcmp(way, "threads") == 0)
		work_with_threads(seconds);
	else if (strcmp(way, "tree") == 0)
		work_with_children(seconds, argv[0]);
	else
		work(seconds);
	setitimer(ITIMER_REAL, &never, NULL);
	check_process(&before);
	printf("%u wrong, %s alarms\n", wrong, alarms || strcmp(way, "tree") == 0 ? "some" : "no");
	return wrong ? 1 : 7;
}
