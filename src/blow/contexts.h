/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calling contexts: the calls of a function by one of its callers. A context has an entry in the
 * list of functions (ST_BLOW_IS_CONTEXT), after those of both functions; its image and offset are
 * those of the function that is called. The caller is the nearest function on the stack that has a
 * probe, so a run needs probes on all callers of the function, as the selection has.
 */
#ifndef STROBE_BLOW_CONTEXTS_H
#define STROBE_BLOW_CONTEXTS_H

#include <stdio.h>

#include "base/hashmap.h"
#include "blow/blow.h"
#include "symbol/symbol.h"
#include "trace/trace.h"

/* The raw name of a context is what --at takes: "call:CALLER>CALLEE". */
#define ST_BLOW_CALL_PREFIX "call:"
/* The name of a caller that is not known. */
#define ST_BLOW_NO_CALLER "functions without a probe"

struct st_blow_locations;

/* Whether these may be the functions of a context whose entry is number `at`. */
bool st_blow_is_context_of(const struct st_blow *b, uint64_t callee, uint64_t caller, size_t at);
/* The name of the caller of a context. */
const char *st_blow_caller_name(const struct st_blow *b, const struct st_blow_function *context);

/* The functions that a selection has written, in their order. */
struct st_blow_written {
	ST_VEC(struct st_blow_function) list; /* texts are not owned */
	struct st_hashmap index;              /* by offset */
};
/* -1: memory is exhausted. */
st_status st_blow_written_add(struct st_blow_written *w, const struct st_blow_function *f);
/* Writes an entry for each context of these functions that the trace has. -1: memory is exhausted.
 */
st_status st_blow_contexts_write(const struct st_blow_written *w, const struct st_trace *t,
                                 FILE *out);
void st_blow_written_free(struct st_blow_written *w);

/* Contexts by their functions. */
struct st_blow_contexts {
	const struct st_blow *b;
	struct st_hashmap index;
	bool *timed; /* for each entry, whether a run has to time the function for a context */
};
/* -1: memory is exhausted. The caller ends them in any case. */
st_status st_blow_contexts_begin(struct st_blow_contexts *c, const struct st_blow *b);
/* The chosen context of the functions; ST_BLOW_NONE: there is none. */
uint32_t st_blow_context(const struct st_blow_contexts *c, uint32_t callee, uint32_t caller);
void st_blow_contexts_end(struct st_blow_contexts *c);

/* Whether a location of --at means the context. NULL: no. */
bool st_blow_locations_call(const struct st_blow_locations *l, const struct st_blow *b,
                            const struct st_blow_function *context);
/* Whether a location of --at names the function as a caller or as a callee. NULL: no. */
bool st_blow_locations_mention(const struct st_blow_locations *l, const struct st_function *f);

#endif
