/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server and its load, for bench/attach. `server serve THREADS` prints its port: each thread
 * waits for events on the connections that it has accepted, and answers every request, a number,
 * with a number computed from it. `server load PORT CONNECTIONS` sends requests over so many
 * connections until its input ends, checks every answer, and prints how many there were and the
 * longest wait.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t
answer(uint64_t x)
{
	for (int i = 0; i < 200; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}

static int listening;

static void
serve(int fd)
{
	uint64_t x;
	ssize_t n = read(fd, &x, sizeof x);
	if (n == 0) {
		close(fd);
		return;
	}
	if (n != sizeof x)
		die("server: read");
	x = answer(x);
	if (write(fd, &x, sizeof x) != sizeof x)
		die("server: write");
}

static void *
worker(void *arg)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = listening}, got[16];
	int ep = epoll_create1(0);
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, listening, &e) != 0)
		die("epoll");
	for (;;) {
		int n = epoll_wait(ep, got, 16, -1);
		if (n < 0)
			die("epoll_wait");
		for (int i = 0; i < n; i++) {
			if (got[i].data.fd != listening) {
				serve(got[i].data.fd);
				continue;
			}
			int fd = accept4(listening, NULL, NULL, 0);
			struct epoll_event in = {.events = EPOLLIN, .data.fd = fd};
			if (fd >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &in) != 0)
				die("epoll_ctl");
			if (fd < 0 && errno != EAGAIN)
				die("accept");
		}
	}
	return arg;
}

static int
run_server(int threads)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof a;
	listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(listening, 1000) != 0 ||
	    getsockname(listening, (struct sockaddr *)&a, &size) != 0)
		die("listen");
	for (int i = 1; i < threads; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, worker, NULL) != 0)
			die("pthread_create");
	}
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	worker(NULL);
	return 0;
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One request on each connection, then one answer from each. */
static int
run_load(int port, int connections)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	                        .sin_port = htons((uint16_t)port)};
	int *fds = calloc((size_t)connections, sizeof *fds);
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned long requests = 0;
	double longest = 0;
	for (int i = 0; i < connections; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fds[i] < 0 || connect(fds[i], (struct sockaddr *)&a, sizeof a) != 0)
			die("connect");
	}
	while (poll(&input, 1, 0) == 0) {
		double begin = now();
		for (int i = 0; i < connections; i++) {
			uint64_t x = requests + (unsigned)i;
			if (write(fds[i], &x, sizeof x) != sizeof x)
				die("load: write");
		}
		for (int i = 0; i < connections; i++) {
			uint64_t x = 0;
			if (recv(fds[i], &x, sizeof x, MSG_WAITALL) != sizeof x)
				die("load: no answer");
			if (x != answer(requests + (unsigned)i)) {
				fprintf(stderr, "load: wrong answer\n");
				return 1;
			}
		}
		requests += (unsigned long)connections;
		if (now() - begin > longest)
			longest = now() - begin;
	}
	printf("%lu %.6f\n", requests, longest);
	return 0;
}

static void *
sleeper(void *arg)
{
	for (;;)
		poll(NULL, 0, 1000);
	return arg;
}

/* `server sleep THREADS`: threads that do nothing but one, which computes. */
static int
run_sleepers(int threads)
{
	for (int i = 1; i < threads; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, sleeper, NULL) != 0)
			die("pthread_create");
	}
	printf("ready\n");
	fflush(stdout);
	for (volatile uint64_t x = 1;;)
		x = answer(x);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return run_server(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "sleep"))
		return run_sleepers(atoi(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "load"))
		return run_load(atoi(argv[2]), atoi(argv[3]));
	return 2;
}
