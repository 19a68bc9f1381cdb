/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines and basic blocks as targets of virtual speed-ups. Probes at each of their begins and
 * ends would take longer than their code, so the threads are stopped about a thousand times a
 * second, for some microseconds: a thread is in a line if its program counter is, or the return
 * address of a function on its stack.
 *
 * A line or block has an entry in the list of functions for each function that has code of it. Its
 * offset is that of the function (ST_BLOW_IS_LINE, with "FILE:LINE" as the raw name) or of the
 * block (ST_BLOW_IS_BLOCK), its calls are the number of samples, and its time is that share of the
 * CPU time.
 */
#ifndef STROBE_BLOW_SAMPLED_H
#define STROBE_BLOW_SAMPLED_H

#include <stdio.h>
#include <sys/user.h>

#include "blow/blow.h"
#include "probe/probes.h"

struct st_blow_how;
struct st_blow_listing;

struct st_sampled_range {
	uint64_t from, to; /* addresses in the process */
	uint32_t target;   /* index of the entry */
};
struct st_sampled_count {
	uint64_t samples, last; /* last: number of the sample that was counted last, from 1 */
};
struct st_sampler {
	struct st_probes *probes;
	uint32_t asked;   /* the entry that is sped up; ST_BLOW_NONE: none */
	uint64_t samples; /* that were taken */
	ST_VEC(struct st_sampled_range) ranges;
	ST_VEC(struct st_sampled_count) counts; /* by entry */
	bool keeps;                             /* the stacks are kept, for the selection: */
	ST_VEC(uint64_t) stacks;                /* program counters, and 0 after each stack */
	bool no_memory;
	/* The kernel's code in the process, which has the clock; NULL: it is not known. */
	struct st_image *vdso;
	uint64_t vdso_from, vdso_to;
	bool has_looked; /* for the vdso */
};

/* Adds the code of the chosen lines and blocks in an image that has been mapped. -1: memory is
 * exhausted. */
st_status st_sampler_add(struct st_sampler *s, const struct st_blow *b,
                         const struct st_probed_image *image);
/* Takes a sample of a thread that is stopped. Returns whether it is in the code of `asked`. */
bool st_sampler_look(struct st_sampler *s, pid_t tid, const struct user_regs_struct *regs);
/* Adds what the samples say of the chosen entries to a run whose CPU time is known. -1: memory is
 * exhausted. */
st_status st_sampler_end(const struct st_sampler *s, struct st_blow_run *run);
/* Writes entries for the lines and blocks that the samples of the selection have found. -1: memory
 * is exhausted. */
st_status st_sampler_list(const struct st_sampler *s, const struct st_blow_listing *l, FILE *out);
void st_sampler_free(struct st_sampler *s);

#endif
