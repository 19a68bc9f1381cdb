/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and jumps in the code of a profile, by source line: how often each of them was executed,
 * from the counts of basic blocks, and the samples that were taken in what was called, from the
 * stacks of samples.
 */
#ifndef STROBE_EXPORT_CODE_EDGES_H
#define STROBE_EXPORT_CODE_EDGES_H

#include "base/error.h"
#include "report/places.h"

enum { ST_EDGE_JUMP = UINT32_MAX };

struct st_code_edge {
	uint32_t function; /* that has the instruction */
	uint32_t callee;   /* ST_EDGE_JUMP: it is a jump within the function */
	const char *file, *to_file;
	uint32_t line, to_line;
	bool conditional;            /* a jump */
	uint64_t followed, executed; /* differ for conditional jumps only */
	uint64_t samples;            /* in the callee and in what it called */
};

struct st_code_edges {
	struct st_places places;       /* owns the names of files */
	ST_VEC(struct st_code_edge) v; /* by function */
};

/*
 * Conditional jumps are known if the tool `branches` ran. Calls through pointers are known if the
 * tool `calls` ran; they are at the line of the caller, as are calls that only samples have seen.
 * Samples of a pair of functions with several calls are divided in proportion to the executions.
 * ST_FAILED with *e: memory is exhausted. The caller frees in both cases, before the profile.
 */
st_status st_code_edges_make(struct st_code_edges *edges, const struct st_profile *p,
                             struct st_error *e);
void st_code_edges_free(struct st_code_edges *edges);

#endif
