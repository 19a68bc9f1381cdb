/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends a run at its limit, and tells why it has not ended: by the CPU time of its threads, by what
 * they wait for, and by what they achieve. */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "blow/run.h"
#include "blow/stacks.h"

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

/* Calls of all functions with probes that have ended. */
static uint64_t
calls_until_now(struct st_probes *probes)
{
	const struct st_probe_area *a = probes->process.area;
	uint64_t calls = 0;
	pthread_mutex_lock(&probes->lock);
	for (uint32_t i = 0; i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++)
		for (uint32_t k = 0; k < probes->functions.n; k++) {
			const struct st_probe_cell *c = st_probes_cell(probes, i, k);
			calls += c ? c->calls : 0;
		}
	pthread_mutex_unlock(&probes->lock);
	return calls;
}

static off_t
output_until_now(int output)
{
	struct stat s;
	return fstat(output, &s) ? 0 : s.st_size;
}

/* Whether a thread is ready to run, even if it gets no processor. */
static bool
is_ready(const struct st_hang *h)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].state == 'R')
			return true;
	return false;
}

/* Whether a thread runs within the next half second. */
static bool
runs_soon(pid_t pid)
{
	enum { LOOKS = 10 };
	const struct timespec nap = {0, 50000000};
	const unsigned long long before = cpu_ticks_of(pid);
	for (int i = 0; i < LOOKS; i++) {
		struct st_hang h;
		const bool ready = !st_hang_look(&h, pid) && is_ready(&h);
		free(h.threads.v);
		if (ready || cpu_ticks_of(pid) != before)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* A program that runs is slow if, within two seconds, a function returns or something is written.
 */
static enum st_blow_fault
judge_running(const struct st_blow_watchdog *w, FILE *note)
{
	enum { LOOKS = 40 };
	const struct timespec nap = {0, 50000000};
	const uint64_t calls = calls_until_now(w->probes);
	const off_t written = output_until_now(w->output);
	for (int i = 0; i < LOOKS; i++) {
		nanosleep(&nap, NULL);
		if (calls_until_now(w->probes) != calls || output_until_now(w->output) != written)
			return ST_BLOW_SLOW;
	}
	fputs("cause\tsuspected: threads used processors for two seconds, but no function with a "
	      "probe returned, and nothing was written to standard output\n",
	      note);
	return ST_BLOW_LIVELOCK;
}

/* Whether a program that was slow at its limit has since come to an end that its threads show. */
static bool
waits_for_ever(pid_t pid)
{
	struct st_hang h = {0};
	const bool looked = !runs_soon(pid) && !st_hang_look(&h, pid);
	const bool waits = looked && st_hang_judge(&h) != ST_BLOW_HANG;
	free(h.threads.v);
	return waits;
}

static enum st_blow_fault
judge_program(struct st_blow_watchdog *w, FILE *note)
{
	bool runs = runs_soon(w->pid);
	enum st_blow_fault fault = runs ? judge_running(w, note) : ST_BLOW_HANG;
	struct st_hang h;
	if (fault == ST_BLOW_SLOW && waits_for_ever(w->pid))
		runs = false;
	if (st_hang_look(&h, w->pid)) {
		free(h.threads.v);
		return fault;
	}
	if (!runs) {
		fault = st_hang_judge(&h);
		fputs("cause\t", note);
		st_hang_explain(&h, note);
		fputc('\n', note);
	}
	st_blow_stacks_write(&h, w->probes, note);
	free(h.threads.v);
	return fault;
}

/* Sets the fault, and the note that explains it. */
static void
explain_limit(struct st_blow_watchdog *w)
{
	struct st_text text;
	if (!st_text_begin(&text)) {
		w->fault = ST_BLOW_SLOW; /* nothing can be told */
		return;
	}
	w->fault = judge_program(w, text.out);
	w->note = st_text_end(&text);
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
	if (!w->cuts)
		explain_limit(w);
	/* The process is waited for only after this thread has ended, so its number is not reused.
	 */
	kill(-w->pid, SIGKILL);
	syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
	return NULL;
}

double
st_blow_seconds_of(const struct st_blow_how *how, double limit, bool *cuts)
{
	static const double least = 0.001; /* 0 would be no limit */
	const double left = how->end_at > 0 ? fmax(how->end_at - st_now_raw(), least) : INFINITY;
	if (isinf(left) || (limit > 0 && limit <= left))
		return limit;
	*cuts = true;
	return left;
}

void
st_blow_watchdog_begin(struct st_blow_watchdog *w, struct st_probes *probes, int output,
                       const struct st_blow_how *how)
{
	bool cuts = how->duration > 0;
	const double limit = st_blow_seconds_of(how, cuts ? how->duration : how->limit, &cuts);
	const pid_t pid = probes->process.pid;
	*w = (struct st_blow_watchdog){.pid = pid,
	                               .limit = limit,
	                               .cuts = cuts,
	                               .pidfd = -1,
	                               .stop = -1,
	                               .probes = probes,
	                               .output = output};
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
