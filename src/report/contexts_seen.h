/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of a run that its contexts cover. */
#ifndef STROBE_REPORT_CONTEXTS_SEEN_H
#define STROBE_REPORT_CONTEXTS_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct st_contexts_seen {
	bool timed; /* a budget was kept: what follows is known */
	uint64_t cpu_ns, measured_ns;
	/* Times that a thread was measured again, and its callers were looked for on its stack;
	   that this did not come to its beginning. */
	uint64_t entries, lost;
};

/* False: all of it. */
bool st_contexts_seen(const struct st_profile *p, struct st_contexts_seen *s);
/* In percent of the CPU time. */
double st_contexts_seen_part(const struct st_contexts_seen *s);

#endif
