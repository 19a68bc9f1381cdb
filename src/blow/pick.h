/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has been tried of each function, and what comes next. */
#ifndef STROBE_BLOW_PICK_H
#define STROBE_BLOW_PICK_H

#include "blow/campaign.h"

struct st_blow_plan {
	const struct st_blow *b;
	const struct st_blow_noises *database;
	double run_ns; /* of a run without noise */
	double most_slower;
	bool full;
	enum st_blow_pick pick;
	uint64_t seed;
};

struct st_blow_try {
	uint32_t function;
	struct st_blow_noises noises;
	bool *done; /* of each of them */
	size_t left;
	struct st_blow_finding finding;
	size_t runs; /* of all, when that was found; 0: it was not */
};
struct st_blow_tries {
	struct st_blow_plan plan;
	ST_VEC(struct st_blow_try) list; /* of chosen functions */
	size_t done, left;               /* of all their noises */
	uint64_t random;
};

/* With what b has of runs already. -1: memory is exhausted. */
st_status st_blow_tries_begin(struct st_blow_tries *t, const struct st_blow_plan *plan);
/* The next experiment; *left: there is one. -1: memory is exhausted. */
st_status st_blow_tries_next(struct st_blow_tries *t, struct st_blow_run *next, bool *left);
/* How long noise is to take; of yields, as long as they have taken so far. */
double st_blow_tries_ns(const struct st_blow_tries *t, struct st_blow_noise noise);
void st_blow_tries_free(struct st_blow_tries *t);

/*
 * One of n candidates, which are sorted by their fitness, the least first: they are divided into
 * five intervals, of which the first one has the weight 5, the last one 1; in it each has the same
 * chance. Fewer than five candidates have the same chance each.
 */
size_t st_blow_weighted(uint64_t *random, size_t n);

#endif
