/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The counts of each process in each function. Blocks and samples of all processes become one list,
 * so they are copied before that, and find their functions when all of these are known.
 */
#include "base/order.h"
#include "collect/collect.h"

st_status
st_collect_end_process(struct st_collect *c)
{
	const struct st_profile_run *run = &c->profile->run;
	struct st_collect_end *end = ST_PUSH(&c->ends);
	if (!end)
		return ST_FAILED;
	*end = (struct st_collect_end){c->profile->blocks.n, c->hits.n, run->samples_code,
	                               run->samples_kernel, run->samples_engine};
	return ST_OK;
}

static void *
shares_copy(const void *v, size_t n, size_t size)
{
	void *copy = calloc(n + 1, size);
	if (copy && n)
		memcpy(copy, v, n * size);
	return copy;
}

st_status
st_collect_keep_processes(struct st_collect *c)
{
	if (c->ends.n < 2 || !c->origin->keep_blocks)
		return ST_OK;
	const struct st_collect_end *last = &c->ends.v[c->ends.n - 1];
	c->unmerged_blocks =
	        shares_copy(c->profile->blocks.v, last->blocks, sizeof *c->unmerged_blocks);
	c->unmerged_hits = shares_copy(c->hits.v, last->hits, sizeof *c->unmerged_hits);
	return c->unmerged_blocks && c->unmerged_hits ? ST_OK : ST_FAILED;
}

/* Adds the blocks of a process to the sums of its functions. */
static st_status
shares_add_blocks(const struct st_collect *c, struct st_profile_block *v, size_t n,
                  struct st_profile_function *sums)
{
	const struct st_profile *p = c->profile;
	for (size_t i = 0; i < n; i++) {
		const struct st_profile_block *merged = bsearch(
		        &v[i], p->blocks.v, p->blocks.n, sizeof v[i], st_collect_block_order);
		if (!merged)
			return ST_FAILED;
		v[i].function = merged->function;
		sums[merged->function].executions += v[i].executions;
		sums[merged->function].instructions += v[i].instructions;
	}
	if (n)
		st_order(v, n, sizeof *v, st_collect_function_order);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].image == v[i].image;)
			end++;
		if (st_collect_count_calls(&v[i], end - i, sums))
			return ST_FAILED;
	}
	return ST_OK;
}

static void
shares_add_hits(const struct st_collect *c, const struct st_hit *v, size_t n,
                struct st_profile_function *sums)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t f = st_collect_function_at(c, v[i].image, v[i].offset);
		if (v[i].where == ST_HIT_FRAME || f >= c->profile->functions.n)
			continue;
		*(v[i].where == ST_SAMPLE_CODE      ? &sums[f].samples
		  : v[i].where == ST_SAMPLE_SYSCALL ? &sums[f].samples_kernel
		                                    : &sums[f].samples_engine) += v[i].count;
	}
}

static st_status
shares_push(struct st_profile *p, const struct st_profile_share *share)
{
	struct st_profile_share *out = ST_PUSH(&p->shares);
	if (!out)
		return ST_FAILED;
	*out = *share;
	return ST_OK;
}

static struct st_profile_function
shares_empty(const struct st_profile_function *f)
{
	return (struct st_profile_function){
	        .offset = f->offset, .size = f->size, .calls_exact = true};
}

/* Makes a share of each function with a count, and prepares the sums for the next process. */
static st_status
shares_finish(struct st_profile *p, uint32_t process, struct st_profile_function *sums)
{
	for (uint32_t f = 0; f < p->functions.n; f++) {
		const struct st_profile_function *in = &sums[f];
		const struct st_profile_share share = {process,
		                                       f,
		                                       in->calls_exact,
		                                       in->calls,
		                                       in->executions,
		                                       in->instructions,
		                                       in->samples,
		                                       in->samples_total,
		                                       in->samples_kernel,
		                                       in->samples_engine};
		const bool counted = in->executions | in->instructions | in->samples |
		                     in->samples_total | in->samples_kernel | in->samples_engine;
		sums[f] = shares_empty(&p->functions.v[f]);
		if (counted && shares_push(p, &share))
			return ST_FAILED;
	}
	return ST_OK;
}

/* *total: the first of the process's totals; at the end that of the next process. */
static st_status
shares_of_process(struct st_collect *c, uint32_t process, struct st_profile_function *sums,
                  size_t *total)
{
	const struct st_collect_end *end = &c->ends.v[process], none = {0};
	const struct st_collect_end *begin = process ? &c->ends.v[process - 1] : &none;
	struct st_profile_share all = {.process = process, .function = UINT32_MAX};
	all.samples = end->samples_code - begin->samples_code;
	all.samples_kernel = end->samples_kernel - begin->samples_kernel;
	all.samples_engine = end->samples_engine - begin->samples_engine;
	if (shares_add_blocks(c, c->unmerged_blocks + begin->blocks, end->blocks - begin->blocks,
	                      sums))
		return ST_FAILED;
	shares_add_hits(c, c->unmerged_hits + begin->hits, end->hits - begin->hits, sums);
	for (; *total < c->totals.n && c->totals.v[*total].process == process; ++*total) {
		const struct st_collect_total *t = &c->totals.v[*total];
		if (t->function == UINT32_MAX)
			all.samples_total += t->stacks;
		else
			sums[t->function].samples_total += t->stacks;
	}
	return shares_finish(c->profile, process, sums) || shares_push(c->profile, &all) ? ST_FAILED
	                                                                                 : ST_OK;
}

st_status
st_collect_shares(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	if (!c->unmerged_blocks || !c->unmerged_hits)
		return ST_OK;
	struct st_profile_function *sums = calloc(p->functions.n + 1, sizeof *sums);
	st_status status = sums ? ST_OK : ST_FAILED;
	size_t total = 0;
	for (uint32_t f = 0; !status && f < p->functions.n; f++)
		sums[f] = shares_empty(&p->functions.v[f]);
	for (uint32_t i = 0; !status && i < c->ends.n; i++)
		status = shares_of_process(c, i, sums, &total);
	free(sums);
	return status;
}
