/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes on the rate of samples: what interrupted the threads, and why there are fewer samples than
 * --hz asks for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "collect/collect.h"
#include "control/run.h"

/* The highest perf_event_paranoid at which the kernel permits events that also count its own time.
 */
enum { LEAST_PARANOID = 1 };

/* -1: it cannot be read. */
static int
rate_paranoid(void)
{
	int level = -1;
	FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (in && fscanf(in, "%d", &level) != 1)
		level = -1;
	if (in)
		fclose(in);
	return level;
}

static void
rate_reason(int32_t refused, char *text, size_t size)
{
	const int level = rate_paranoid();
	if (refused == ST_SAMPLES_FILTERED)
		snprintf(text, size,
		         "a seccomp filter was in force when the process began, and under such a "
		         "filter strobe opens no perf events");
	else if (refused == EMFILE || refused == ENFILE)
		snprintf(text, size,
		         "there was no file descriptor for perf events (ulimit -n allows more)");
	else if ((refused == EACCES || refused == EPERM) && level > LEAST_PARANOID)
		snprintf(text, size,
		         "perf events are not permitted: kernel.perf_event_paranoid is %d; root, "
		         "CAP_PERFMON or a value of at most %d allows them",
		         level, LEAST_PARANOID);
	else
		snprintf(text, size, "the kernel refused perf events (perf_event_open: %s)",
		         strerror(refused));
}

/* Returns why a thread has a timer in place of a perf event; 0: none has. */
static int32_t
rate_refused(const struct st_run *run)
{
	for (size_t i = 0; i < run->n_processes; i++) {
		const struct st_results_header *h = run->processes[i].results;
		if (h && h->samples.refused && h->stats[ST_STAT_by_timer])
			return h->samples.refused;
	}
	return 0;
}

/* Timers and events differ in their rate, so threads with timers cannot be compared with threads
 * with events by their samples. */
static void
rate_note_refused(struct st_profile *p, int32_t refused)
{
	const uint64_t timers = st_profile_statistic(p, "by_timer"),
	               events = st_profile_statistic(p, "by_event");
	char reason[256];
	rate_reason(refused, reason, sizeof reason);
	st_profile_note(
	        p,
	        "%s sampled by timers, which run out at ticks of the kernel, and not %lld "
	        "times per second: %s%s",
	        ST_COUNT(timers, "thread was", "threads were"), (long long)p->run.sample_hz, reason,
	        events ? "; their shares are too low, because perf events sampled the others" : "");
}

void
st_collect_note_rate(struct st_profile *p, const struct st_run *run)
{
	const struct st_profile_run *r = &p->run;
	const double cpu = (double)(r->cpu_user_ns + r->cpu_system_ns) / 1e9;
	const double taken = (double)(r->samples_code + r->samples_kernel + r->samples_engine +
	                              r->samples_dropped);
	const double enough = 0.5; /* seconds; over less the rate says little */
	const int32_t refused = rate_refused(run);
	if (refused)
		rate_note_refused(p, refused);
	else if (r->has_functions && cpu > enough && taken < 0.5 * (double)r->sample_hz * cpu)
		st_profile_note(p,
		                "%.0f samples per second of CPU time were taken, not %lld: the "
		                "timers of the kernel are coarser, or a part of the time was spent "
		                "outside the engine",
		                taken / cpu, (long long)r->sample_hz);
}
