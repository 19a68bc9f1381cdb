/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop of a campaign: children are made, executed several at a time, and taken in the order in
 * which they were made.
 *
 * Child number k is made when exactly the results of the children up to k - ST_FUZZ_SLOTS have been
 * taken. So inputs and their order depend neither on the number of workers nor on which of them
 * ends first, and a campaign that is resumed makes the same.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "fuzz/campaign.h"

enum { MOST_APPLICATIONS = 10, MOST_IDLE = 1000 };

struct fuzz_child {
	struct st_fuzz_input input;
	size_t rule;
};

struct search {
	struct st_fuzz_campaign *c;
	struct fuzz_child window[ST_FUZZ_SLOTS]; /* by the remainder of their numbers */
	size_t made, started, taken, running;
	size_t n_before; /* executions before the first child */
	/* The next child: which parent, by which rule, and how many more by that. */
	size_t parent, rule, more;
	bool dense;        /* it is chosen by its growth for each byte, not by its fitness */
	size_t n_dense;    /* parents that were chosen so */
	size_t made_dense; /* children of these */
	size_t idle;       /* parents in succession of which no child was made */
	bool child_of_parent;
	bool stalled;   /* no new input can be made before another result has been taken */
	bool exhausted; /* nor after all have been taken */
};

static st_status
no_memory_left(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the inputs");
}

static double
search_until(const struct search *s)
{
	return s->c->began + s->c->choice.seconds;
}

static bool
search_is_over(const struct search *s)
{
	const struct st_fuzz_campaign *c = s->c;
	if (st_fuzz_interrupted() || s->exhausted)
		return true;
	if (st_fuzz_journal_has(&c->journal, s->n_before + s->made))
		return false;
	return st_now_raw() >= search_until(s) ||
	       (c->choice.executions && s->n_before + s->made >= c->choice.executions);
}

/* ---- making ---- */

/* A child of the parent by a rule, applied 1 to 10 times. *new: it differs from all inputs before.
 * The seeds of some programs have only one child by a rule, such as that of --size bytes. */
static st_status
make_child(struct st_fuzz_campaign *c, size_t parent, size_t rule, struct st_fuzz_input *child,
           bool *new)
{
	const struct st_fuzz_input *from = &c->corpus.list.v[parent];
	size_t times = 1 + st_random_below(&c->random, MOST_APPLICATIONS);
	*child = (struct st_fuzz_input){.parent = parent, .seed = from->seed};
	child->bytes.most = c->choice.most_bytes;
	if (st_fuzz_bytes_copy(&child->bytes, &from->bytes))
		return ST_FAILED;
	for (size_t i = 0; i < times && child->bytes.n <= c->choice.most_bytes; i++)
		if (st_rules_apply(c->rules, rule, &child->bytes, &c->random))
			return ST_FAILED;
	if (child->bytes.n > c->choice.most_bytes)
		child->bytes.n = c->choice.most_bytes;
	if (st_fuzz_known_add(&c->known, &child->bytes, new))
		return ST_FAILED;
	for (size_t i = 0; i <= from->chain.n; i++) {
		size_t *link = ST_PUSH(&child->chain);
		if (!link)
			return ST_FAILED;
		*link = i < from->chain.n ? from->chain.v[i] : rule;
	}
	return ST_OK;
}

/* The parent that has grown most for each of its bytes: of all, or of a size that is drawn. */
static size_t
choose_dense(struct search *s)
{
	struct st_fuzz_campaign *c = s->c;
	size_t sizes[ST_FUZZ_SIZES] = {0}, n = 0;
	for (size_t i = 0; i < ST_FUZZ_SIZES; i++)
		if (c->densest[i])
			sizes[n++] = c->densest[i] - 1;
	return s->n_dense++ % 2 && n ? sizes[st_random_below(&c->random, n)] : c->greatest;
}

/* Half of all children have parents that are chosen by their growth for each byte. Small steps
 * lead to an optimum, such as the order for which a sort works most, only if many children are made
 * of the best input; and the fitness of an input that is merely long is greater. */
static st_status
next_parent(struct search *s)
{
	struct st_fuzz_campaign *c = s->c;
	s->dense = s->made_dense * 2 < s->made;
	if (!s->dense)
		return st_corpus_choose(&c->corpus, &c->random, &s->parent);
	s->parent = choose_dense(s);
	return ST_OK;
}

/* No rule makes a new input of the parents. When this is noticed must not depend on how many
 * results happen to be there: nothing is tried again before the next one has been taken. */
static void
stall(struct search *s)
{
	s->idle = 0;
	s->exhausted = s->taken == s->made;
	s->stalled = true;
}

/* The next rule of the parent, or the first one of the next parent. */
static st_status
next_rule(struct search *s)
{
	struct st_fuzz_campaign *c = s->c;
	if (++s->rule >= c->hits.n) {
		s->idle = s->child_of_parent ? 0 : s->idle + 1;
		if (s->idle >= MOST_IDLE)
			stall(s);
		s->child_of_parent = false;
		s->rule = 0;
		if (next_parent(s))
			return ST_FAILED;
	}
	/* Each rule makes one child of a dense parent, because the rules with many hits are often
	 * those that only make an input longer. */
	s->more = s->dense ? 1
	                   : st_fuzz_mutants(c->choice.strategy, c->hits.v[s->rule],
	                                     c->n_interesting, &c->random);
	return ST_OK;
}

static st_status
make_next(struct search *s, struct st_error *e)
{
	struct fuzz_child *child = &s->window[s->made % ST_FUZZ_SLOTS];
	for (bool new = false; !new && !s->stalled && !search_is_over(s);) {
		while (!s->more && !s->stalled)
			if (next_rule(s))
				return no_memory_left(e);
		if (s->stalled)
			return ST_OK;
		s->more--;
		child->rule = s->rule;
		st_status status = make_child(s->c, s->parent, s->rule, &child->input, &new);
		if (status || !new)
			st_fuzz_input_free(&child->input);
		if (!new)
			s->more /= 2; /* perhaps the rule has made all that it can */
		if (status)
			return no_memory_left(e);
		s->made += new;
		s->made_dense += new && s->dense;
		s->child_of_parent |= new;
	}
	return ST_OK;
}

/* ---- executing ---- */

static bool
is_replayed(const struct search *s, size_t child)
{
	return st_fuzz_journal_has(&s->c->journal, s->n_before + child);
}

static st_status
start_children(struct search *s, struct st_error *e)
{
	for (; s->started < s->made && !st_fuzz_interrupted(); s->started++) {
		if (is_replayed(s, s->started))
			continue;
		if (s->running >= s->c->choice.workers || st_now_raw() >= search_until(s))
			break;
		const size_t slot = s->started % ST_FUZZ_SLOTS;
		if (st_fuzz_start(s->c->target, slot, &s->window[slot].input.bytes, e))
			return ST_FAILED;
		s->running++;
	}
	return ST_OK;
}

/* ---- taking ---- */

static st_status
take_next(struct search *s, struct st_fuzz_execution *x, struct st_error *e)
{
	struct st_fuzz_campaign *c = s->c;
	const size_t slot = s->taken % ST_FUZZ_SLOTS;
	struct fuzz_child *child = &s->window[slot];
	st_status status;
	if (is_replayed(s, s->taken)) {
		status = st_fuzz_campaign_replay(c, x, e);
	} else {
		status = st_fuzz_finish(c->target, slot, &c->places, x, e);
		if (!status)
			status = st_fuzz_campaign_record_child(c, &child->input, x, e);
	}
	s->taken++;
	s->stalled = false;
	if (!status)
		status = st_fuzz_campaign_take(c, &child->input, child->rule, x, e);
	st_fuzz_input_free(&child->input);
	return status;
}

/* Whether the next one to take has a result. A signal may have ended one before its time: it and
 * those after it are left to a campaign that resumes this one. */
static bool
has_result(const struct search *s)
{
	const struct st_fuzz_slot *slot = &s->c->target->slots[s->taken % ST_FUZZ_SLOTS];
	return s->taken < s->started && (is_replayed(s, s->taken) || (slot->ended && !slot->cut));
}

static st_status
search_step(struct search *s, struct st_fuzz_execution *x, struct st_error *e)
{
	while (s->made - s->taken < ST_FUZZ_SLOTS && !s->stalled && !search_is_over(s))
		if (make_next(s, e))
			return ST_FAILED;
	if (start_children(s, e))
		return ST_FAILED;
	if (has_result(s))
		return take_next(s, x, e);
	/* A signal ends those that run. */
	if (s->running)
		s->running -= st_fuzz_wait(s->c->target,
		                           st_fuzz_interrupted() ? INFINITY : search_until(s));
	return ST_OK;
}

/* When the time is over, the results are taken that follow those before, and no others: an input
 * that is under way may run for as long as a hang. A campaign that resumes this one executes it. */
static bool
search_goes_on(const struct search *s)
{
	if (has_result(s) || !search_is_over(s))
		return true;
	if (st_fuzz_interrupted())
		return s->running > 0;
	if (s->taken < s->made && is_replayed(s, s->taken))
		return true;
	return s->taken < s->made && st_now_raw() < search_until(s);
}

st_status
st_fuzz_campaign_run(struct st_fuzz_campaign *c, struct st_error *e)
{
	struct search s = {.c = c, .n_before = c->n_executions, .rule = c->hits.n};
	struct st_fuzz_execution x = {0};
	st_status status = ST_OK;
	s.child_of_parent = true; /* before the first one */
	do
		status = search_step(&s, &x, e);
	while (!status && search_goes_on(&s));
	st_fuzz_drop_all(c->target);
	c->exhausted = s.exhausted;
	c->n_not_executed = st_fuzz_interrupted() ? 0 : s.made - s.taken;
	for (; s.taken < s.made; s.taken++)
		st_fuzz_input_free(&s.window[s.taken % ST_FUZZ_SLOTS].input);
	st_fuzz_execution_free(&x);
	return status ? status : st_fuzz_campaign_end(c, e);
}
