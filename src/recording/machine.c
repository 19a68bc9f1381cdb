/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/machine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MACHINE_PERIOD = 4000 /* us */ };

/* Reads the beginning of a file of the kernel. False: there is none. */
static bool
read_state(const char *root, const char *path, char *text, size_t size)
{
	char whole[4096];
	snprintf(whole, sizeof whole, "%s%s", root, path);
	FILE *f = fopen(whole, "re");
	const size_t n = f ? fread(text, 1, size - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	return n > 0;
}

static void
set_machine_value(struct st_machine *to, enum st_machine_feature feature, uint64_t value)
{
	__atomic_store_n(&to->values[feature], value, __ATOMIC_RELAXED);
	__atomic_fetch_or(&to->known, 1u << feature, __ATOMIC_RELEASE);
}

/* "0.52 0.58 0.59 3/321 4711": the means over 1, 5 and 15 minutes, and runnable threads of all. */
static void
read_load(struct st_machine *to, const char *root)
{
	char text[256];
	double load;
	uint64_t runnable, bits;
	if (!read_state(root, "/proc/loadavg", text, sizeof text) ||
	    sscanf(text, "%lf %*f %*f %" SCNu64 "/", &load, &runnable) != 2)
		return;
	memcpy(&bits, &load, sizeof bits);
	set_machine_value(to, ST_MACHINE_LOAD, bits);
	set_machine_value(to, ST_MACHINE_RUNNABLE, runnable);
}

static void
read_free_memory(struct st_machine *to, const char *root)
{
	char text[1024];
	uint64_t kib;
	if (!read_state(root, "/proc/meminfo", text, sizeof text))
		return;
	const char *at = strstr(text, "MemAvailable:");
	if (at && sscanf(at, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
		set_machine_value(to, ST_MACHINE_FREE, kib * 1024);
}

static void
read_cpu_clock(struct st_machine_cpu *cpu, const char *root, unsigned number)
{
	char path[128], text[64];
	uint32_t khz;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
	         number);
	const bool known =
	        read_state(root, path, text, sizeof text) && sscanf(text, "%" SCNu32, &khz) == 1;
	__atomic_store_n(&cpu->khz, known ? khz : 0, __ATOMIC_RELAXED);
}

void
st_machine_read(struct st_machine *to, const char *root, bool all_cpus)
{
	const long n = sysconf(_SC_NPROCESSORS_CONF);
	read_load(to, root);
	read_free_memory(to, root);
	/* Most virtual machines and containers have no frequencies: these are not looked for again.
	 */
	for (unsigned i = 0; i < ST_MACHINE_CPUS && (long)i < n; i++)
		if (all_cpus || (to->cpus[i].khz &&
		                 __atomic_exchange_n(&to->cpus[i].used, 0, __ATOMIC_RELAXED)))
			read_cpu_clock(&to->cpus[i], root, i);
}

static void *
watch_machine(void *arg)
{
	struct st_machine_watch *w = arg;
	while (!__atomic_load_n(&w->ends, __ATOMIC_ACQUIRE)) {
		usleep(MACHINE_PERIOD);
		st_machine_read(w->to, "", false);
	}
	return NULL;
}

void
st_machine_watch_begin(struct st_machine_watch *w, struct st_machine *to)
{
	sigset_t all, old;
	*w = (struct st_machine_watch){.to = to};
	st_machine_read(to, "", true);
	/* Signals are for the thread that waits for the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->runs = pthread_create(&w->thread, NULL, watch_machine, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void
st_machine_watch_end(struct st_machine_watch *w)
{
	if (!w->runs)
		return;
	__atomic_store_n(&w->ends, true, __ATOMIC_RELEASE);
	pthread_join(w->thread, NULL);
	w->runs = false;
}
