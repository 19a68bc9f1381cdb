/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a run that has ended. */
#include "control/run.h"

const struct st_process *
st_run_last(const struct st_run *run)
{
	size_t last = 0;
	for (size_t i = 1; i < run->n_processes; i++)
		if (run->processes[i].executed && run->processes[i].pid == run->processes[0].pid)
			last = i;
	return &run->processes[last];
}
