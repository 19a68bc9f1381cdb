/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time of a process that is not our child. */
#ifndef STROBE_CONTROL_PROCESS_CPU_H
#define STROBE_CONTROL_PROCESS_CPU_H

#include <sys/resource.h>
#include <sys/types.h>

/* Seconds, in the kernel's ticks. */
struct st_process_cpu {
	double user, system;
};

/* Of all threads so far, those that have ended as well. `before` if the process is gone. */
struct st_process_cpu st_process_cpu_of(pid_t pid, struct st_process_cpu before);
/* As the times of the usage. */
void st_process_cpu_since(struct st_process_cpu begin, struct st_process_cpu end,
                          struct rusage *usage);

#endif
