/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contexts of a profile, as their readers want them: a forest for each thread, or for all
 * threads, and in intra-procedural mode for each function. */
#ifndef STROBE_CONTEXTS_CONTEXTS_H
#define STROBE_CONTEXTS_CONTEXTS_H

#include "base/status.h"
#include "contexts/choice.h"
#include "contexts/forest.h"
#include "profile/profile.h"
#include "profile/waits.h"

/* The modes of the tool `contexts`, by name. */
#define ST_CONTEXT_MODES(M) M(FUNC, func) M(INTRA, intra) M(INTER, inter)
enum st_context_mode {
#define M(id, name) ST_CONTEXT_##id,
	ST_CONTEXT_MODES(M)
#undef M
};

/* The k of a function that is unlimited. */
enum { ST_K_INFINITE = UINT32_MAX };

struct st_context_label {
	const char *name;  /* of the function, or image+offset */
	const char *image; /* path; NULL: no place */
	const char *file;  /* NULL: unknown */
	uint64_t offset;   /* in the image */
	int64_t inside;    /* bytes from the function's first instruction; a part elsewhere may be
	                      before */
	uint32_t line, column;
	uint32_t function; /* label of the function that it is in; its own in function mode */
	uint32_t in_image, in_function; /* of the profile; UINT32_MAX: none */
	bool root;                      /* the artificial root, or stands for pruned contexts */
	bool pruned;                    /* the latter */
	enum st_stack_kind kind;        /* of wall time, not of a function: what for */
	bool seen;                      /* some context has it */
	uint32_t loop;         /* 1 + its number, the head's in all contexts; 0: it is none */
	uint32_t bytes, insns; /* of a block; 0: not known */
	/* In all contexts: activations; of a function, where they were measured, its own
	 * instructions. */
	uint64_t count, instructions;
};

/* A thread's forests, or of all threads together; in intra-procedural mode of one function. */
struct st_context_group {
	uint32_t thread;       /* index into the profile's threads; UINT32_MAX: joined */
	uint32_t function;     /* label; UINT32_MAX: all */
	uint32_t begun;        /* number in the order in which they began */
	struct st_forest ksf;  /* the k-slab forest, counted as the literature does */
	struct st_forest kccf; /* the k-calling context forest; empty unless asked for */
};

/* By what else contexts were told apart: R(option of the tool, what it is unless given, how strobe
 * paths is asked for the other). */
#define ST_CONTEXT_RULES(R)                                                                        \
	R(roll, true, "--unroll-recursion")                                                        \
	R(cycles, false, "--roll-cycles")                                                          \
	R(loops, false, "--roll-loops")                                                            \
	R(iterations, false, "--loops")                                                            \
	R(pin, false, "--pin-blocks")                                                              \
	R(physical, false, "--tail-calls physical")                                                \
	R(root, false, "--funcs or --images")

struct st_context_options {
	enum st_context_mode mode;
	uint32_t k;
	bool time, instructions;
	bool sampled; /* no tool has counted them: they are the stacks of samples */
#define R(name, usual, option) bool name;
	ST_CONTEXT_RULES(R)
#undef R
};

struct st_contexts {
	const struct st_profile *profile;
	enum st_context_mode mode;
	uint32_t k;
	uint32_t k_callers; /* of the k-calling context forests: k, unless that would be too much */
	bool timed, with_instructions, join_threads, with_kccf;
	bool sampled; /* what is counted are samples, each on one stack */
	bool pinned;  /* blocks as they were executed */
	bool list_functions, list_blocks, list_code;
	bool with_loops; /* their iterations are known */
	struct st_context_label *labels;
	size_t n_labels, n_functions, n_blocks; /* in contexts; n_blocks 0 in function mode */
	size_t n_threads, n_ksf, n_kccf;
	/* Activations in contexts that were pruned; these; bytes that nodes took in the program. */
	uint64_t n_in_pruned, n_pruned, bytes;
	/* The counted quantity, such as "peak", and its unit, "bytes"; NULL: activations. */
	const char *counted, *unit;
	size_t n_left_out; /* nodes that a format has no room for; n_ksf and n_kccf count them */
	ST_VEC(struct st_context_group) groups;
	ST_VEC(struct st_loop)
	loops;                /* of nodes of k-slab forests, where 1 + the number stands,
	                         and of labels */
	ST_VEC(char *) texts; /* names that are nowhere else */
};

/* The options of the recording; false: the profile has no contexts. */
bool st_contexts_options(const struct st_profile *p, struct st_context_options *o);
/* 0, or -1 with *e. The caller frees in both cases. The profile has to outlive it. */
/* A thread without any of those that are asked for is left out. */
st_status st_contexts_make(struct st_contexts *c, const struct st_profile *p,
                           const struct st_context_choice *choice, struct st_error *e);
void st_contexts_free(struct st_contexts *c);

#endif
