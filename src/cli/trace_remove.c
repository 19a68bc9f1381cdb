/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe trace --remove: removes the probes that a killed strobe has left in a process. */
#include <string.h>

#include "cli/trace.h"
#include "control/attach.h"
#include "control/probe.h"
#include "profile/output.h"
#include "report/report.h"

st_status
st_trace_remove(const struct st_trace_arguments *a, struct st_error *e)
{
	struct st_probe_leftovers found;
	const pid_t pid = (pid_t)a->pid;
	if (st_attach_check(pid, e) || st_probing_clear(pid, &found, e))
		return ST_FAILED;
	if (a->measure.result.quiet)
		return ST_OK;
	if (!found.owner)
		printf("there are no probes in process %d\n", pid);
	else
		printf("removed the probes that strobe had left in process %d when it was killed: "
		       "%s of its code\n",
		       pid, ST_COUNT(found.patches, "place", "places"));
	return st_output_flush(e);
}
