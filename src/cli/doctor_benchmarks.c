/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of what makes times differ from run to run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "job/disturbance.h"
#include "job/environment.h"

/* A difference of a percent is what users look for; times that spread more hide it. */
static const double spread_limit = 0.02, away_limit = 0.01;
/* CPUs that others keep busy. */
static const double others_limit = 0.1;

void
st_benchmark_loop(const struct st_disturbance *d, struct st_finding *f)
{
	const double spread = d->tenth / d->median - 1;
	st_found(f, spread > spread_limit ? ST_HEALTH_LIMITED : ST_HEALTH_OK,
	         "%zu rounds of a fixed loop: median %.1f us (95 %%: %.1f to %.1f), one in ten "
	         "%.1f %% longer, the longest %.1f %%",
	         d->rounds, d->median * 1e6, d->median_low * 1e6, d->median_high * 1e6,
	         spread * 100, (d->most / d->median - 1) * 100);
	if (spread <= spread_limit)
		return;
	f->follows =
	        "equal work takes times that differ by more than 2 %: repeat often, and compare "
	        "medians or least times";
	f->fix = "see the lines below for what disturbs";
}

void
st_benchmark_away(const struct st_disturbance *d, struct st_finding *f)
{
	st_found(f, d->away > away_limit ? ST_HEALTH_LIMITED : ST_HEALTH_OK,
	         "the loop was without a CPU for %.1f %% of the time", d->away * 100);
	if (d->away <= away_limit)
		return;
	f->follows = "elapsed times have the waiting for a CPU in them; CPU times have not";
	f->fix = "end other programs, or reserve CPUs (isolcpus, cpuset) and use --cpu";
}

void
st_benchmark_others(const struct st_disturbance *d, struct st_finding *f)
{
	const struct st_load *l = &d->load;
	if (isnan(l->others)) {
		st_found(f, ST_HEALTH_LIMITED, "/proc/stat cannot be read: load unknown");
		f->follows = "nobody can say whether other programs disturb";
		return;
	}
	bool busy = l->others - l->error > others_limit;
	st_found(f, busy ? ST_HEALTH_LIMITED : ST_HEALTH_OK,
	         "other processes kept %.2f (+- %.2f) CPUs busy during the measurement", l->others,
	         l->error);
	if (!busy)
		return;
	f->follows = "they take caches, memory bandwidth and clock frequency, also on other cores";
	f->fix = "end them, or measure at another time";
}

void
st_benchmark_stolen(const struct st_disturbance *d, struct st_finding *f)
{
	bool much = d->load.stolen > away_limit;
	st_found(f, much ? ST_HEALTH_LIMITED : ST_HEALTH_OK,
	         "the hypervisor took %.2f CPUs during the measurement",
	         isnan(d->load.stolen) ? 0 : d->load.stolen);
	if (!much)
		return;
	f->follows = "both elapsed and CPU times are longer than the work: the machine is shared";
	f->fix = "measure on a machine of your own, or count instructions instead of time";
}

void
st_benchmark_load(const char *root, struct st_finding *f)
{
	char text[128];
	double average;
	if (!st_read_file(root, "/proc/loadavg", text, sizeof text) ||
	    sscanf(text, "%lf", &average) != 1) {
		st_found(f, ST_HEALTH_LIMITED, "/proc/loadavg cannot be read");
		f->follows = "nobody can say how busy the machine has been";
		return;
	}
	bool busy = average > 0.5;
	st_found(f, busy ? ST_HEALTH_LIMITED : ST_HEALTH_OK,
	         "load average of the last minute: %.2f, on %ld CPUs", average,
	         sysconf(_SC_NPROCESSORS_ONLN));
	if (!busy)
		return;
	f->follows = "the machine is in use, or was a moment ago";
	f->fix = "wait until it is idle";
}

void
st_benchmark_governor(const char *root, struct st_finding *f)
{
	char governors[128];
	st_governors(root, governors, sizeof governors);
	bool fixed = !strcmp(governors, "performance");
	if (!*governors) {
		st_found(f, ST_HEALTH_OK, "the kernel does not set the clock frequency here");
		return;
	}
	st_found(f, fixed ? ST_HEALTH_OK : ST_HEALTH_LIMITED, "frequency governor %s", governors);
	if (fixed)
		return;
	f->follows =
	        "the clock rises and falls with the load: short runs are slower than long ones";
	f->fix = "cpupower frequency-set -g performance";
}

void
st_benchmark_turbo(const char *root, struct st_finding *f)
{
	static const char *const found[] = {
	        "not known whether the clock may rise above its nominal "
	        "frequency",
	        "the clock stays at its nominal frequency",
	        "the clock may rise above its nominal frequency"};
	int turbo = st_turbo(root);
	st_found(f, turbo > 0 ? ST_HEALTH_LIMITED : ST_HEALTH_OK, "%s", found[turbo + 1]);
	if (turbo <= 0)
		return;
	f->follows = "how far it rises depends on temperature and on the other cores";
	f->fix = "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
	         "/sys/devices/system/cpu/cpufreq/boost";
}

/* Cores that have two threads online: a list of siblings with more than one number. */
void
st_benchmark_siblings(const char *root, struct st_finding *f)
{
	char path[128], list[128];
	long shared = 0, known = 0, cpus = sysconf(_SC_NPROCESSORS_CONF);
	for (long cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", cpu);
		bool read = st_read_file(root, path, list, sizeof list);
		known += read;
		shared += read && strpbrk(list, ",-");
	}
	if (!shared) {
		st_found(f, ST_HEALTH_OK, "%s",
		         known ? "no core is shared" : "not known which CPUs share a core");
		return;
	}
	st_found(f, ST_HEALTH_LIMITED, "%ld CPUs share their core with another one", shared);
	f->follows = "a program on the other thread of a core takes up to half of its speed";
	f->fix = "echo off > /sys/devices/system/cpu/smt/control, or leave the siblings idle with "
	         "--cpu";
}

void
st_benchmark_aslr(const char *root, struct st_finding *f)
{
	int64_t mode = 0;
	bool known = st_read_number(root, "/proc/sys/kernel/randomize_va_space", &mode);
	st_found(f, ST_HEALTH_OK, "addresses are %s",
	         !known ? "randomised or not: unknown"
	         : mode ? "randomised; strobe job switches that off for what it runs"
	                : "not randomised");
}
