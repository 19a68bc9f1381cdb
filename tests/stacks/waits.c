/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of known length and kind: for each, the thread that waits and the functions that do. The
 * argument says which waits there are, a letter for each. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void
sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

/* ---- sleep: g calls f, which sleeps for 200 ms ---- */

static __attribute__((noinline)) void
f(void)
{
	sleep_ms(200);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
g(void)
{
	f();
	__asm__ volatile("");
}

/* ---- many short sleeps, of 250 us each: 300 ms or more ---- */

static __attribute__((noinline)) void
doze(void)
{
	const struct timespec t = {0, 250000};
	for (int i = 0; i < 1200; i++)
		nanosleep(&t, NULL);
}

/* ---- a condition variable, signalled after 150 ms ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *
signal_late(void *unused)
{
	/* The other thread has the mutex until it waits. */
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sleep_ms(150);
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static __attribute__((noinline)) void
await(void)
{
	while (!ready)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void
wait_for_condition(void)
{
	pthread_t t;
	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, signal_late, NULL);
	await();
	pthread_join(t, NULL);
}

/* ---- a pipe, written after 120 ms ---- */

static int ends[2];

static void *
write_late(void *unused)
{
	sleep_ms(120);
	if (write(ends[1], "x", 1) != 1)
		exit(2);
	return unused;
}

static __attribute__((noinline)) void
take(void)
{
	char byte;
	if (read(ends[0], &byte, 1) != 1)
		exit(2);
}

static void
wait_for_pipe(void)
{
	pthread_t t;
	if (pipe(ends))
		exit(2);
	pthread_create(&t, NULL, write_late, NULL);
	take();
	pthread_join(t, NULL);
}

/* ---- poll, for 80 ms; a child process, for 100 ms ---- */

static __attribute__((noinline)) void
look(void)
{
	poll(NULL, 0, 80);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
mourn(void)
{
	const pid_t child = fork();
	if (!child) {
		sleep_ms(100);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* ---- a thread that waits to the end ---- */

static __attribute__((noinline)) void
stay(void)
{
	char byte;
	int never[2];
	if (pipe(never) || write(ends[1], "x", 1) != 1 || read(never[0], &byte, 1) != 1)
		exit(2);
}

static void *
stay_for_ever(void *unused)
{
	stay();
	return unused;
}

static void
leave_one_waiting(void)
{
	pthread_t t;
	if (pipe(ends))
		exit(2);
	pthread_create(&t, NULL, stay_for_ever, NULL);
	take(); /* until it is about to wait */
	sleep_ms(90);
}

/* ---- waits that a handled signal interrupts after 200 ms, of each kind once; one that comes
 * before its wait begins is followed by another ---- */

static void
on_alarm(int signal)
{
	(void)signal;
}

static void
set_alarm(int flags)
{
	const struct itimerval late = {.it_interval = {.tv_usec = 200000},
	                               .it_value = {.tv_usec = 200000}};
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &late, NULL);
}

static __attribute__((noinline)) void
by_sigsuspend(void)
{
	sigset_t alarm, none;
	sigemptyset(&none);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	set_alarm(0);
	sigsuspend(&none);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
}

static __attribute__((noinline)) void
by_pause(void)
{
	set_alarm(0);
	pause();
	__asm__ volatile("");
}

static __attribute__((noinline)) void
by_nanosleep(void)
{
	set_alarm(0);
	sleep_ms(20000);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
by_poll(void)
{
	set_alarm(0);
	poll(NULL, 0, 20000);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
by_select(void)
{
	struct timeval most = {.tv_sec = 20};
	set_alarm(0);
	select(0, NULL, NULL, NULL, &most);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
by_read(void)
{
	char byte;
	set_alarm(0);
	if (read(ends[0], &byte, 1) != -1)
		exit(2);
}

/* The kernel makes the call again; the child lives for 300 ms. */
static __attribute__((noinline)) void
by_waitpid(void)
{
	const pid_t child = fork();
	if (!child) {
		sleep_ms(300);
		_exit(0);
	}
	set_alarm(SA_RESTART);
	if (waitpid(child, NULL, 0) != child)
		exit(2);
}

static void
wait_for_alarms(void)
{
	const struct itimerval never = {0};
	if (pipe(ends))
		exit(2);
	by_sigsuspend();
	by_pause();
	by_nanosleep();
	by_poll();
	by_select();
	by_read();
	by_waitpid();
	setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- the death of a thread that waits, by a signal after 200 ms ---- */

static __attribute__((noinline)) void
die_asleep(void)
{
	set_alarm(0);
	signal(SIGALRM, SIG_DFL);
	sleep_ms(20000);
	__asm__ volatile("");
}

/* ---- a fault of one thread, while another waits with the end of its stack in reach ---- */

static int *volatile nowhere;

static void *
fault_late(void *unused)
{
	sleep_ms(150);
	*nowhere = 1;
	return unused;
}

static __attribute__((noinline)) void
wait_for_fault(void)
{
	pthread_t t;
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	pthread_create(&t, NULL, fault_late, NULL);
	pthread_join(t, NULL);
}

/* ---- sleeps of 300 ms until the standard input ends, none of which may be interrupted ---- */

static void
sleep_undisturbed(void)
{
	const struct timespec t = {0, 300000000};
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	while (!poll(&input, 1, 0))
		if (nanosleep(&t, NULL))
			exit(3);
}

/* ---- a program that is executed under a filter, which kills for getrusage ---- */

static void
execute_filtered(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(2);
	execl("/proc/self/exe", "waits", "s", (char *)NULL);
	exit(2);
}

/* ---- no waits: quick calls; a long call in which the kernel works ---- */

static __attribute__((noinline)) void
hurry(void)
{
	for (int i = 0; i < 100000; i++)
		getppid();
}

static __attribute__((noinline)) void
fill(void)
{
	enum { BYTES = 256 << 20 };
	FILE *zero = fopen("/dev/zero", "r");
	char *bytes = malloc(BYTES);
	if (!zero || !bytes || read(fileno(zero), bytes, BYTES) < 0)
		exit(2);
	free(bytes);
	fclose(zero);
}

/* ---- the end by a signal ---- */

static void
end_by_signal(void)
{
	raise(SIGTERM);
}

static const struct {
	char letter;
	void (*make)(void);
} kinds[] = {{'s', g},
             {'d', doze},
             {'c', wait_for_condition},
             {'p', wait_for_pipe},
             {'l', look},
             {'w', mourn},
             {'e', leave_one_waiting},
             {'q', hurry},
             {'k', fill},
             {'t', end_by_signal},
             {'a', wait_for_alarms},
             {'x', die_asleep},
             {'v', wait_for_fault},
             {'f', execute_filtered},
             {'i', sleep_undisturbed}};

int
main(int argc, char **argv)
{
	for (const char *c = argc > 1 ? argv[1] : "scplwe"; *c; c++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (kinds[i].letter == *c)
				kinds[i].make();
	return 0;
}
