/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of all that the seeds do that is added to both sides of a ratio. */
static const double least_weight = 0.001;

/* ---- the base ---- */

static int
by_weight(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/* Sorts the values. */
static uint64_t
median_of(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof *v, by_weight);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* What the execution did on the path; *at: how far its counts have been read. */
static struct st_fuzz_path_weight
weight_on(const struct st_fuzz_path_counts *x, uint32_t path, size_t *at)
{
	while (*at < x->n && x->v[*at].path < path)
		++*at;
	if (*at < x->n && x->v[*at].path == path)
		return (struct st_fuzz_path_weight){x->v[*at].calls, x->v[*at].instructions};
	return (struct st_fuzz_path_weight){0};
}

static st_status
set_medians(struct st_fuzz_paths_base *base, const struct st_fuzz_path_counts *const *seeds,
            size_t n, uint32_t n_paths, uint64_t *calls, uint64_t *instructions, size_t *at)
{
	double all_calls = 0, all_instructions = 0;
	for (uint32_t path = 0; path < n_paths; path++) {
		for (size_t i = 0; i < n; i++) {
			const struct st_fuzz_path_weight w = weight_on(seeds[i], path, &at[i]);
			calls[i] = w.calls;
			instructions[i] = w.instructions;
		}
		struct st_fuzz_path_weight *new = ST_PUSH(&base->list);
		if (!new)
			return ST_FAILED;
		*new = (struct st_fuzz_path_weight){median_of(calls, n),
		                                    median_of(instructions, n)};
		all_calls += (double)new->calls;
		all_instructions += (double)new->instructions;
	}
	base->more_calls = fmax(all_calls * least_weight, 1);
	base->more_instructions = fmax(all_instructions * least_weight, 1);
	return ST_OK;
}

st_status
st_fuzz_paths_base_set(struct st_fuzz_paths_base *base,
                       const struct st_fuzz_path_counts *const *seeds, size_t n)
{
	uint64_t *calls = calloc(n + 1, sizeof *calls),
	         *instructions = calloc(n + 1, sizeof *instructions);
	size_t *at = calloc(n + 1, sizeof *at);
	uint32_t n_paths = 0;
	for (size_t i = 0; i < n; i++)
		if (seeds[i]->n && seeds[i]->v[seeds[i]->n - 1].path >= n_paths)
			n_paths = seeds[i]->v[seeds[i]->n - 1].path + 1;
	base->list.n = 0;
	st_status status = calls && instructions && at
	                           ? set_medians(base, seeds, n, n_paths, calls, instructions, at)
	                           : ST_FAILED;
	free(calls);
	free(instructions);
	free(at);
	return status;
}

void
st_fuzz_paths_base_free(struct st_fuzz_paths_base *base)
{
	free(base->list.v);
	*base = (struct st_fuzz_paths_base){0};
}

/* ---- growth ---- */

struct measured_growth {
	struct st_fuzz_growth *out;
	double sum; /* of the ratios of calls, and of those of instructions */
	size_t n;
	uint32_t most_path;
};

static void
add_ratio(struct measured_growth *g, uint32_t path, double ratio, bool more_than_parent)
{
	g->sum += ratio;
	if (g->out->most < ratio) {
		g->out->most = ratio;
		g->most_path = path;
	}
	if (more_than_parent && g->out->beyond < ratio) {
		g->out->beyond = ratio;
		g->out->path = path;
	}
}

struct st_fuzz_growth
st_fuzz_paths_growth(const struct st_fuzz_paths_base *base, const struct st_fuzz_path_counts *x,
                     const struct st_fuzz_path_counts *parent)
{
	static const struct st_fuzz_path_counts none;
	struct st_fuzz_growth out = {0};
	struct measured_growth g = {.out = &out};
	const uint32_t last = x->n ? x->v[x->n - 1].path + 1 : 0,
	               n = last > base->list.n ? last : (uint32_t)base->list.n;
	size_t at = 0, parent_at = 0;
	for (uint32_t path = 0; path < n; path++) {
		const struct st_fuzz_path_weight now = weight_on(x, path, &at),
		                                 before = weight_on(parent ? parent : &none, path,
		                                                    &parent_at),
		                                 seed = path < base->list.n
		                                                ? base->list.v[path]
		                                                : (struct st_fuzz_path_weight){0};
		if (!now.calls && !now.instructions && !seed.calls && !seed.instructions)
			continue;
		g.n++;
		add_ratio(&g, path,
		          ((double)now.calls + base->more_calls) /
		                  ((double)seed.calls + base->more_calls),
		          now.calls > before.calls);
		add_ratio(&g, path,
		          ((double)now.instructions + base->more_instructions) /
		                  ((double)seed.instructions + base->more_instructions),
		          now.instructions > before.instructions);
	}
	out.score = g.n ? g.sum / (2 * (double)g.n) : 0;
	if (out.beyond <= 0)
		out.path = g.most_path;
	return out;
}

st_status
st_fuzz_paths_copy(struct st_fuzz_path_counts *to, const struct st_fuzz_path_counts *from)
{
	struct st_fuzz_path_count *v = malloc((from->n + 1) * sizeof *v);
	if (!v)
		return ST_FAILED;
	if (from->n)
		memcpy(v, from->v, from->n * sizeof *v);
	free(to->v);
	to->v = v;
	to->n = from->n;
	to->cap = from->n + 1;
	return ST_OK;
}
