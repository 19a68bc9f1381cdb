/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/environment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

/* The first line, without its line break. */
static bool
environment_line(const char *root, const char *path, char *line, size_t size)
{
	char full[4096];
	if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
		return false;
	FILE *f = fopen(full, "re");
	bool read = f && fgets(line, (int)size, f);
	if (f)
		fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read && *line;
}

struct st_load_moment
st_load_now(const char *root)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
	uint64_t v[FIELDS];
	char line[512];
	struct st_load_moment m = {.seconds = st_now_raw()};
	if (!environment_line(root, "/proc/stat", line, sizeof line))
		return m;
	m.known = sscanf(line,
	                 "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	                 " %" SCNu64 " %" SCNu64,
	                 &v[USER], &v[NICE], &v[SYSTEM], &v[IDLE], &v[IOWAIT], &v[IRQ], &v[SOFTIRQ],
	                 &v[STEAL]) == FIELDS;
	if (m.known) {
		m.busy = v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ];
		m.stolen = v[STEAL];
	}
	return m;
}

/* Each CPU's counts of five kinds may be a tick behind at either moment. */
struct st_load
st_load_since(const char *root, const struct st_load_moment *then, double own)
{
	const struct st_load_moment now = st_load_now(root);
	const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK),
	             seconds = now.seconds - then->seconds;
	const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	struct st_load l = {NAN, NAN, NAN};
	if (!now.known || !then->known || seconds <= 0 || now.busy < then->busy)
		return l;
	l.others = fmax(((double)(now.busy - then->busy) * tick - own) / seconds, 0);
	l.stolen = fmax((double)now.stolen - (double)then->stolen, 0) * tick / seconds;
	l.error = cpus * tick / seconds;
	return l;
}

void
st_governors(const char *root, char *text, size_t size)
{
	char path[128], line[64];
	*text = '\0';
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", cpu);
		if (environment_line(root, path, line, sizeof line) && !strstr(text, line))
			st_append(text, size, "%s%s", *text ? ", " : "", line);
	}
}

int
st_turbo(const char *root)
{
	char line[64];
	if (environment_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", line,
	                     sizeof line))
		return *line == '0';
	if (environment_line(root, "/sys/devices/system/cpu/cpufreq/boost", line, sizeof line))
		return *line == '1';
	return -1;
}

void
st_frequency_text(const char *root, char *text, size_t size)
{
	static const char *const turbos[] = {"turbo unknown", "turbo off", "turbo on"};
	char governors[128];
	st_governors(root, governors, sizeof governors);
	snprintf(text, size, "governor %s, %s", *governors ? governors : "unknown",
	         turbos[st_turbo(root) + 1]);
}
