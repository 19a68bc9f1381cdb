/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the making of contexts. */
#ifndef STROBE_CONTEXTS_INTERNAL_H
#define STROBE_CONTEXTS_INTERNAL_H

#include "base/status.h"
#include "contexts/contexts.h"

struct st_context_maker {
	struct st_contexts *c;
	uint32_t *label_of; /* of the profile's labels: equal places are one */
	bool *used;         /* of the profile's labels: some context has it */
	bool *shared;       /* of labels: a piece of more than one block */
	uint32_t *node_of;  /* of the profile's contexts: the node of its group */
	uint32_t *group_of; /* of the profile's contexts */
	const struct st_context_choice *choice; /* NULL: all contexts are asked for */
	unsigned char *
	        *chosen; /* of each group, what is known of its nodes; NULL: all are chosen */
	size_t n_chosen;
	size_t most_callers; /* nodes; 0: no limit */
	enum st_wall_part part;
};

/* The weight of a context of the profile, restricted to the chosen part of wall time. */
struct st_weight st_contexts_weight(const struct st_context_maker *m,
                                    const struct st_profile_context *x);
/* Leaves out the nodes without any weight in them or below them. 0, or -1: no memory. */
st_status st_contexts_keep_weights(struct st_forest *f);

/* The pieces of a block as it was executed; a function is one. */
struct st_context_pieces {
	uint32_t label; /* of the profile, of the next piece; UINT32_MAX: there is none */
	uint32_t left;  /* bytes of the block from there on */
};

struct st_context_pieces st_contexts_pieces(const struct st_context_maker *m, uint32_t label);
/* The label of the next one; UINT32_MAX: that was the last. */
uint32_t st_contexts_next_piece(const struct st_context_maker *m, struct st_context_pieces *p);

/* Makes label_of, used, shared and the labels; counts those that contexts have. 0, or -1 when
 * memory is exhausted. */
st_status st_contexts_make_labels(struct st_context_maker *m);
st_status st_contexts_count_labels(struct st_contexts *c);

/* Makes the k-calling context forests of k-slab forests that have their weights, of no more nodes
 * than that: k_callers says with which k. 0: no limit. */
void st_contexts_make_callers(struct st_contexts *c, size_t most);

#endif
