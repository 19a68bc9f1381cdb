/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

enum { SIZE_BEYOND_SEEDS = 1000000, SIZE_MOST = 64 << 20 };
static const double rate_up = 0.05, rate_down = 0.01, least_rate = 1.0;

static st_status
no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the inputs");
}

double
st_fuzz_campaign_seconds(const struct st_fuzz_campaign *c)
{
	return c->before + st_now_raw() - c->began;
}

/* ---- the journal ---- */

bool
st_fuzz_campaign_is_replayed(const struct st_fuzz_campaign *c)
{
	return st_fuzz_journal_has(&c->journal, c->n_executions);
}

st_status
st_fuzz_campaign_replay(struct st_fuzz_campaign *c, struct st_fuzz_execution *x, struct st_error *e)
{
	if (st_fuzz_journal_take(&c->journal, c->n_executions, &c->places, x, &c->before, e))
		return ST_FAILED;
	c->elapsed = c->before;
	c->n_executions++;
	return ST_OK;
}

st_status
st_fuzz_campaign_record(struct st_fuzz_campaign *c, const struct st_fuzz_execution *x,
                        bool with_paths, struct st_error *e)
{
	c->elapsed = st_fuzz_campaign_seconds(c);
	return st_fuzz_journal_add(&c->journal, c->n_executions++, &c->places, &c->corpus.map, x,
	                           with_paths, c->elapsed, e);
}

static bool
is_interesting(const struct st_fuzz_campaign *c, const struct st_fuzz_input *parent,
               const struct st_fuzz_execution *x)
{
	if (c->target->paths)
		return x->growth.beyond > fmax(c->rate, 1 + 2 * c->unsteady);
	return (double)x->work / (double)c->corpus.base > c->rate && x->work > parent->work;
}

static double
grown_by_byte(double grown, size_t bytes)
{
	return (grown - 1) / (double)(bytes + 1);
}

size_t
st_fuzz_size_class(size_t bytes)
{
	size_t class = 0;
	for (; bytes && class < ST_FUZZ_SIZES - 1; bytes /= 2)
		class ++;
	return class;
}

static bool
is_denser(const struct st_fuzz_campaign *c, double grown, size_t bytes, size_t than)
{
	const struct st_fuzz_input *best = &c->corpus.list.v[than];
	return grown_by_byte(grown, bytes) > grown_by_byte(best->grown, best->bytes.n);
}

/* Whether the input has grown more for each of its bytes than all parents of about its size. Of
 * the whole growth, long inputs have most, and hide the short ones that have a better shape; of the
 * growth for each byte, an empty input may have most. */
static bool
is_densest(const struct st_fuzz_campaign *c, const struct st_fuzz_input *child,
           const struct st_fuzz_execution *x)
{
	const double grown =
	        c->target->paths ? x->growth.most : (double)x->work / (double)c->corpus.base;
	const size_t best = c->densest[st_fuzz_size_class(child->bytes.n)];
	return best ? is_denser(c, grown, child->bytes.n, best - 1) : grown > 1;
}

/* The input of this number in the corpus has grown most of its class. */
static void
note_densest(struct st_fuzz_campaign *c, size_t number)
{
	const struct st_fuzz_input *input = &c->corpus.list.v[number];
	c->densest[st_fuzz_size_class(input->bytes.n)] = number + 1;
	if (is_denser(c, input->grown, input->bytes.n, c->greatest))
		c->greatest = number;
}

st_status
st_fuzz_campaign_record_child(struct st_fuzz_campaign *c, const struct st_fuzz_input *child,
                              struct st_fuzz_execution *x, struct st_error *e)
{
	const struct st_fuzz_input *parent = &c->corpus.list.v[child->parent];
	bool kept = false;
	if (c->target->paths && x->end == ST_END_EXIT) {
		x->growth = st_fuzz_paths_growth(&c->paths, &x->paths, &parent->paths);
		kept = is_interesting(c, parent, x) || is_densest(c, child, x) ||
		       (x->work > parent->work && st_fuzz_map_is_raised(&c->corpus.map, x));
	}
	return st_fuzz_campaign_record(c, x, kept, e);
}

/* ---- seeds ---- */

static int
by_amount(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

static st_status
set_base_of_paths(struct st_fuzz_campaign *c)
{
	const size_t n = c->corpus.list.n;
	const struct st_fuzz_path_counts **seeds = malloc((n + 1) * sizeof(void *));
	if (!seeds)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		seeds[i] = &c->corpus.list.v[i].paths;
	st_status status = st_fuzz_paths_base_set(&c->paths, seeds, n);
	free((void *)seeds);
	for (size_t i = 0; i < n && !status; i++) {
		struct st_fuzz_input *seed = &c->corpus.list.v[i];
		const struct st_fuzz_growth growth =
		        st_fuzz_paths_growth(&c->paths, &seed->paths, NULL);
		seed->ratio = growth.score;
		seed->grown = growth.most;
	}
	return status;
}

static st_status
set_base(struct st_fuzz_campaign *c)
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
	for (size_t i = 0; i < n; i++) {
		struct st_fuzz_input *seed = &c->corpus.list.v[i];
		seed->ratio = seed->grown = (double)seed->work / (double)c->corpus.base;
	}
	return c->target->paths ? set_base_of_paths(c) : ST_OK;
}

static st_status
check_seed(const struct st_fuzz_execution *x, size_t number, double limit, struct st_error *e)
{
	if (x->end == ST_END_HANG)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "with seed %zu, the program runs for longer than %g s: raise --hang, "
		        "or give a smaller seed",
		        number + 1, limit);
	if (x->end == ST_END_SIGNAL)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "with seed %zu, the program is ended by signal %d: give seeds with which "
		        "it ends normally",
		        number + 1, x->code);
	if (!x->work)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "nothing was counted with seed %zu: the program ended with exit code %d",
		        number + 1, x->code);
	return ST_OK;
}

/* One note is enough: what the seeds do, most inputs do. */
static void
note_executed(struct st_fuzz_campaign *c, const struct st_fuzz_execution *x, size_t number)
{
	if (x->executes && !c->has_noted_executed)
		fprintf(stderr,
		        "strobe: with seed %zu, %s executes another program, which is not "
		        "measured; to test that program, give its name instead of %s\n",
		        number + 1, c->target->argv[0], c->target->argv[0]);
	c->has_noted_executed |= x->executes;
}

static st_status
execute_once(struct st_fuzz_campaign *c, const struct st_fuzz_input *input, size_t number,
             struct st_fuzz_execution *x, struct st_error *e)
{
	bool raised;
	if (st_fuzz_campaign_is_replayed(c)) {
		if (st_fuzz_campaign_replay(c, x, e))
			return ST_FAILED;
	} else {
		if (st_fuzz_execute(c->target, &input->bytes, &c->places, x, e))
			return ST_FAILED;
		if (st_fuzz_interrupted())
			return ST_OK;
		note_executed(c, x, number);
		if (check_seed(x, number, c->target->hang_seconds, e) ||
		    st_fuzz_campaign_record(c, x, true, e))
			return ST_FAILED;
	}
	return st_fuzz_map_raise(&c->corpus.map, x, &raised) ? no_memory(e) : ST_OK;
}

/* Keeps the paths of a seed. again: it has been executed before. */
static st_status
take_seed_paths(struct st_fuzz_campaign *c, struct st_fuzz_input *seed,
                const struct st_fuzz_execution *x, bool again, struct st_error *e)
{
	const struct st_fuzz_path_counts *const first = &seed->paths;
	struct st_fuzz_paths_base base = {0};
	st_status status = again ? st_fuzz_paths_base_set(&base, &first, 1) : ST_OK;
	if (again && !status)
		c->unsteady =
		        fmax(c->unsteady, st_fuzz_paths_growth(&base, &x->paths, NULL).most - 1);
	st_fuzz_paths_base_free(&base);
	if (!status)
		status = st_fuzz_paths_copy(&seed->paths, &x->paths);
	return status ? no_memory(e) : ST_OK;
}

/* Executes a seed twice. The difference says how reproducible the counts are. */
static st_status
execute_seed(struct st_fuzz_campaign *c, struct st_fuzz_input *input, size_t number,
             struct st_error *e)
{
	struct st_fuzz_execution x = {0};
	uint64_t first = 0;
	st_status status = ST_OK;
	for (int i = 0; i < 2 && !status && !st_fuzz_interrupted(); i++) {
		status = execute_once(c, input, number, &x, e);
		input->work = x.work;
		first = i ? first : x.work;
		if (!status && c->target->paths)
			status = take_seed_paths(c, input, &x, i > 0, e);
	}
	if (!status && first) {
		double differ = fabs((double)input->work - (double)first) / (double)first;
		c->unsteady = fmax(c->unsteady, differ);
	}
	st_fuzz_execution_free(&x);
	return status;
}

static void
set_most_bytes(struct st_fuzz_campaign *c)
{
	size_t largest = 0;
	for (size_t i = 0; i < c->corpus.list.n; i++)
		if (largest < c->corpus.list.v[i].bytes.n)
			largest = c->corpus.list.v[i].bytes.n;
	if (c->choice.size_ratio > 0)
		c->choice.most_bytes = (size_t)fmin((double)largest * c->choice.size_ratio,
		                                    fmax(SIZE_MOST, (double)largest));
	else if (!c->choice.most_bytes)
		c->choice.most_bytes = largest + SIZE_BEYOND_SEEDS;
}

static st_status
note_moment(struct st_fuzz_campaign *c, bool last, struct st_error *e)
{
	const struct st_fuzz_moment now = {c->elapsed,   c->n_executions, c->n_interesting,
	                                   c->n_hangs,   c->n_faults,     c->places.list.n,
	                                   c->most_grown};
	return st_fuzz_series_add(&c->series, &now, last) ? no_memory(e) : ST_OK;
}

st_status
st_fuzz_campaign_begin(struct st_fuzz_campaign *c, struct st_fuzz_bytes *seeds, size_t n,
                       struct st_error *e)
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
		bool new;
		if (st_fuzz_known_add(&c->known, &input.bytes, &new)) {
			st_fuzz_input_free(&input);
			return no_memory(e);
		}
		if (st_corpus_add(&c->corpus, &input))
			return no_memory(e);
	}
	if (st_fuzz_interrupted())
		return st_fail(e, 128 + st_fuzz_interrupted(),
		               "interrupted before all seeds were executed");
	c->n_seeds = n;
	set_most_bytes(c);
	if (set_base(c))
		return no_memory(e);
	for (size_t i = 0; i < n; i++) {
		const struct st_fuzz_input *seed = &c->corpus.list.v[i];
		c->most_grown = fmax(c->most_grown, seed->grown);
		const size_t best = c->densest[st_fuzz_size_class(seed->bytes.n)];
		if (!best || is_denser(c, seed->grown, seed->bytes.n, best - 1))
			note_densest(c, i);
	}
	return note_moment(c, false, e);
}

/* ---- children ---- */

static st_status
keep_fault(struct st_fuzz_campaign *c, struct st_fuzz_input *child,
           const struct st_fuzz_execution *x, struct st_error *e)
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

/* Notes on which path an interesting input grew. */
static st_status
hit_path(struct st_fuzz_campaign *c, uint32_t path)
{
	while (c->path_hits.n <= path)
		if (!ST_PUSH(&c->path_hits))
			return ST_FAILED;
	c->path_hits.v[path]++;
	return ST_OK;
}

/* What the corpus keeps of an execution. */
static st_status
measure_child(const struct st_fuzz_campaign *c, struct st_fuzz_input *child,
              const struct st_fuzz_execution *x)
{
	child->work = x->work;
	child->ratio = child->grown = (double)x->work / (double)c->corpus.base;
	if (!c->target->paths)
		return ST_OK;
	child->ratio = x->growth.score;
	child->grown = x->growth.most;
	return st_fuzz_paths_copy(&child->paths, &x->paths);
}

/* Keeps the child if it is interesting: it, or with paths one of its paths, exceeds the current
 * rate times the base, and its parent. Keeps it, too, if it takes some edge more often than all
 * before, and works more than its parent; or if it has grown more for each of its bytes than all
 * before of about its size. */
static st_status
take_child(struct st_fuzz_campaign *c, struct st_fuzz_input *child,
           const struct st_fuzz_execution *x, bool *interesting, struct st_error *e)
{
	struct st_fuzz_input *parent = &c->corpus.list.v[child->parent];
	const bool densest = is_densest(c, child, x);
	bool raised;
	*interesting = is_interesting(c, parent, x);
	if (st_fuzz_map_raise(&c->corpus.map, x, &raised) || measure_child(c, child, x) ||
	    (*interesting && c->target->paths && hit_path(c, x->growth.path)))
		return no_memory(e);
	parent->made++;
	parent->interesting += *interesting;
	if (c->most_work < x->work)
		c->most_work = x->work;
	c->most_grown = fmax(c->most_grown, child->grown);
	if (!*interesting && !densest && !(raised && x->work > parent->work))
		return ST_OK;
	if (*interesting && c->keep && c->keep(c->arg, c, child, NULL, e))
		return ST_FAILED;
	if (st_corpus_add(&c->corpus, child))
		return no_memory(e);
	if (densest)
		note_densest(c, c->corpus.list.n - 1);
	return ST_OK;
}

static void
end_of_round(struct st_fuzz_campaign *c, bool interesting)
{
	c->round_found += interesting;
	c->round_executed++;
	if (c->round_found < c->choice.round_interesting &&
	    c->round_executed < c->choice.round_executions)
		return;
	c->rate = fmax(c->rate + (c->round_found ? rate_up : -rate_down), least_rate);
	c->round_found = c->round_executed = 0;
}

st_status
st_fuzz_campaign_end(struct st_fuzz_campaign *c, struct st_error *e)
{
	return note_moment(c, true, e);
}

st_status
st_fuzz_campaign_take(struct st_fuzz_campaign *c, struct st_fuzz_input *child, size_t rule,
                      const struct st_fuzz_execution *x, struct st_error *e)
{
	bool interesting = false;
	c->tried.v[rule]++;
	st_status status = x->end != ST_END_EXIT ? keep_fault(c, child, x, e)
	                                         : take_child(c, child, x, &interesting, e);
	c->n_interesting += interesting;
	c->hits.v[rule] += interesting;
	end_of_round(c, interesting);
	if (!status)
		status = note_moment(c, false, e);
	if (c->progress)
		c->progress(c->arg, c);
	return status;
}

void
st_fuzz_campaign_free(struct st_fuzz_campaign *c)
{
	st_fuzz_journal_close(&c->journal);
	st_fuzz_places_free(&c->places);
	st_corpus_free(&c->corpus);
	st_fuzz_known_free(&c->known);
	for (size_t i = 0; i < c->faults.n; i++)
		st_fuzz_input_free(&c->faults.v[i].input);
	free(c->faults.v);
	st_fuzz_paths_base_free(&c->paths);
	free(c->path_hits.v);
	free(c->series.list.v);
	free(c->hits.v);
	free(c->tried.v);
}
