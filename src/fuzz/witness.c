/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fuzz/finding.h"
#include "fuzz/minimise.h"

/* LARGEST: bytes of a member of a family; FEWEST: repetitions of the largest member if its token is
 * so long that LARGEST would allow fewer. */
enum { MOST_TRIALS = 120, MOST_POINTS = 60, LARGEST = 1 << 16, FEWEST = 16, PAIRS = 9 };
/* While a witness is minimised, an execution is a hang after this multiple of the seed's time. */
static const double hang_times = 50, least_hang = 0.5;
/* A family ends with an input of this work, some tenths of a second: not after a time, which would
 * make the law depend on what else the machine does. */
static const uint64_t most_work = 200000000;
/* Of the time that is left, a witness may take this share, and its minimising half of that.
 * Replacing its bytes by the most frequent one may take a quarter of that in addition. */
static const double share_of_time = 0.5;
/* Of the time that is left, the native run of a hang may take this share. */
static const double share_of_hang = 0.25;
/* No execution gets less than this, in which a program has begun. */
static const double shortest = 0.05;

bool
st_judging_is_over(const struct st_judging *j)
{
	return st_fuzz_interrupted() || st_now_raw() > j->until;
}

/* Shortens the time after which an execution is a hang to the time that is left. Returns what it
 * was before. */
static double
limit_execution(struct st_judging *j)
{
	struct st_fuzz_target *target = j->campaign->target;
	const double hang = target->hang_seconds;
	target->hang_seconds = fmin(hang, fmax(j->until - st_now_raw(), shortest));
	return hang;
}

st_status
st_judging_execute(struct st_judging *j, const struct st_fuzz_bytes *input,
                   struct st_fuzz_execution *x, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	const double hang = limit_execution(j);
	st_status status = st_fuzz_execute(c->target, input, &c->places, x, e);
	c->n_executions++;
	c->target->hang_seconds = hang;
	return status;
}

st_status
st_judging_time(struct st_judging *j, const struct st_fuzz_bytes *input, double *seconds,
                struct st_error *e)
{
	const double hang = limit_execution(j);
	st_status status = st_fuzz_time(j->campaign->target, input, seconds, e);
	j->campaign->target->hang_seconds = hang;
	return status;
}

/* ---- minimising ---- */

struct trial {
	struct st_judging *j;
	const struct st_finding *f;
	double base;  /* work of an input of one byte; 0 if the program does not end with it */
	double rate;  /* work for each byte beyond that, of which a smaller one must have as much */
	double least; /* work beyond that, which it must have as well */
	double until;
	size_t n;
	struct st_fuzz_execution x;
};

/* A smaller witness does no less than the seed, and clearly more for each byte: the geometric mean
 * of both rates. (If it had to do as much as the witness, an input of quadratic work could never
 * become smaller.) */
static double
rate_to_keep(const struct trial *t, double rate)
{
	const struct st_finding *f = t->f;
	const double seed =
	        ((double)f->seed_work - t->base) / (double)(f->seed_bytes ? f->seed_bytes : 1);
	return sqrt(fmax(rate, 0) * fmin(fmax(seed, 1), fmax(rate, 1)));
}

static st_status
still_holds(void *arg, const struct st_fuzz_bytes *b, bool *yes, struct st_error *e)
{
	struct trial *t = arg;
	double more;
	t->n++;
	if (st_judging_execute(t->j, b, &t->x, e))
		return ST_FAILED;
	switch (t->f->kind) {
	case ST_FINDING_HANG:
		*yes = t->x.end == ST_END_HANG;
		break;
	case ST_FINDING_FAULT:
		*yes = t->x.end == ST_END_SIGNAL && t->x.code == t->f->signal;
		break;
	default:
		more = (double)t->x.work - t->base;
		*yes = t->x.end == ST_END_EXIT && more >= t->least &&
		       more / (double)b->n >= t->rate;
		/* The rate rises when bytes are removed that do nothing. */
		if (*yes)
			t->rate = fmax(t->rate, rate_to_keep(t, more / (double)b->n));
	}
	*yes = *yes && !st_judging_is_over(t->j);
	return ST_OK;
}

static bool
is_enough(void *arg)
{
	const struct trial *t = arg;
	return t->n >= MOST_TRIALS || st_now_raw() > t->until || st_judging_is_over(t->j);
}

/* Whether a part of the witness is repeated, and is so short that a law has enough members of the
 * family: smaller ones than the smallest hang, or of no more than the size of an input. */
static bool
repeats_enough(const struct trial *t, const struct st_fuzz_family *family)
{
	const size_t apart = family->before.n + family->behind.n,
	             most = t->j->campaign->choice.most_bytes,
	             members = most > apart ? (most - apart) / family->token.n : 0;
	return family->repeated && members >= ST_LAW_FEWEST_POINTS &&
	       (t->f->kind != ST_FINDING_HANG || family->times >= ST_LAW_FEWEST_POINTS);
}

/* A law needs inputs of growing size, which repeat a part of the witness. If no short part is
 * repeated, the program may still treat the bytes of the witness in the same way, such as letters
 * for [a-z]+. */
static st_status
find_repetition(struct trial *t, const struct st_minimise *how, struct st_fuzz_bytes *minimal,
                double more, struct st_error *e)
{
	struct st_fuzz_family family;
	const st_status status = st_fuzz_family_find(&family, minimal);
	const bool enough = !status && repeats_enough(t, &family);
	st_fuzz_family_free(&family);
	if (status)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for a family");
	if (enough)
		return ST_OK;
	t->n = 0;
	t->until += more;
	return st_minimise_unify(how, minimal, e);
}

static st_status
minimise_witness(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct trial t = {.j = j, .f = f};
	const double now = st_now_raw();
	t.until = now + (j->until - now) * share_of_time / 2;
	const struct st_minimise how = {still_holds, is_enough, &t};
	const struct st_fuzz_bytes one = {.v = f->witness.v, .n = 1};
	st_status status = ST_OK;
	if (f->kind == ST_FINDING_SLOW) {
		status = st_judging_execute(j, &one, &t.x, e);
		t.base = t.x.end == ST_END_EXIT ? (double)t.x.work : 0;
		t.rate = rate_to_keep(&t, ((double)f->work - t.base) / (double)f->witness.n);
		t.least = (double)f->seed_work - t.base;
	}
	if (!status && st_fuzz_bytes_copy(&f->minimal, &f->witness))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for a witness");
	if (!status)
		status = st_minimise_beginning(&how, &f->minimal, e) ||
		                         st_minimise(&how, &f->minimal, e)
		                 ? ST_FAILED
		                 : ST_OK;
	if (!status && f->kind != ST_FINDING_FAULT)
		status = find_repetition(&t, &how, &f->minimal, (t.until - now) / 4, e);
	st_fuzz_execution_free(&t.x);
	return status;
}

/* ---- the family ---- */

/* The size of the largest member of a family, which is not larger than an input of the search. */
static size_t
largest_member(const struct st_fuzz_campaign *c, const struct st_fuzz_family *f)
{
	const size_t few = FEWEST * f->token.n, most = few > LARGEST ? few : LARGEST;
	return most < c->choice.most_bytes ? most : c->choice.most_bytes;
}

/* Executes the members of the family, from one repetition on, until they are large or slow. */
static st_status
measure_family(struct st_judging *j, struct st_finding *f, struct st_fuzz_execution *last,
               struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	struct st_fuzz_bytes input = {0};
	const size_t largest = largest_member(c, &f->family);
	st_status status = ST_OK;
	const size_t most = st_fuzz_family_most(&f->family);
	for (size_t k = 1;
	     k <= most && f->times.n < MOST_POINTS && !status && !st_judging_is_over(j);
	     k = st_fuzz_family_next(k)) {
		if (st_fuzz_family_make(&f->family, k, &input)) {
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for an input");
			break;
		}
		if (input.n > largest && (f->times.n || largest == c->choice.most_bytes))
			break;
		status = st_judging_execute(j, &input, last, e);
		if (status || last->end != ST_END_EXIT || st_fuzz_interrupted())
			break;
		double *times = ST_PUSH(&f->times), *work = ST_PUSH(&f->worked);
		if (!times || !work) {
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the law");
			break;
		}
		*times = (double)k;
		*work = (double)last->work;
		if (last->work > most_work)
			break;
	}
	st_fuzz_bytes_free(&input);
	return status;
}

/* The function that does most in the largest member of the family: at small sizes others do more.
 * With paths, that part of its work is looked at which the smallest member does not do, because the
 * program may do other work that is more, but always the same. */
static st_status
find_family_function(struct st_judging *j, struct st_finding *f,
                     const struct st_fuzz_execution *last, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	struct st_fuzz_execution first = {0};
	struct st_fuzz_bytes input = {0};
	st_status status = ST_OK;
	if (c->target->paths) {
		status = st_fuzz_family_make(&f->family, 1, &input)
		                 ? st_fail(e, ST_EXIT_FAILED, "no memory left for an input")
		                 : st_judging_execute(j, &input, &first, e);
	}
	if (!status &&
	    st_fuzz_hottest(j->functions, last, c->target->paths ? &first : NULL, &f->function))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the functions");
	st_fuzz_bytes_free(&input);
	st_fuzz_execution_free(&first);
	return status;
}

st_status
st_witness_family_law(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_fuzz_execution last = {0};
	st_status status = measure_family(j, f, &last, e);
	while (!status && f->times.n < ST_LAW_FEWEST_POINTS && !st_judging_is_over(j) &&
	       st_fuzz_family_shorten(&f->family)) {
		f->times.n = f->worked.n = 0;
		status = measure_family(j, f, &last, e);
	}
	if (!status && f->times.n)
		st_law_find(&f->law, f->times.v, f->worked.v, f->times.n);
	if (!status && last.counts.n)
		status = find_family_function(j, f, &last, e);
	st_fuzz_execution_free(&last);
	return status;
}

/* Two parts may make the work together, such as the bytes and the copies of a decompressor, and the
 * family repeats only one of them: so the whole input is repeated. The family and the law stay as
 * they are if its law is not superlinear. */
static st_status
try_whole(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_finding whole = {.kind = f->kind}, drop;
	st_status status = st_fuzz_family_whole(&whole.family, &f->minimal)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for a family")
	                           : ST_OK;
	if (f->kind == ST_FINDING_HANG)
		st_fuzz_family_shorten(&whole.family);
	if (!status)
		status = st_witness_family_law(j, &whole, e);
	drop = whole;
	if (whole.law.superlinear) {
		drop = *f;
		f->family = whole.family;
		f->law = whole.law;
		memcpy(&f->times, &whole.times, sizeof f->times);
		memcpy(&f->worked, &whole.worked, sizeof f->worked);
		f->function = whole.function;
	}
	st_fuzz_family_free(&drop.family);
	free(drop.times.v);
	free(drop.worked.v);
	return status;
}

static st_status
find_witness_law(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	f->has_family = true;
	st_status status = st_fuzz_family_find(&f->family, &f->minimal)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for a family")
	                           : ST_OK;
	if (f->kind == ST_FINDING_HANG) /* the whole input takes too long */
		st_fuzz_family_shorten(&f->family);
	if (!status)
		status = st_witness_family_law(j, f, e);
	if (!status && f->family.repeated && !f->law.superlinear && !st_judging_is_over(j))
		status = try_whole(j, f, e);
	return status;
}

/* Measures how long the seed and the witness of a hang take natively. The engine makes a program
 * slower, so a witness that is a hang there may end natively. */
static st_status
time_hang(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_fuzz_target *target = j->campaign->target;
	const double hang = target->hang_seconds;
	st_status status =
	        st_judging_time(j, &j->campaign->corpus.list.v[f->seed].bytes, &f->seed_seconds, e);
	target->hang_seconds = fmin(hang, (j->until - st_now_raw()) * share_of_hang);
	if (!status && !st_judging_is_over(j))
		status = st_fuzz_time(target, &f->witness, &f->witness_seconds, e);
	if (st_fuzz_interrupted())
		f->seed_seconds = f->witness_seconds = NAN;
	f->endless = f->witness_seconds >= target->hang_seconds;
	target->hang_seconds = hang;
	return status;
}

st_status
st_witness_explain(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_fuzz_target *target = j->campaign->target;
	const double hang = target->hang_seconds;
	if (f->kind == ST_FINDING_HANG) {
		if (time_hang(j, f, e))
			return ST_FAILED;
		target->hang_seconds = fmin(hang, fmax(least_hang, hang_times * f->seed_seconds));
	}
	const double until = j->until, now = st_now_raw();
	/* An empty witness has no smaller one, and no part that a family could repeat. */
	st_status status = f->witness.n ? minimise_witness(j, f, e) : ST_OK;
	target->hang_seconds = hang;
	j->until = now + (until - now) * share_of_time;
	if (!status && f->witness.n && f->kind != ST_FINDING_FAULT)
		status = find_witness_law(j, f, e);
	j->until = until;
	return status;
}

/* ---- stack ---- */

/* A hang is interrupted after a time in which the seed would have ended many times. A fault may
 * take as long, even if judging is over. */
st_status
st_witness_stack(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_fuzz_target *target = j->campaign->target;
	const double hang = target->hang_seconds;
	if (st_fuzz_interrupted())
		return ST_OK;
	const double most = f->kind == ST_FINDING_HANG ? 1 : fmax(j->until - st_now_raw(), 1);
	target->hang_seconds = fmin(hang, most);
	st_status status = st_fuzz_stack_read(
	        target, &f->minimal, f->kind == ST_FINDING_HANG ? 0 : f->signal, &f->stack, e);
	target->hang_seconds = hang;
	return status;
}

/* ---- time ---- */

static int
by_ratio(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/* Nine pairs, alternately: the median ratio, and the second and the eighth, between which the true
 * median lies with 96.1 % (binomial distribution, p = 1/2). */
st_status
st_witness_time(struct st_judging *j, struct st_finding *f, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	double ratios[PAIRS], seeds[PAIRS], witnesses[PAIRS];
	f->slowdown = (struct st_interval){NAN, NAN, NAN};
	for (int i = 0; i < PAIRS; i++) {
		double seed, witness;
		if (st_judging_time(j, &c->corpus.list.v[f->seed].bytes, &seed, e) ||
		    st_judging_time(j, &f->witness, &witness, e))
			return ST_FAILED;
		ratios[i] = witness / seed;
		seeds[i] = seed;
		witnesses[i] = witness;
		if (st_judging_is_over(j))
			return ST_OK;
	}
	qsort(ratios, PAIRS, sizeof *ratios, by_ratio);
	qsort(seeds, PAIRS, sizeof *seeds, by_ratio);
	qsort(witnesses, PAIRS, sizeof *witnesses, by_ratio);
	f->seed_seconds = seeds[PAIRS / 2];
	f->witness_seconds = witnesses[PAIRS / 2];
	f->slowdown = (struct st_interval){ratios[PAIRS / 2], ratios[1], ratios[PAIRS - 2]};
	return ST_OK;
}
