/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals and job control. A shell sees strobe where it would see the program: what is sent to
 * strobe goes on to the program, and strobe stops when the program has stopped. It does not stop
 * before: a program may have to restore the terminal first, and the shell must not take it away
 * meanwhile.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/supervisor.h"

static pid_t program;
static bool is_group; /* the program begins one, to which all goes that goes to the program */
static volatile sig_atomic_t continued, stopping, interrupted, asked;

static void
tell_jobs(int signo)
{
	kill(is_group ? -program : program, signo);
}

/* Is the signal about ourselves? What the terminal sends, it sends to the program too, if that is
 * of our group; and a pipe that is closed is ours, as is a limit on CPU time. Timers are not: who
 * has set one before becoming strobe means the program. */
static bool
is_ours(int signo, const siginfo_t *info)
{
	if (signo == SIGPIPE)
		return info->si_pid == getpid();
	if (signo == SIGALRM || signo == SIGVTALRM || signo == SIGPROF)
		return false;
	return !is_group && info->si_code == SI_KERNEL;
}

static void
forward(int signo, siginfo_t *info, void *context)
{
	(void)context;
	asked |= signo == SIGTERM || signo == SIGINT || signo == SIGQUIT;
	if (!program)
		interrupted = 1; /* waiting for children ends, the result is written */
	else if (!is_ours(signo, info))
		tell_jobs(signo);
}

/* The program has been asked to end, and time has passed. */
static void
on_alarm(int signo)
{
	(void)signo;
	if (program)
		tell_jobs(SIGKILL);
}

/* Continues us when we were stopped; else it is one more signal for the program. */
static void
on_continued(int signo, siginfo_t *info, void *context)
{
	continued = 1;
	if (!stopping)
		forward(signo, info, context);
}

bool
st_signal_ends(int signo)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP,  SIGTTIN, SIGTTOU, SIGCONT,
	                             SIGCHLD, SIGURG,  SIGWINCH, SIGSEGV, SIGBUS,  SIGILL,
	                             SIGFPE,  SIGABRT, SIGTRAP,  SIGSYS,  SIGXFSZ};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i] == signo)
			return false;
	return true;
}

void
st_jobs_begin(pid_t pid, bool own_group)
{
	struct sigaction pass = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART},
	                 wake = {.sa_sigaction = on_continued, .sa_flags = SA_SIGINFO | SA_RESTART},
	                 end = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	program = pid;
	is_group = own_group;
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (st_signal_ends(signo) || signo == SIGTSTP || signo == SIGTTIN)
			sigaction(signo, &pass, NULL);
	sigaction(SIGCONT, &wake, NULL);
	if (own_group)
		sigaction(SIGALRM, &end, NULL);
}

void
st_jobs_end(void)
{
	program = 0;
	signal(SIGPIPE, SIG_DFL); /* who does not want to read our tables ends us */
}

bool
st_jobs_interrupted(void)
{
	return interrupted;
}

bool
st_jobs_asked_to_end(void)
{
	bool was = asked;
	asked = 0;
	return was;
}

static bool
is_stopped(pid_t pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] && name_end[2] == 'T';
}

static void
pause_ms(long ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* A process that wakes us when the program runs again, or has ended, without our being told: one of
 * its own processes may continue it. */
static pid_t
start_watching(pid_t pid)
{
	pid_t parent = getpid(), watcher = fork();
	if (watcher != 0)
		return watcher;
	setsid(); /* out of the process group, which is stopped */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && is_stopped(pid))
		pause_ms(50);
	if (getppid() == parent)
		kill(parent, SIGCONT);
	_exit(0);
}

/* A process that is stopped cannot end its program when the time has passed. */
static bool
limits_time(void)
{
	struct itimerval limit = {0};
	return is_group && !getitimer(ITIMER_REAL, &limit) && timerisset(&limit.it_value);
}

void
st_jobs_stopped(pid_t pid, int signo)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, old;
	if (limits_time() || !is_stopped(pid)) /* or no longer stopped */
		return;
	continued = 0;
	stopping = 1;
	pid_t watcher = start_watching(pid);
	bool changed = sigaction(signo, &plain, &old) == 0; /* not SIGSTOP */
	raise(signo);
	if (!continued) /* an orphaned process group ignores what the terminal sends */
		raise(SIGSTOP);
	if (changed)
		sigaction(signo, &old, NULL);
	if (watcher > 0) {
		kill(watcher, SIGKILL);
		waitpid(watcher, NULL, 0);
	}
	pause_ms(20); /* a shell continues the whole process group, kill only us */
	if (is_stopped(pid))
		kill(pid, SIGCONT);
	stopping = 0;
}
