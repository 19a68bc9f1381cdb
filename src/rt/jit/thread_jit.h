/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of translated code and its dispatcher in a thread: data that rt.h embeds. */
#ifndef STROBE_RT_JIT_THREAD_JIT_H
#define STROBE_RT_JIT_THREAD_JIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The program was stopped within a basic block, at an instruction of which some actions have been
 * done: it goes on there with the remaining ones. The block counts as executed, unless (suspended)
 * the program goes elsewhere first: then it is a partial execution, until it comes back.
 */
enum resume_state { RESUME_NONE = 0, RESUME_ARMED, RESUME_SUSPENDED };
struct resume {
	uint64_t pc;     /* where the program is */
	uint32_t id;     /* the basic block in the results */
	uint16_t insns;  /* of it that have been executed */
	uint8_t actions; /* done at the instruction at pc; or after the one before it */
	uint8_t back; /* bytes back to the instruction whose later actions are under way; 0: none */
	uint32_t state; /* enum resume_state */
};

/* Registers that the code of actions saves while it runs. */
struct thread_action {
	uint64_t save[16];  /* registers, by number */
	uint64_t flags;     /* as lahf and seto give them */
	uint64_t ticks[2];  /* time stamps */
	uint64_t values[5]; /* for a function */
};

/* Requests to the translator. */
struct rt_code {
	bool counting;  /* a tool wants events of code */
	bool cuts;      /* basic blocks end where certain functions begin */
	bool has_plain; /* there may be plain blocks */
};

#endif
