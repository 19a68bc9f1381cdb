/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is certain of the time between two windows: which code of functions that were active before
 * or after it must have been executed in between. docs/notes/reconstruction.md has the rules and
 * what they take for granted.
 */
#ifndef STROBE_RECONSTRUCT_GAP_H
#define STROBE_RECONSTRUCT_GAP_H

#include "base/status.h"
#include "reconstruct/ways.h"

/* A block that was begun, with the stack and frame pointer. */
struct st_step {
	uint32_t place; /* index in the code's places */
	uint64_t sp, bp;
};

/* Both ends of a gap. */
struct st_gap_ends {
	struct st_step from; /* the last block before it */
	/* Where calls that are under way then will return to, the innermost last, with the pointers
	 * as they will be. The stack is not known further than this. */
	const struct st_step *callers;
	size_t n_callers;
	struct st_step to; /* the first block after it */
	/* Where calls that were under way when it ended have returned to, the innermost first. */
	const struct st_step *returns;
	size_t n_returns;
};

enum st_fact_kind {
	ST_FACT_BETWEEN, /* the same function was active before and after */
	ST_FACT_ENTERED, /* it has been entered, and come to where it was found */
	ST_FACT_LEFT,    /* it has been left */
};

struct st_span_of_code {
	uint64_t start, end;
};

typedef ST_VEC(struct st_span_of_code) st_spans_of_code;

/* Of one function. */
struct st_fact {
	enum st_fact_kind kind;
	uint32_t image;
	const struct st_function *function;
	/* The executed code, in the order of first execution. */
	st_spans_of_code ran;
	/* ST_FACT_BETWEEN: the same if the function was not left meanwhile; at least as much. */
	st_spans_of_code stayed;
	/* The activation executed nothing else of the function, and each of these once: since it
	 * was entered, or, if it was not left, since the gap began (then `stayed` is meant). */
	bool exact;
	size_t open, calls, indirect; /* as in struct st_ways */
};

struct st_gap {
	struct st_step from, to;
	bool last; /* the thread was not measured any more: `to` is nowhere, and there are no facts
	            */
	ST_VEC(struct st_fact) facts; /* the innermost function first */
};

/* Fills in the facts. returning: calls end in no other way than by coming back. 0, or -1 when
 * memory is exhausted. */
st_status st_gap_decide(struct st_gap *gap, struct st_code *code, const struct st_gap_ends *ends,
                        bool returning);
void st_gap_free(struct st_gap *gap);

#endif
