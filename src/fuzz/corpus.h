/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inputs of a campaign that others are made of: seeds, and what turned out to be interesting.
 */
#ifndef STROBE_FUZZ_CORPUS_H
#define STROBE_FUZZ_CORPUS_H

#include "fuzz/execute.h"
#include "fuzz/rules.h"

struct st_fuzz_input {
	struct st_fuzz_bytes bytes;
	size_t parent, seed; /* numbers in the corpus; those of a seed are its own number */
	struct {
		size_t *v; /* numbers of rules, the first applied first, since the seed */
		size_t n, cap;
	} chain;
	uint64_t work;
	double ratio; /* of its work to the base; with paths, the mean of their ratios */
	double grown; /* the same; with paths, the greatest of their ratios */
	struct st_fuzz_path_counts paths; /* empty unless they are counted */
	size_t made, interesting;         /* inputs made of it, and those that were interesting */
};

/* The greatest number of times that each edge was taken in one execution of the program. */
struct st_fuzz_map {
	ST_VEC(uint64_t) most; /* by edge */
};

struct st_corpus {
	ST_VEC(struct st_fuzz_input) list;
	struct st_fuzz_map map;
	uint64_t base; /* median of the seeds' work */
};

/* Takes bytes and chain over. ST_FAILED: no memory; they are freed. */
st_status st_corpus_add(struct st_corpus *c, struct st_fuzz_input *input);
void st_corpus_free(struct st_corpus *c);
void st_fuzz_input_free(struct st_fuzz_input *input);

/* ratio × (1 + share of its children that were interesting). */
double st_corpus_fitness(const struct st_fuzz_input *input);

/*
 * A parent: inputs ordered by fitness are divided into five parts of the same size, of which the
 * best is chosen five times as often as the worst; fewer than five inputs are all equally likely.
 * ST_FAILED: no memory.
 */
st_status st_corpus_choose(const struct st_corpus *c, uint64_t *random, size_t *parent);

/* Whether some edge was taken more often than in all executions before. */
bool st_fuzz_map_is_raised(const struct st_fuzz_map *map, const struct st_fuzz_execution *x);
/* Updates the map. *raised: some edge was taken more often than in all executions before.
 * ST_FAILED: no memory. */
st_status st_fuzz_map_raise(struct st_fuzz_map *map, const struct st_fuzz_execution *x,
                            bool *raised);

/* Strategies: they set the number of inputs that a rule makes of a parent. */
#define ST_FUZZ_STRATEGIES(S)                                                                      \
	S(MIXED, "mixed")                                                                          \
	S(UNITARY, "unitary")                                                                      \
	S(PROPORTIONAL, "proportional")                                                            \
	S(PROBABILISTIC, "probabilistic")
enum st_fuzz_strategy {
#define S(id, name) ST_STRATEGY_##id,
	ST_FUZZ_STRATEGIES(S)
#undef S
	        ST_STRATEGY_COUNT
};

/* hits: interesting inputs of which this rule was the last; total: of all rules. */
size_t st_fuzz_mutants(enum st_fuzz_strategy strategy, size_t hits, size_t total, uint64_t *random);

#endif
