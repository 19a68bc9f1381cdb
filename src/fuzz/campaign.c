/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/campaign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

enum { SIZE_BEYOND_SEEDS = 1000000, MOST_APPLICATIONS = 10 };
static const double rate_up = 0.05, rate_down = 0.01, least_rate = 1.0;

static st_status
no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the inputs");
}

/* ---- seeds ---- */

static int
by_amount(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

static st_status
set_base(struct st_campaign *c)
{
	const size_t n = c->corpus.list.n;
	uint64_t *work = malloc((n + 1) * sizeof *work);
	if (!work)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		work[i] = c->corpus.list.v[i].work;
	qsort(work, n, sizeof *work, by_amount);
	c->corpus.base = n % 2 ? work[n / 2] : (work[n / 2 - 1] + work[n / 2]) / 2;
	free(work);
	for (size_t i = 0; i < n; i++)
		c->corpus.list.v[i].ratio =
		        (double)c->corpus.list.v[i].work / (double)c->corpus.base;
	return ST_OK;
}

static st_status
check_seed(const struct st_fuzz_execution *x, size_t number, double limit, struct st_error *e)
{
	if (x->end == ST_END_HANG)
		return st_fail(e, ST_EXIT_FAILED,
		               "seed %zu makes the program run for longer than %g s: raise --hang, "
		               "or give a smaller seed",
		               number + 1, limit);
	if (x->end == ST_END_SIGNAL)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "seed %zu ends the program by signal %d: give seeds that it can read",
		        number + 1, x->code);
	if (!x->work)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "nothing was counted with seed %zu: the program ended with exit code %d",
		        number + 1, x->code);
	return ST_OK;
}

/* Executes a seed twice. The difference says how reproducible the counts are. */
static st_status
execute_seed(struct st_campaign *c, struct st_fuzz_input *input, size_t number, struct st_error *e)
{
	struct st_fuzz_execution x = {0};
	uint64_t first = 0;
	st_status status = ST_OK;
	bool raised;
	for (int i = 0; i < 2 && !status && !st_fuzz_interrupted(); i++) {
		status = st_fuzz_execute(c->target, &input->bytes, &c->places, &x, e);
		c->n_executions++;
		if (!status && !st_fuzz_interrupted())
			status = check_seed(&x, number, c->target->hang_seconds, e);
		if (!status && st_fuzz_map_raise(&c->corpus.map, &x, &raised))
			status = no_memory(e);
		input->work = x.work;
		first = i ? first : x.work;
	}
	if (!status && first) {
		double differ = fabs((double)input->work - (double)first) / (double)first;
		c->unsteady = fmax(c->unsteady, differ);
	}
	st_fuzz_execution_free(&x);
	return status;
}

static void
set_most_bytes(struct st_campaign *c)
{
	size_t largest = 0;
	for (size_t i = 0; i < c->corpus.list.n; i++)
		if (largest < c->corpus.list.v[i].bytes.n)
			largest = c->corpus.list.v[i].bytes.n;
	if (c->choice.size_ratio > 0)
		c->choice.most_bytes = (size_t)((double)largest * c->choice.size_ratio);
	else if (!c->choice.most_bytes)
		c->choice.most_bytes = largest + SIZE_BEYOND_SEEDS;
}

st_status
st_campaign_begin(struct st_campaign *c, struct st_fuzz_bytes *seeds, size_t n, struct st_error *e)
{
	c->began = st_now_raw();
	c->random = c->choice.seed;
	c->rate = c->choice.rate;
	for (size_t i = 0; i < st_rules_count(c->rules); i++)
		if (!ST_PUSH(&c->hits) || !ST_PUSH(&c->tried))
			return no_memory(e);
	for (size_t i = 0; i < n && !st_fuzz_interrupted(); i++) {
		struct st_fuzz_input input = {.bytes = seeds[i], .parent = i, .seed = i};
		seeds[i] = (struct st_fuzz_bytes){0};
		if (execute_seed(c, &input, i, e)) {
			st_fuzz_input_free(&input);
			return ST_FAILED;
		}
		if (c->most_work < input.work)
			c->most_work = input.work;
		if (st_corpus_add(&c->corpus, &input))
			return no_memory(e);
	}
	if (st_fuzz_interrupted())
		return st_fail(e, ST_EXIT_FAILED, "interrupted before all seeds were executed");
	c->n_seeds = n;
	set_most_bytes(c);
	return set_base(c) ? no_memory(e) : ST_OK;
}

/* The seed and the rules of such an input are no longer known. */
static st_status
resume_input(struct st_campaign *c, struct st_fuzz_bytes *bytes, struct st_error *e)
{
	struct st_fuzz_input input = {.bytes = *bytes};
	struct st_fuzz_execution x = {0};
	bool raised;
	*bytes = (struct st_fuzz_bytes){0};
	st_status status = st_fuzz_execute(c->target, &input.bytes, &c->places, &x, e);
	c->n_executions++;
	if (!status && x.end == ST_END_EXIT && !st_fuzz_interrupted()) {
		input.work = x.work;
		input.ratio = (double)x.work / (double)c->corpus.base;
		c->most_work = c->most_work < x.work ? x.work : c->most_work;
		if (st_fuzz_map_raise(&c->corpus.map, &x, &raised) ||
		    st_corpus_add(&c->corpus, &input))
			status = no_memory(e);
	}
	st_fuzz_execution_free(&x);
	st_fuzz_input_free(&input);
	return status;
}

st_status
st_campaign_resume(struct st_campaign *c, struct st_fuzz_bytes *inputs, size_t n,
                   struct st_error *e)
{
	for (size_t i = 0; i < n && !st_fuzz_interrupted(); i++)
		if (resume_input(c, &inputs[i], e))
			return ST_FAILED;
	return ST_OK;
}

/* ---- rounds ---- */

static bool
campaign_is_over(const struct st_campaign *c)
{
	return st_fuzz_interrupted() || st_now_raw() - c->began >= c->choice.seconds ||
	       (c->choice.executions && c->n_executions >= c->choice.executions);
}

/* A child of the parent by a rule, applied 1 to 10 times. *changed: it differs from the parent. */
static st_status
make_child(struct st_campaign *c, size_t parent, size_t rule, struct st_fuzz_input *child,
           bool *changed)
{
	const struct st_fuzz_input *from = &c->corpus.list.v[parent];
	size_t times = 1 + st_random_below(&c->random, MOST_APPLICATIONS);
	*child = (struct st_fuzz_input){.parent = parent, .seed = from->seed};
	if (st_fuzz_bytes_copy(&child->bytes, &from->bytes))
		return ST_FAILED;
	for (size_t i = 0; i < times && child->bytes.n < c->choice.most_bytes; i++)
		if (st_rules_apply(c->rules, rule, &child->bytes, &c->random))
			return ST_FAILED;
	if (child->bytes.n > c->choice.most_bytes)
		child->bytes.n = c->choice.most_bytes;
	*changed = child->bytes.n != from->bytes.n ||
	           (from->bytes.n && memcmp(child->bytes.v, from->bytes.v, from->bytes.n));
	for (size_t i = 0; i <= from->chain.n; i++) {
		size_t *link = ST_PUSH(&child->chain);
		if (!link)
			return ST_FAILED;
		*link = i < from->chain.n ? from->chain.v[i] : rule;
	}
	return ST_OK;
}

static st_status
keep_fault(struct st_campaign *c, struct st_fuzz_input *child, const struct st_fuzz_execution *x,
           struct st_error *e)
{
	struct st_fuzz_fault *fault = ST_PUSH(&c->faults);
	if (!fault)
		return no_memory(e);
	*fault = (struct st_fuzz_fault){*child, x->end, x->code};
	*child = (struct st_fuzz_input){0};
	c->n_hangs += x->end == ST_END_HANG;
	c->n_faults += x->end == ST_END_SIGNAL;
	return c->keep ? c->keep(c->arg, c, &fault->input, fault, e) : ST_OK;
}

/* Whether the child is worth keeping: it works more than the base and its parent, by the rate of
 * now; or some block more often than ever, while the whole does not work less. */
static st_status
take_child(struct st_campaign *c, struct st_fuzz_input *child, const struct st_fuzz_execution *x,
           bool *interesting, struct st_error *e)
{
	struct st_fuzz_input *parent = &c->corpus.list.v[child->parent];
	bool raised;
	if (st_fuzz_map_raise(&c->corpus.map, x, &raised))
		return no_memory(e);
	child->work = x->work;
	child->ratio = (double)x->work / (double)c->corpus.base;
	parent->made++;
	*interesting = child->ratio > c->rate && x->work > parent->work;
	parent->interesting += *interesting;
	if (c->most_work < x->work)
		c->most_work = x->work;
	if (!*interesting && !(raised && x->work > parent->work))
		return ST_OK;
	if (*interesting && c->keep && c->keep(c->arg, c, child, NULL, e))
		return ST_FAILED;
	return st_corpus_add(&c->corpus, child) ? no_memory(e) : ST_OK;
}

static st_status
try_child(struct st_campaign *c, size_t parent, size_t rule, bool *interesting, struct st_error *e)
{
	struct st_fuzz_input child;
	struct st_fuzz_execution x = {0};
	bool changed = false;
	*interesting = false;
	st_status status = make_child(c, parent, rule, &child, &changed) ? no_memory(e) : ST_OK;
	if (!status && changed) {
		status = st_fuzz_execute(c->target, &child.bytes, &c->places, &x, e);
		c->n_executions++;
		c->tried.v[rule]++;
		if (!status && st_fuzz_interrupted())
			; /* the signal may have ended it */
		else if (!status && x.end != ST_END_EXIT)
			status = keep_fault(c, &child, &x, e);
		else if (!status)
			status = take_child(c, &child, &x, interesting, e);
	}
	c->n_interesting += *interesting;
	c->hits.v[rule] += *interesting;
	if (c->progress)
		c->progress(c->arg, c);
	st_fuzz_execution_free(&x);
	st_fuzz_input_free(&child);
	return status;
}

/* All rules on one parent. */
static st_status
try_parent(struct st_campaign *c, size_t *found, struct st_error *e)
{
	size_t parent;
	if (st_corpus_choose(&c->corpus, &c->random, &parent))
		return no_memory(e);
	for (size_t rule = 0; rule < c->hits.n; rule++) {
		size_t n = st_fuzz_mutants(c->choice.strategy, c->hits.v[rule], c->n_interesting,
		                           &c->random);
		for (bool interesting; n-- > 0 && !campaign_is_over(c); *found += interesting)
			if (try_child(c, parent, rule, &interesting, e))
				return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_campaign_run(struct st_campaign *c, struct st_error *e)
{
	size_t idle = 0;
	while (!campaign_is_over(c)) {
		size_t found = 0, before = c->n_executions;
		while (!campaign_is_over(c) && found < c->choice.round_interesting &&
		       c->n_executions - before < c->choice.round_executions && idle < 1000) {
			size_t executed = c->n_executions;
			if (try_parent(c, &found, e))
				return ST_FAILED;
			idle = c->n_executions > executed ? 0 : idle + 1;
		}
		if (idle >= 1000)
			return ST_OK; /* no rule changes any input */
		c->rate = fmax(c->rate + (found ? rate_up : -rate_down), least_rate);
	}
	return ST_OK;
}

void
st_campaign_free(struct st_campaign *c)
{
	st_fuzz_places_free(&c->places);
	st_corpus_free(&c->corpus);
	for (size_t i = 0; i < c->faults.n; i++)
		st_fuzz_input_free(&c->faults.v[i].input);
	free(c->faults.v);
	free(c->hits.v);
	free(c->tried.v);
}
