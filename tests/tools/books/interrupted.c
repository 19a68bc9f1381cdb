/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that a timer's signals interrupt, and signals that the process sends to itself.
 * Prints `call NAME COUNT ERRORS` for each. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 40 };

static volatile sig_atomic_t hits;
static int ends[2];

static void
on_signal(int sig)
{
	(void)sig;
	hits++;
}

static void
handle(int sig, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	sigaction(sig, &action, NULL);
}

static long
call_pause(void)
{
	return pause();
}

static long
call_poll(void)
{
	struct pollfd fd = {ends[0], POLLIN, 0};
	return poll(&fd, 1, 5);
}

static long
call_select(void)
{
	fd_set set;
	struct timespec ten = {10, 0};
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	return pselect(ends[0] + 1, &set, NULL, NULL, &ten, NULL);
}

static long
call_read(void)
{
	char c;
	return read(ends[0], &c, 1);
}

static long
call_nanosleep(void)
{
	struct timespec ten = {10, 0};
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, NULL) ? -1 : 0;
}

static long
call_sigsuspend(void)
{
	sigset_t none;
	sigemptyset(&none);
	return sigsuspend(&none);
}

/* Its signal arrives before it returns. */
static long
call_kill(void)
{
	return kill(getpid(), SIGUSR1);
}

/* Interrupted several times, and made again each time: one call. */
static long
call_readv(void)
{
	char c;
	struct iovec to = {&c, 1};
	pid_t child = fork();
	if (!child) {
		usleep(15000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	long n = readv(ends[0], &to, 1);
	while (waitpid(child, NULL, 0) < 0)
		;
	return n == 1 ? 0 : -1;
}

static void
count(const char *name, long (*call)(void))
{
	int errors = 0;
	for (int i = 0; i < TURNS; i++)
		errors += call() < 0;
	printf("call %s %d %d\n", name, TURNS, errors);
}

int
main(void)
{
	struct itimerval every = {{0, 3000}, {0, 3000}};
	if (pipe(ends))
		return 1;
	handle(SIGALRM, 0);
	handle(SIGUSR1, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	count("pause", call_pause);
	count("poll", call_poll);
	count("pselect6", call_select);
	count("read", call_read);
	count("clock_nanosleep", call_nanosleep);
	count("rt_sigsuspend", call_sigsuspend);
	count("kill", call_kill);
	handle(SIGALRM, SA_RESTART);
	count("readv", call_readv);
	every = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &every, NULL);
	if (hits < 5 * TURNS)
		return 1;
	return fflush(stdout) ? 1 : 0;
}
