/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends a run at its limit, and tells a hang from a slow run by the CPU time of its threads. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "blow/run.h"

/* CPU time of all threads of the process in clock ticks; 0: the process has ended. */
static unsigned long long
cpu_ticks_of(pid_t pid)
{
	char path[64], text[1024];
	unsigned long long user = 0, system = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	const char *rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
	                    &user, &system) != 2)
		return 0;
	return user + system;
}

/* The program is slow if it uses CPU time within the next half second, and hangs otherwise. */
static enum st_blow_fault
judge_program(pid_t pid)
{
	enum { LOOKS = 10 };
	const struct timespec nap = {0, 50000000};
	const unsigned long long before = cpu_ticks_of(pid);
	for (int i = 0; i < LOOKS; i++) {
		nanosleep(&nap, NULL);
		if (cpu_ticks_of(pid) != before)
			return ST_BLOW_SLOW;
	}
	return ST_BLOW_HANG;
}

static void *
watch_limit(void *arg)
{
	struct st_blow_watchdog *w = arg;
	struct pollfd v[] = {{.fd = w->pidfd, .events = POLLIN}, {.fd = w->stop, .events = POLLIN}};
	const double ms = w->limit * 1000;
	while (poll(v, 2, ms < 2e9 ? (int)ms + 1 : -1) < 0)
		;
	if (v[0].revents || v[1].revents)
		return NULL;
	w->cut = w->cuts;
	w->fault = w->cuts ? ST_BLOW_NO_FAULT : judge_program(w->pid);
	/* The process is waited for only after this thread has ended, so its number is not reused.
	 */
	kill(-w->pid, SIGKILL);
	syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
	return NULL;
}

void
st_blow_watchdog_begin(struct st_blow_watchdog *w, pid_t pid, const struct st_blow_how *how)
{
	const bool cuts = how->duration > 0;
	*w = (struct st_blow_watchdog){.pid = pid,
	                               .limit = cuts ? how->duration : how->limit,
	                               .cuts = cuts,
	                               .pidfd = -1,
	                               .stop = -1};
	if (!(w->limit > 0))
		return;
	w->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	w->stop = eventfd(0, EFD_CLOEXEC);
	w->runs = w->pidfd >= 0 && w->stop >= 0 &&
	          pthread_create(&w->thread, NULL, watch_limit, w) == 0;
}

void
st_blow_watchdog_end(struct st_blow_watchdog *w)
{
	const uint64_t one = 1;
	if (w->runs && write(w->stop, &one, sizeof one) == sizeof one)
		pthread_join(w->thread, NULL);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->stop >= 0)
		close(w->stop);
	w->runs = false;
}
