/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Definitions of the opaque types of tool.h: each names a part of the fragment in `asked`. */
#ifndef STROBE_RT_TOOL_EVENTS_H
#define STROBE_RT_TOOL_EVENTS_H

#include "rt/tool/tool.h"

struct strobe_block {
	const struct build *b;
};
struct strobe_insn {
	const struct build *b;
	uint32_t index;
};
struct strobe_access {
	const struct build *b;
	uint32_t index, which; /* which of the instruction's accesses */
	struct st_access access;
};
struct strobe_branch {
	const struct build *b;
	uint32_t index;
};
struct strobe_call {
	const struct build *b;
	uint32_t index;
};
struct strobe_function {
	const struct build *b;
	uint64_t address;
	const struct st_entry *entry;
};

static inline uint64_t
event_address(const struct build *b, uint32_t index)
{
	return b->pc + b->at[index];
}

#endif
