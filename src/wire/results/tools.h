/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: what became of the tools, and which functions they have asked for. */
#ifndef STROBE_WIRE_RESULTS_TOOLS_H
#define STROBE_WIRE_RESULTS_TOOLS_H

#include <stdint.h>

#include "wire/plan.h"

enum { ST_MOST_ASKED = 32 }; /* names of functions that tools ask for */

/* A name that a tool has compared those of functions with. */
struct st_asked {
	uint32_t name, tool; /* offset into strings; index of the tool */
	uint32_t found;      /* not 0: a function that was entered has it */
};

struct st_tool_outcomes {
	/* Of a tool that crashed or did not come back: the signal (SIGXCPU: it did not come back),
	   and the address in the target. */
	uint32_t failed[ST_MAX_TOOLS];
	uint64_t failed_at[ST_MAX_TOOLS];
	uint32_t n_asked, asked_more; /* more: not 0, there was no space for all */
	struct st_asked asked[ST_MOST_ASKED];
};

#endif
