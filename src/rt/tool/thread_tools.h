/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the tools in each thread: data that rt.h embeds. */
#ifndef STROBE_RT_TOOL_THREAD_TOOLS_H
#define STROBE_RT_TOOL_THREAD_TOOLS_H

#include <stdint.h>

#include "wire/plan.h"
#include "wire/results/header.h"

/* stream.c: buffers of rows, by stream. */
struct thread_streams {
	uint64_t buffers[ST_MAX_STREAMS];  /* 0: none yet */
	uint64_t consumed[ST_MAX_STREAMS]; /* up to there; 0: nothing of the buffer */
	uint64_t written[ST_MAX_STREAMS];  /* the end of what was written last; 0: unknown */
};

struct thread_tools {
	void *state[ST_MAX_TOOLS];
	void *state_before[ST_MAX_TOOLS]; /* of a fork's child: its parent's, at the fork */
	struct returns *returns; /* functions that were entered, whose return a tool waits for */
	uint32_t running; /* index + 1 of the tool whose function runs on the thread; 0: none */
	uint64_t running_since; /* ns of CPU time: when a sample first found it; 0: none has */
	struct thread_streams streams;
	uint64_t engine_ticks; /* strobe_engine_ticks */
};

#endif
