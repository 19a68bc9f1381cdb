/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts the measurements of probes to a trace. */
#ifndef STROBE_TRACE_PROBE_RESULTS_H
#define STROBE_TRACE_PROBE_RESULTS_H

#include "probe/probes.h"
#include "trace/trace.h"

/* Functions and pairs of each thread, and what was refused; lines: and where functions are in the
 * source, which may take long to find out. The probes have to outlive the trace.
 * -1: memory is exhausted. */
st_status st_trace_of_probes(struct st_trace *t, const struct st_probes *probes, bool lines);

#endif
