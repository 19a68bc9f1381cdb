/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals taken without a handler, and masks that hold for one call: sigwaitinfo, sigtimedwait,
 * signalfd, sigpending, sigsuspend, ppoll, pselect, epoll_pwait; real-time signals queue with their
 * values, lowest number first.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>

static volatile int hits, last;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	hits++;
	last = sig;
}

static sigset_t
set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	if (b)
		sigaddset(&set, b);
	return set;
}

static void
queue(int sig, int value)
{
	CHECK(!sigqueue(getpid(), sig, (union sigval){.sival_int = value}), "sigqueue failed");
}

static void
take(const sigset_t *set, int sig, int value)
{
	siginfo_t info;

	CHECK_EQ(sigwaitinfo(set, &info), sig);
	CHECK_EQ(info.si_signo, sig);
	CHECK_EQ(info.si_code, SI_QUEUE);
	CHECK_EQ(info.si_value.sival_int, value);
	CHECK_EQ(info.si_pid, getpid());
}

static void
queued(void)
{
	sigset_t set = set_of(SIGRTMIN + 3, SIGRTMIN + 5), pending;
	struct timespec none = {0, 0};

	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 10; i++) {
		queue(SIGRTMIN + 5, 100 + i);
		queue(SIGRTMIN + 3, i);
	}
	queue(SIGUSR1, 7);
	queue(SIGUSR1, 8); /* standard signals do not queue: lost */
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGRTMIN + 3) && sigismember(&pending, SIGRTMIN + 5) &&
	              sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2),
	      "sigpending is wrong");
	take(&set, SIGUSR1, 7);
	for (int i = 0; i < 10; i++)
		take(&set, SIGRTMIN + 3, i);
	for (int i = 0; i < 10; i++)
		take(&set, SIGRTMIN + 5, 100 + i);
	CHECK(sigtimedwait(&set, NULL, &none) == -1 && errno == EAGAIN, "a signal too many");
	CHECK_EQ(hits, 0);
}

static void
through_descriptor(void)
{
	sigset_t set = set_of(SIGRTMIN + 3, SIGUSR1);
	struct signalfd_siginfo info[4];
	int fd = signalfd(-1, &set, SFD_NONBLOCK);

	CHECK(fd >= 0, "signalfd failed");
	CHECK(read(fd, info, sizeof info) == -1 && errno == EAGAIN, "signalfd is not empty");
	queue(SIGRTMIN + 3, 55);
	raise_here(SIGUSR1);
	CHECK_EQ(poll(&(struct pollfd){fd, POLLIN, 0}, 1, 1000), 1);
	CHECK_EQ(read(fd, info, sizeof info), 2 * sizeof info[0]);
	CHECK(info[0].ssi_signo == SIGUSR1 && info[1].ssi_signo == (uint32_t)SIGRTMIN + 3 &&
	              info[1].ssi_int == 55,
	      "signalfd gave other signals");
	close(fd);
}

/* Each call opens a mask in which the pending SIGUSR1 is let through; afterwards it is blocked
 * again. */
static void
masks(void)
{
	sigset_t open, now;
	struct timespec ten = {10, 0};
	int fd = epoll_create1(0);
	struct epoll_event event;

	sigemptyset(&open);
	for (int kind = 0; kind < 4; kind++) {
		hits = 0;
		queue(SIGUSR1, 0);
		CHECK_EQ(hits, 0);
		int r = kind == 0   ? sigsuspend(&open)
		        : kind == 1 ? ppoll(NULL, 0, &ten, &open)
		        : kind == 2 ? pselect(0, NULL, NULL, NULL, &ten, &open)
		                    : epoll_pwait(fd, &event, 1, 10000, &open);
		CHECK(r == -1 && errno == EINTR, "kind %d gave %d, errno %d", kind, r, errno);
		CHECK(hits == 1 && last == SIGUSR1, "kind %d: %d handlers", kind, hits);
		sigprocmask(SIG_SETMASK, NULL, &now);
		CHECK(sigismember(&now, SIGUSR1), "kind %d left the mask open", kind);
	}
	close(fd);
}

static void
unblocking(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2), pending;

	sigprocmask(SIG_BLOCK, &set, NULL);
	hits = 0;
	raise_here(SIGUSR1);
	raise_here(SIGUSR2);
	CHECK_EQ(hits, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* both are delivered before it returns */
	CHECK_EQ(hits, 2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise_here(SIGUSR1);
	signal(SIGUSR1, SIG_IGN); /* discards what is pending */
	sigpending(&pending);
	CHECK(!sigismember(&pending, SIGUSR1), "an ignored signal stays pending");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK_EQ(hits, 2);
}

int
main(void)
{
	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_signal, 0);
	handle(SIGRTMIN + 3, on_signal, 0);
	handle(SIGRTMIN + 5, on_signal, 0);
	queued();
	through_descriptor();
	masks();
	unblocking();
	puts("waiting for signals and masks behave");
	return 0;
}
