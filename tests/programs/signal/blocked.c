/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that the program blocks, gets while it computes, and takes later in every way there is:
 * also those of the numbers that an engine needs itself. */
/* strobe-test: */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "signal %d, line %d: %s\n", sig, __LINE__, #what);         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const struct timespec now;
static volatile sig_atomic_t handled, last;
static volatile unsigned spun;

static void
handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	handled++;
	last = info->si_value.sival_int;
}

static void
spin(void)
{
	for (int i = 0; i < 20000; i++)
		spun += (unsigned)i;
}

static void
raise_four(int sig)
{
	for (int i = 1; i <= 4; i++) {
		sigqueue(getpid(), sig, (union sigval){.sival_int = i});
		spin();
	}
}

static bool
is_pending(int sig)
{
	sigset_t set;
	sigpending(&set);
	return sigismember(&set, sig);
}

static int
take(int sig, siginfo_t *info, long ms)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	return sigtimedwait(&set, info, &(struct timespec){ms / 1000, ms % 1000 * 1000000});
}

/* Standard signals are pending once, real-time signals each. */
static void
by_wait(int sig)
{
	siginfo_t info;
	int n = sig >= SIGRTMIN ? 4 : 1;
	raise_four(sig);
	CHECK(is_pending(sig));
	for (int i = 1; i <= n; i++) {
		CHECK(take(sig, &info, 1000) == sig);
		CHECK(info.si_code == SI_QUEUE && info.si_value.sival_int == i);
		CHECK(info.si_pid == getpid() && info.si_uid == getuid());
	}
	CHECK(!is_pending(sig));
	CHECK(take(sig, &info, 1) == -1);
	kill(getpid(), sig);
	spin();
	sigset_t set;
	int got = 0;
	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(sigwait(&set, &got) == 0 && got == sig);
}

static void
by_descriptor(int sig)
{
	sigset_t set;
	struct signalfd_siginfo got[8];
	sigemptyset(&set);
	sigaddset(&set, sig);
	int fd = signalfd(-1, &set, SFD_NONBLOCK), n = sig >= SIGRTMIN ? 4 : 1;
	struct pollfd p = {fd, POLLIN, 0};
	CHECK(read(fd, got, sizeof got) == -1);
	raise_four(sig);
	CHECK(poll(&p, 1, 1000) == 1);
	CHECK(read(fd, got, sizeof got) == (ssize_t)(n * sizeof got[0]));
	for (int i = 0; i < n; i++)
		CHECK(got[i].ssi_signo == (uint32_t)sig && got[i].ssi_int == i + 1);
	CHECK(!is_pending(sig));
	CHECK(poll(&p, 1, 0) == 0);
	/* It comes while the thread waits. */
	pid_t me = getpid(), child = fork();
	if (child == 0) {
		usleep(50000);
		sigqueue(me, sig, (union sigval){.sival_int = 9});
		_exit(0);
	}
	CHECK(poll(&p, 1, 10000) == 1);
	CHECK(read(fd, got, sizeof got) == sizeof got[0] && got[0].ssi_int == 9);
	CHECK(got[0].ssi_pid == (uint32_t)child);
	waitpid(child, NULL, 0);
	close(fd);
}

static void
by_handler(int sig)
{
	sigset_t set, old, none;
	int n = sig >= SIGRTMIN ? 4 : 1;
	sigemptyset(&set);
	sigemptyset(&none);
	sigaddset(&set, sig);
	sigaction(sig, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
	handled = 0;
	raise_four(sig);
	CHECK(handled == 0);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	CHECK(sigismember(&old, sig));
	CHECK(handled == n && last == n);
	sigprocmask(SIG_BLOCK, &set, NULL);
	handled = 0;
	raise_four(sig);
	CHECK(handled == 0);
	CHECK(sigsuspend(&none) == -1);
	CHECK(handled == 1 && last == 1);
	sigprocmask(SIG_BLOCK, NULL, &old);
	CHECK(sigismember(&old, sig));
	CHECK(is_pending(sig) == (n > 1));
	if (n == 1)
		raise_four(sig);
	CHECK(ppoll(NULL, 0, &(struct timespec){10, 0}, &none) == -1);
	CHECK(handled == 2 && last == (n == 1 ? 1 : 2));
	/* One that is ignored is pending no more. */
	raise_four(sig);
	signal(sig, SIG_IGN);
	CHECK(!is_pending(sig));
	raise_four(sig);
	CHECK(is_pending(sig)); /* it is blocked: who knows what it will be by then */
	signal(sig, SIG_IGN);
	CHECK(!is_pending(sig));
	signal(sig, SIG_DFL);
}

static void *
waiter(void *arg)
{
	int sig = *(int *)arg;
	siginfo_t info;
	return (void *)(long)(take(sig, &info, 20000) == sig ? info.si_value.sival_int : -1);
}

/* Everybody blocks it, one waits for it, another computes. */
static void
of_process(int sig)
{
	pthread_t other;
	void *got;
	pthread_create(&other, NULL, waiter, &sig);
	usleep(20000);
	sigqueue(getpid(), sig, (union sigval){.sival_int = 5});
	spin();
	pthread_join(other, &got);
	CHECK((long)got == 5);
	CHECK(!is_pending(sig));
}

static pthread_barrier_t barrier;

static void *
addressee(void *arg)
{
	int sig = *(int *)arg;
	siginfo_t info;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier); /* it has been sent */
	CHECK(is_pending(sig));
	CHECK(take(sig, &info, 0) == sig);
	return (void *)(long)info.si_value.sival_int;
}

/* One that is sent to a thread is pending for that thread only. */
static void
of_thread(int sig)
{
	pthread_t other;
	void *got;
	pthread_create(&other, NULL, addressee, &sig);
	pthread_barrier_wait(&barrier);
	pthread_sigqueue(other, sig, (union sigval){.sival_int = 6});
	usleep(1000);
	CHECK(!is_pending(sig));
	pthread_barrier_wait(&barrier);
	pthread_join(other, &got);
	CHECK((long)got == 6);
}

/* What is pending stays so over exec, and is not inherited by a child. */
static void
over_exec(int sig, char *self)
{
	char number[16];
	int status;
	snprintf(number, sizeof number, "%d", sig);
	pid_t child = fork();
	if (child == 0) {
		raise_four(sig);
		pid_t second = fork();
		if (second == 0)
			_exit(is_pending(sig));
		waitpid(second, &status, 0);
		CHECK(status == 0 && is_pending(sig));
		execl(self, self, number, NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
	/* The same under the engine itself. */
	raise_four(sig);
	sigset_t set;
	siginfo_t info;
	sigemptyset(&set);
	sigaddset(&set, sig);
	while (sigtimedwait(&set, &info, &now) == sig)
		;
	CHECK(!is_pending(sig));
}

int
main(int argc, char **argv)
{
	const int signals[] = {SIGRTMAX, SIGSEGV, SIGBUS, SIGSYS, SIGTRAP, SIGUSR1};
	if (argc > 1)
		return !is_pending(atoi(argv[1]));
	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
		int sig = signals[i];
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_BLOCK, &set, NULL);
		by_wait(sig);
		by_descriptor(sig);
		by_handler(sig);
		of_process(sig);
		of_thread(sig);
		over_exec(sig, argv[0]);
	}
	puts("blocked signals: pending, taken by wait, descriptor and handler, of the process, of "
	     "threads, over exec");
	return 0;
}
