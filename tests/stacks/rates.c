/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What samples by perf events must not disturb. The arguments are letters, one after the other:
 * what to do. Prints nothing and returns 0 if everything is as it is natively.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			printf("line %d: %s: %s\n", __LINE__, #x, strerror(errno));                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { TICK_SIGNAL = 64 };

static const char *rest; /* of the letters */

static long
cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static __attribute__((noinline)) void
spin(long ms)
{
	const long end = cpu_ms() + ms;
	while (cpu_ms() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}

static void
spin_long(void)
{
	spin(1000);
}

static void
spin_shortly(void)
{
	spin(100);
}

static void *
spin_as_thread(void *ms)
{
	spin((long)ms);
	return NULL;
}

/* ---- descriptors ---- */

static unsigned
open_now(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	MUST(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 3; /* ".", "..", its own */
}

static void
use_descriptors(void)
{
	const int fd = open("/dev/null", O_RDONLY);
	MUST(fd == 3);
	MUST(open_now() == 4);
	spin(20);
	for (int i = fd; i < 8192; i++)
		MUST(close(i) == (i == fd ? 0 : -1));
	MUST(open("/dev/null", O_RDONLY) == fd);
	MUST(close_range(3, ~0u, 0) == 0);
	for (int i = 3; i < 8192; i++)
		MUST(fcntl(i, F_GETFD) == -1 && errno == EBADF);
	spin(20);
}

/* The program takes each number that is not too high: those that it does not see as well. */
static void
take_all_numbers(void)
{
	struct rlimit limit;
	MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	const int most = limit.rlim_cur < 2048 ? (int)limit.rlim_cur - 80 : 2032;
	for (int i = 3; i < most; i++)
		MUST(dup2(1, i) == i);
	MUST(open_now() == (unsigned)most);
	spin(100);
	MUST(close_range(3, ~0u, 0) == 0);
	MUST(open_now() == 3);
	for (int i = 3; i < most + 64; i++)
		MUST(fcntl(1, F_DUPFD_CLOEXEC, 3) == i);
	MUST(close_range(3, ~0u, 0) == 0);
}

/* A thread for whose event no number is left. */
static void
have_thread_without_event(void)
{
	pthread_t thread;
	MUST(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){8, 8}));
	MUST(!pthread_create(&thread, NULL, spin_as_thread, (void *)50));
	MUST(!pthread_join(thread, NULL));
}

/* ---- execve ---- */

static void
go_on_as(const char *letters)
{
	execl("/proc/self/exe", "rates", letters, (char *)NULL);
}

static void
execute_often(void)
{
	const char *n = getenv("RATES_LEFT");
	const int left = n ? atoi(n) : 40;
	char text[16];
	snprintf(text, sizeof text, "%d", left - 1);
	setenv("RATES_LEFT", text, 1);
	spin(3);
	if (left)
		go_on_as("e");
	MUST(!left);
}

static void
execute_nothing(void)
{
	for (int i = 0; i < 20; i++) {
		MUST(execl("/dev/null", "null", (char *)NULL) == -1 && errno == EACCES);
		spin(5);
	}
}

/* ---- children ---- */

static void
end_child(pid_t child)
{
	int status;
	MUST(child > 0 && waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
have_children(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();
		if (!child) {
			MUST(open_now() == 3);
			spin(10);
			_exit(0);
		}
		spin(3);
		end_child(child);
		child = vfork();
		if (!child) {
			close(1023);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		end_child(child);
	}
}

static void
have_threads(void)
{
	pthread_t threads[4];
	for (long i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, spin_as_thread, (void *)(100 * (i + 1))));
	for (int i = 0; i < 4; i++)
		MUST(!pthread_join(threads[i], NULL));
	for (int i = 0; i < 200; i++) {
		MUST(!pthread_create(&threads[0], NULL, spin_as_thread, (void *)0));
		MUST(!pthread_join(threads[0], NULL));
	}
	MUST(open_now() == 3);
}

/* ---- signals ---- */

static volatile int own, profiling;

static void
count_own(int signo, siginfo_t *info, void *context)
{
	(void)context;
	MUST(signo == TICK_SIGNAL && info->si_code == SI_QUEUE && info->si_value.sival_int == own);
	own++;
}

static void
count_profiling(int signo)
{
	profiling += signo == SIGPROF;
}

static void
use_signals(void)
{
	const struct sigaction queued = {.sa_sigaction = count_own, .sa_flags = SA_SIGINFO},
	                       clock = {.sa_handler = count_profiling};
	MUST(!sigaction(TICK_SIGNAL, &queued, NULL) && !sigaction(SIGPROF, &clock, NULL));
	for (int i = 0; i < 50; i++) {
		MUST(!sigqueue(getpid(), TICK_SIGNAL, (union sigval){.sival_int = i}));
		MUST(!raise(SIGPROF));
		spin(2);
	}
	MUST(own == 50 && profiling == 50);
	/* The program waits for the number itself. */
	sigset_t set;
	siginfo_t info;
	sigemptyset(&set);
	sigaddset(&set, TICK_SIGNAL);
	MUST(!sigprocmask(SIG_BLOCK, &set, NULL));
	for (int i = 0; i < 20; i++) {
		spin(3);
		const struct timespec now = {0, 0};
		MUST(sigtimedwait(&set, &info, &now) == -1 && errno == EAGAIN);
	}
	MUST(!sigprocmask(SIG_UNBLOCK, &set, NULL));
}

/* No more signals can be queued: the kernel sends SIGIO in place of a queued one then. */
static void
fill_queue(void)
{
	sigset_t set;
	struct rlimit few = {8, 8};
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	MUST(!sigprocmask(SIG_BLOCK, &set, NULL));
	MUST(!setrlimit(RLIMIT_SIGPENDING, &few));
	while (!sigqueue(getpid(), SIGRTMIN, (union sigval){0}))
		;
	MUST(errno == EAGAIN);
	spin(200);
}

/* ---- seccomp ---- */

static void
filter(uint32_t answer)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, answer),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void
filter_here(void)
{
	filter(SECCOMP_RET_KILL_PROCESS);
}

/* For a wrapper, which strobe does not see: strobe is executed after it. */
static void
refuse(void)
{
	filter(SECCOMP_RET_ERRNO | EACCES);
}

static void
forbid(void)
{
	filter(SECCOMP_RET_KILL_PROCESS);
}

/* Whether a process without a filter may have the events. */
static void
ask_for_event(void)
{
	struct perf_event_attr about = {.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof about,
	                                .config = PERF_COUNT_SW_CPU_CLOCK,
	                                .sample_period = 1000000,
	                                .disabled = 1};
	MUST(!prctl(PR_GET_SECCOMP));
	MUST(syscall(SYS_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0);
}

static const struct {
	char letter;
	void (*run)(void);
} actions[] = {{'s', spin_long},       {'i', spin_shortly},
               {'d', use_descriptors}, {'n', take_all_numbers},
               {'e', execute_often},   {'x', execute_nothing},
               {'c', have_children},   {'t', have_threads},
               {'g', use_signals},     {'q', fill_queue},
               {'h', filter_here},     {'a', refuse},
               {'k', forbid},          {'0', have_thread_without_event},
               {'w', ask_for_event}};

int
main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	close_range(3, ~0u, 0); /* what strobe's caller has left open */
	for (rest = argv[1]; *rest; rest++)
		for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
			if (actions[i].letter == *rest)
				actions[i].run();
	if (argc > 2) {
		execvp(argv[2], argv + 2);
		return 2;
	}
	return 0;
}
