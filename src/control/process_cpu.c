/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/process_cpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct st_process_cpu
st_process_cpu_of(pid_t pid, struct st_process_cpu before)
{
	char path[64], text[1024];
	unsigned long user, system;
	double hz = (double)sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
	                   &system) != 2)
		return before;
	return (struct st_process_cpu){(double)user / hz, (double)system / hz};
}

static struct timeval
timeval_of(double seconds)
{
	struct timeval t = {0};
	if (seconds > 0) {
		t.tv_sec = (time_t)seconds;
		t.tv_usec = (suseconds_t)((seconds - (double)t.tv_sec) * 1e6);
	}
	return t;
}

void
st_process_cpu_since(struct st_process_cpu begin, struct st_process_cpu end, struct rusage *usage)
{
	usage->ru_utime = timeval_of(end.user - begin.user);
	usage->ru_stime = timeval_of(end.system - begin.system);
}
