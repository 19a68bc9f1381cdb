/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two profiles laid over each other, tree by tree, from the roots on. Which label of one is which
 * of the other, check/match.h decides.
 */
#ifndef STROBE_CONTEXTS_COMPARE_H
#define STROBE_CONTEXTS_COMPARE_H

#include "base/status.h"
#include "check/match.h"
#include "contexts/contexts.h"

/* A context as both have it. */
struct st_compared {
	struct st_weight own[ST_SIDES];
	struct st_weight total[ST_SIDES]; /* with all below it; of the k-slab forest only */
	bool there[ST_SIDES];
};

struct st_compared_trees {
	uint32_t thread;         /* index into the profiles' threads; UINT32_MAX: all together */
	struct st_forest forest; /* of labels below; weights are in `nodes` */
	ST_VEC(struct st_compared) nodes;
};

struct st_comparison {
	const struct st_contexts *sides[ST_SIDES];
	bool kccf;
	const struct st_context_label **labels;
	size_t n_labels;
	struct st_weight whole[ST_SIDES]; /* all that was measured */
	size_t n_contexts[ST_SIDES];
	ST_VEC(struct st_compared_trees) trees;
};

/* Whether they were measured alike, so that a difference means something. 0, or -1 with *e, in
 * which they are called as `names` says. */
st_status st_compare_check(const struct st_profile *const profiles[ST_SIDES],
                           const char *const names[ST_SIDES], struct st_error *e);
/* Of two that were both made with k-calling context forests, or both joined, if that is asked for.
 * 0, or -1 with *e. The caller frees in both cases; the sides have to outlive it. */
st_status st_compare(struct st_comparison *c, const struct st_contexts *a,
                     const struct st_contexts *b, bool kccf, struct st_error *e);
void st_compare_free(struct st_comparison *c);

#endif
