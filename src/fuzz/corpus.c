/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/corpus.h"

#include <stdlib.h>

#include "base/random.h"

enum { INTERVALS = 5, MOST_MUTANTS = 100 };

void
st_fuzz_input_free(struct st_fuzz_input *input)
{
	st_fuzz_bytes_free(&input->bytes);
	free(input->chain.v);
	free(input->paths.v);
	*input = (struct st_fuzz_input){0};
}

st_status
st_corpus_add(struct st_corpus *c, struct st_fuzz_input *input)
{
	struct st_fuzz_input *new = ST_PUSH(&c->list);
	if (!new) {
		st_fuzz_input_free(input);
		return ST_FAILED;
	}
	*new = *input;
	*input = (struct st_fuzz_input){0};
	return ST_OK;
}

void
st_corpus_free(struct st_corpus *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		st_fuzz_input_free(&c->list.v[i]);
	free(c->list.v);
	free(c->map.most.v);
	*c = (struct st_corpus){0};
}

double
st_corpus_fitness(const struct st_fuzz_input *input)
{
	double share = input->made ? (double)input->interesting / (double)input->made : 0;
	return input->ratio * (1 + share);
}

struct ranked {
	double fitness;
	size_t number;
};

static int
by_fitness(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	int order = (a->fitness > b->fitness) - (a->fitness < b->fitness);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* The interval 0 to 4, chosen with the weights 1 to 5. */
static size_t
choose_interval(uint64_t *random)
{
	size_t drawn = st_random_below(random, INTERVALS * (INTERVALS + 1) / 2), interval = 0;
	while (drawn > interval)
		drawn -= ++interval;
	return interval;
}

st_status
st_corpus_choose(const struct st_corpus *c, uint64_t *random, size_t *parent)
{
	const size_t n = c->list.n;
	if (n < INTERVALS) {
		*parent = st_random_below(random, n);
		return ST_OK;
	}
	struct ranked *ranked = malloc(n * sizeof *ranked);
	if (!ranked)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){st_corpus_fitness(&c->list.v[i]), i};
	qsort(ranked, n, sizeof *ranked, by_fitness);
	const size_t interval = choose_interval(random), from = n * interval / INTERVALS,
	             to = n * (interval + 1) / INTERVALS;
	*parent = ranked[from + st_random_below(random, to - from)].number;
	free(ranked);
	return ST_OK;
}

static bool
is_raised(const struct st_fuzz_map *map, const struct st_fuzz_edge_count *count)
{
	return count->edge >= map->most.n || count->times > map->most.v[count->edge];
}

bool
st_fuzz_map_is_raised(const struct st_fuzz_map *map, const struct st_fuzz_execution *x)
{
	for (size_t i = 0; i < x->edges.n; i++)
		if (is_raised(map, &x->edges.v[i]))
			return true;
	return false;
}

st_status
st_fuzz_map_raise(struct st_fuzz_map *map, const struct st_fuzz_execution *x, bool *raised)
{
	*raised = false;
	for (size_t i = 0; i < x->edges.n; i++) {
		const struct st_fuzz_edge_count *count = &x->edges.v[i];
		if (!is_raised(map, count))
			continue;
		while (map->most.n <= count->edge)
			if (!ST_PUSH(&map->most))
				return ST_FAILED;
		map->most.v[count->edge] = count->times;
		*raised = true;
	}
	return ST_OK;
}

size_t
st_fuzz_mutants(enum st_fuzz_strategy strategy, size_t hits, size_t total, uint64_t *random)
{
	const size_t many = hits + 1 < MOST_MUTANTS ? hits + 1 : MOST_MUTANTS;
	double p = 1;
	if (total)
		p = (double)hits / (double)total > 0.1 ? (double)hits / (double)total : 0.1;
	const bool drawn = (double)(st_random_next(random) >> 11) * 0x1p-53 < p;
	switch (strategy) {
	case ST_STRATEGY_UNITARY:
		return 1;
	case ST_STRATEGY_PROPORTIONAL:
		return many;
	case ST_STRATEGY_PROBABILISTIC:
		return drawn;
	default: /* mixed */
		return drawn ? many : 0;
	}
}
