/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures pairs one after another, and judges all of them after each. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "gate/gate.h"
#include "stats/betting.h"

const char *const st_gate_sides[] = {"base", "target"};

const char *const st_gate_metric_words[] = {
#define M(id, name, title) name,
        ST_GATE_METRICS(M)
#undef M
};

const char *const st_gate_duet_words[] = {
#define A(id, name) name,
        ST_GATE_DUETS(A)
#undef A
};

const char *const st_gate_verdicts[] = {
#define V(id, name, code) name,
        ST_GATE_VERDICTS(V)
#undef V
};

int
st_gate_exit(enum st_gate_verdict verdict)
{
	static const int codes[] = {
#define V(id, name, code) code,
	        ST_GATE_VERDICTS(V)
#undef V
	};
	return codes[verdict];
}

static st_status
sequence_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the times of the gate");
}

/* A regression is certain to be slower, and its estimated change is the limit or more; a pass is
 * certain to be not slower by the limit. */
static enum st_gate_verdict
sequence_judge(const struct st_gate_rule *rule, const struct st_gate_time *t)
{
	const double *x = t->ratios.v, matters = log1p(rule->limit);
	const size_t n = t->ratios.n;
	if (log(t->evidence) >= -log(rule->alarm) && t->change.at >= rule->limit)
		return ST_GATE_REGRESSION;
	if (st_bet_below(x, n, matters) >= -log(rule->miss))
		return ST_GATE_PASS;
	return ST_GATE_INCONCLUSIVE;
}

st_status
st_gate_look(const struct st_gate_rule *rule, struct st_gate_time *t)
{
	const double *x = t->ratios.v;
	const size_t n = t->ratios.n;
	struct st_interval logs;
	if (st_bet_interval(x, n, 0.9, &logs))
		return ST_FAILED;
	t->change = (struct st_interval){expm1(logs.at), expm1(logs.low), expm1(logs.high)};
	t->evidence = exp(st_bet_above(x, n, log1p(rule->above)));
	t->spread = n > 1 ? st_mad(x, n) : NAN;
	t->verdict = sequence_judge(rule, t);
	return ST_OK;
}

static struct st_gate_pair
sequence_draw(uint64_t *random, size_t number)
{
	enum { MOST_PADDING = 4096 };
	struct st_gate_pair pair = {.number = number, .first = (int)st_random_below(random, 2)};
	for (int side = 0; side < ST_GATE_SIDES; side++)
		pair.padding[side] = (unsigned)st_random_below(random, MOST_PADDING);
	pair.random = st_random_next(random);
	return pair;
}

struct sequence_times {
	struct {
		ST_VEC(double) ns;
	} side[ST_GATE_SIDES];
};

static st_status
sequence_add(struct sequence_times *times, struct st_gate_time *t, const double *ns,
             struct st_error *e)
{
	double *ratio = ST_PUSH(&t->ratios);
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		double *slot = ST_PUSH(&times->side[side].ns);
		if (!slot || !ratio)
			return sequence_no_memory(e);
		*slot = ns[side];
		if (!(ns[side] > 0))
			return st_fail(e, ST_EXIT_FAILED,
			               "the gate measured nothing: a run of the %s took no time; "
			               "measure a program that runs for a millisecond or longer",
			               st_gate_sides[side]);
	}
	*ratio = log(ns[ST_GATE_TARGET] / ns[ST_GATE_BASE]);
	return ST_OK;
}

static st_status
sequence_plan(const struct st_gate_rule *rule, const struct st_gate_sampler *s, uint64_t seed,
              struct st_error *e)
{
	uint64_t random = seed;
	for (size_t i = 0; s->plan && i < rule->pairs; i++) {
		const struct st_gate_pair pair = sequence_draw(&random, i);
		if (s->plan(s->arg, &pair, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
sequence_pairs(const struct st_gate_rule *rule, const struct st_gate_sampler *s, uint64_t seed,
               struct sequence_times *times, struct st_gate_time *t, struct st_error *e)
{
	uint64_t random = seed;
	const double begin = s->now(s->arg);
	for (size_t i = 0; i < rule->pairs && t->verdict == ST_GATE_INCONCLUSIVE; i++) {
		const struct st_gate_pair pair = sequence_draw(&random, i);
		double ns[ST_GATE_SIDES] = {0};
		if (i && rule->seconds > 0 && s->now(s->arg) - begin >= rule->seconds)
			break;
		if (s->measure(s->arg, &pair, ns, e))
			return ST_FAILED;
		t->interrupted = s->interrupted && s->interrupted(s->arg);
		if (t->interrupted)
			break;
		if (sequence_add(times, t, ns, e))
			return ST_FAILED;
		if (st_gate_look(rule, t))
			return sequence_no_memory(e);
	}
	t->seconds = s->now(s->arg) - begin;
	return ST_OK;
}

st_status
st_gate_measure(const struct st_gate_rule *rule, const struct st_gate_sampler *sampler,
                uint64_t seed, struct st_gate_time *out, struct st_error *e)
{
	struct sequence_times times = {0};
	*out = (struct st_gate_time){
	        .verdict = ST_GATE_INCONCLUSIVE, .spread = NAN, .limit = rule->limit};
	st_status status = sequence_plan(rule, sampler, seed, e);
	if (!status)
		status = sequence_pairs(rule, sampler, seed, &times, out, e);
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		if (!status && times.side[side].ns.n)
			out->ns[side] = st_median(times.side[side].ns.v, times.side[side].ns.n);
		free(times.side[side].ns.v);
	}
	return status;
}

void
st_gate_time_free(struct st_gate_time *t)
{
	free(t->ratios.v);
	*t = (struct st_gate_time){0};
}
