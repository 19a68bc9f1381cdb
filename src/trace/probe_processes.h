/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which processes and threads have hit probes, for the profile. */
#ifndef STROBE_TRACE_PROBE_PROCESSES_H
#define STROBE_TRACE_PROBE_PROCESSES_H

#include "probe/probes.h"
#include "profile/profile.h"

/* command: of the program. What there is no memory for is noted in the profile. */
void st_trace_put_processes(struct st_profile *profile, const struct st_probes *p,
                            const char *command);

#endif
