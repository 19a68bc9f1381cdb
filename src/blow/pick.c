/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/pick.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

/* Duration of a yield if no other thread is ready to run. */
static const double yield_default_ns = 500;

/* ---- the noises to try ---- */

/* The mean over all runs; the default before the first run with yields. */
static double
yield_ns_of(const struct st_blow *b)
{
	double ns = 0, yields = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (r->function == ST_BLOW_NONE || r->noise.type != ST_BLOW_YIELD)
			continue;
		const struct st_blow_sample s = st_blow_sum(r, r->function);
		ns += (double)s.noise_ns;
		yields += (double)s.noises * (double)r->noise.strength;
	}
	return yields > 0 ? ns / yields : yield_default_ns;
}

double
st_blow_tries_ns(const struct st_blow_tries *t, struct st_blow_noise noise)
{
	return noise.type == ST_BLOW_YIELD ? (double)noise.strength * yield_ns_of(t->plan.b)
	                                   : (double)st_blow_noise_ns(noise);
}

static st_status
copy_noises(const struct st_blow_noises *from, struct st_blow_noises *to)
{
	*to = (struct st_blow_noises){0};
	for (size_t i = 0; i < from->list.n; i++) {
		struct st_blow_noise *noise = ST_PUSH(&to->list);
		if (!noise)
			return ST_FAILED;
		*noise = from->list.v[i];
	}
	return ST_OK;
}

static size_t
times_of(const struct st_blow_plan *p)
{
	return p->repeat ? p->repeat : 1;
}

/* The calls of functions that get noise in an experiment with the function. */
uint64_t
st_blow_noisy_calls(const struct st_blow *b, uint32_t function)
{
	uint64_t others = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		others += i != function && !b->functions.v[i].why ? b->functions.v[i].calls : 0;
	return b->speedup ? others : b->functions.v[function].calls;
}

double
st_blow_tries_most_ns(const struct st_blow_tries *t, uint32_t function)
{
	const struct st_blow_plan *p = &t->plan;
	if (p->full || function == ST_BLOW_NONE || !isfinite(p->most_slower))
		return 0;
	const double calls = (double)st_blow_noisy_calls(p->b, function);
	return p->most_slower * p->run_ns / fmax(calls, 1);
}

/* The list of the function before its length is limited. */
static st_status
database_of_try(const struct st_blow_plan *p, uint32_t function, struct st_blow_noises *own,
                const struct st_blow_noises **database)
{
	*own = (struct st_blow_noises){0};
	*database = p->b->speedup ? own : p->database;
	return p->b->speedup ? st_blow_speedup_noises(
	                               p->sampling, st_blow_mean(&p->b->functions.v[function]), own)
	                     : ST_OK;
}

static st_status
fill_try(const struct st_blow_tries *t, uint32_t function, struct st_blow_try *out)
{
	const struct st_blow_plan *p = &t->plan;
	out->function = function;
	struct st_blow_noises own;
	const struct st_blow_noises *database;
	/* All noise together may take most_slower * run_ns, and noise is limited by its share of
	 * that: so more calls limit the noise of one. */
	const double calls = (double)st_blow_noisy_calls(p->b, function),
	             least = p->longest_ns > 0 ? ceil(p->most_slower * p->run_ns / p->longest_ns)
	                                       : 0;
	st_status status = database_of_try(p, function, &own, &database);
	if (!status)
		status = p->full ? copy_noises(database, &out->noises)
		                 : st_blow_noises_for(database, (uint64_t)fmax(calls, least),
		                                      p->run_ns, p->most_slower, yield_default_ns,
		                                      &out->noises);
	free(own.list.v);
	out->done = calloc(out->noises.list.n + 1, sizeof *out->done);
	out->worths = calloc(out->noises.list.n + 1, sizeof *out->worths);
	out->left = out->noises.list.n * times_of(p);
	return status || !out->done || !out->worths ? ST_FAILED : ST_OK;
}

static void
mark_done(struct st_blow_tries *t, struct st_blow_try *try, struct st_blow_noise noise)
{
	size_t *least = NULL; /* of equal noises in the list, the one that was tried least */
	for (size_t i = 0; i < try->noises.list.n; i++) {
		const struct st_blow_noise *one = &try->noises.list.v[i];
		if (one->type == noise.type && one->strength == noise.strength &&
		    try->done[i] < (least ? *least : times_of(&t->plan)))
			least = &try->done[i];
	}
	if (least) {
		++*least;
		try->left--;
		t->left--;
	}
	t->done++;
}

/* Marks the noises that a resumed campaign has tried already, and draws their random numbers. */
static void
mark_runs(struct st_blow_tries *t)
{
	const struct st_blow *b = t->plan.b;
	for (size_t i = 0; i < b->runs.n; i++)
		for (size_t k = 0; k < t->list.n; k++)
			if (t->list.v[k].function == b->runs.v[i].function) {
				mark_done(t, &t->list.v[k], b->runs.v[i].noise);
				st_random_next(&t->random);
			}
}

struct timed_function {
	uint64_t ns;
	uint32_t function;
};

static int
selected_time_order(const void *a, const void *b)
{
	const struct timed_function *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/* The chosen functions by their time in the run that selects functions, the longest first: a
 * campaign that has no time for all of them then tries those that can matter. */
static st_status
chosen_by_time(const struct st_blow *b, struct timed_function **out, size_t *n)
{
	struct timed_function *v = calloc(b->functions.n + 1, sizeof *v);
	*n = 0;
	*out = v;
	for (uint32_t i = 0; v && i < b->functions.n; i++)
		if (b->functions.v[i].chosen)
			v[(*n)++] = (struct timed_function){b->functions.v[i].ns, i};
	if (*n)
		qsort(v, *n, sizeof *v, selected_time_order);
	return v ? ST_OK : ST_FAILED;
}

st_status
st_blow_tries_begin(struct st_blow_tries *t, const struct st_blow_plan *plan)
{
	*t = (struct st_blow_tries){.plan = *plan, .random = plan->seed};
	struct timed_function *chosen;
	size_t n;
	st_status status = chosen_by_time(plan->b, &chosen, &n);
	for (size_t i = 0; i < n && !status; i++) {
		struct st_blow_try *try = ST_PUSH(&t->list);
		status = try ? fill_try(t, chosen[i].function, try) : ST_FAILED;
		t->left += status ? 0 : try->left;
	}
	free(chosen);
	if (!status)
		mark_runs(t);
	return status;
}

void
st_blow_tries_free(struct st_blow_tries *t)
{
	for (size_t i = 0; i < t->list.n; i++) {
		free(t->list.v[i].noises.list.v);
		free(t->list.v[i].done);
		free(t->list.v[i].worths);
	}
	free(t->list.v);
	*t = (struct st_blow_tries){0};
}

/* ---- the choice of the function ---- */

size_t
st_blow_weighted(uint64_t *random, size_t n)
{
	enum { INTERVALS = 5, WEIGHTS = 5 + 4 + 3 + 2 + 1 };
	if (n < INTERVALS)
		return st_random_below(random, n);
	size_t interval = 0, drawn = st_random_below(random, WEIGHTS);
	while (drawn >= INTERVALS - interval)
		drawn -= INTERVALS - interval++;
	const size_t each = n / INTERVALS, begin = interval * each,
	             end = interval == INTERVALS - 1 ? n : begin + each;
	return begin + st_random_below(random, end - begin);
}

/* Findings of a function change with runs that have noise in it, and with runs without noise. */
static st_status
refresh_findings(struct st_blow_tries *t)
{
	const struct st_blow *b = t->plan.b;
	for (size_t i = 0; i < t->list.n; i++) {
		struct st_blow_try *try = &t->list.v[i];
		bool stale = !try->runs;
		for (size_t k = try->runs; k < b->runs.n && !stale; k++)
			stale = b->runs.v[k].function == ST_BLOW_NONE ||
			        b->runs.v[k].function == try->function;
		if (stale && (st_blow_find(b, try->function, &try->finding) ||
		              (b->causal && st_blow_worths(b, try))))
			return ST_FAILED;
		if (try->runs != b->runs.n)
			try->pending = 0;
		try->runs = b->runs.n;
	}
	return ST_OK;
}

static bool
is_tried(const struct st_blow_try *try)
{
	for (size_t i = 0; i < try->noises.list.n; i++)
		if (try->done[i])
			return true;
	return false;
}

struct candidates {
	ST_VEC(struct st_blow_try *) list;
};

static int
fitness_order(const void *a, const void *b)
{
	const struct st_blow_try *x = *(struct st_blow_try *const *)a,
	                         *y = *(struct st_blow_try *const *)b;
	const double p = x->finding.fitness, q = y->finding.fitness;
	if (p < q || p > q)
		return p < q ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Functions that have never been tried come first, those with the most time before the others. */
static st_status
find_candidates(struct st_blow_tries *t, struct candidates *out)
{
	bool untried = false;
	for (size_t i = 0; i < t->list.n; i++)
		untried |= t->list.v[i].left && !is_tried(&t->list.v[i]);
	for (size_t i = 0; i < t->list.n; i++) {
		if (!t->list.v[i].left || (untried && is_tried(&t->list.v[i])))
			continue;
		struct st_blow_try **slot = ST_PUSH(&out->list);
		if (!slot)
			return ST_FAILED;
		*slot = &t->list.v[i];
	}
	return ST_OK;
}

/* The experiments with the function that were chosen. */
static size_t
tries_of(const struct st_blow_try *try)
{
	size_t n = 0;
	for (size_t i = 0; i < try->noises.list.n; i++)
		n += try->done[i];
	return n;
}

/* The benefit of another experiment: greater for a wider interval and a greater possible effect. If
 * two experiments could not measure the slope, it may still be as great as the function's share of
 * the time, but each further one makes it less likely that the next one can. */
static double
worth_of(const struct st_blow_try *try)
{
	enum { ENOUGH = 2 };
	const struct st_blow_finding *f = &try->finding;
	const struct st_blow_slope *s = &f->slope;
	const double n = (double)f->experiments, after = n + (double)try->pending;
	if (s->state && tries_of(try) < ENOUGH)
		return INFINITY;
	if (s->state)
		return isnan(f->share) ? 0 : f->share * f->share / pow((double)tries_of(try), 2);
	/* The interval will be narrower by the experiments under way. */
	return (s->high - s->low) * fmax(s->high, 0) * (try->pending ? sqrt(n / after) : 1);
}

/* The candidate with the greatest benefit of another experiment. */
static struct st_blow_try *
best_of(const struct candidates *c)
{
	struct st_blow_try *best = NULL;
	double most = -INFINITY;
	for (size_t i = 0; i < c->list.n; i++) {
		const double worth = worth_of(c->list.v[i]);
		if (!best || worth > most) {
			best = c->list.v[i];
			most = worth;
		}
	}
	return best;
}

/* The speed-up of which most is expected, of several the one that was tried least, and of these the
 * greatest: so a function begins with that of 100 %, which no other one of it exceeds. */
static size_t
most_worth(const struct st_blow_tries *t, const struct st_blow_try *try)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < try->noises.list.n; i++) {
		if (try->done[i] >= times_of(&t->plan))
			continue;
		const bool better = best == SIZE_MAX || try->worths[i] > try->worths[best];
		if (better ||
		    (!(try->worths[i] < try->worths[best]) && try->done[i] <= try->done[best]))
			best = i;
	}
	return best;
}

/* The function whose speed-ups decide most about the order, and of several the one that was tried
 * least. The results of pending experiments are not known, so they count as done. */
static struct st_blow_try *
most_decisive(const struct st_blow_tries *t, const struct candidates *c)
{
	struct st_blow_try *best = NULL;
	double most = 0;
	for (size_t i = 0; i < c->list.n; i++) {
		struct st_blow_try *try = c->list.v[i];
		const double worth = try->worths[most_worth(t, try)] / (double)(1 + try->pending);
		if (best && !(worth > most) && (worth < most || try->left <= best->left))
			continue;
		best = try;
		most = worth;
	}
	return best;
}

/* Speed-ups by the thesis take each function in turn, and so does the first one of each function.
 */
static struct st_blow_try *
least_tried(const struct candidates *c)
{
	struct st_blow_try *least = c->list.v[0];
	for (size_t i = 1; i < c->list.n; i++)
		if (c->list.v[i]->left > least->left)
			least = c->list.v[i];
	return least;
}

static struct st_blow_try *
pick_function(struct st_blow_tries *t, struct candidates *c, uint64_t *random)
{
	if (t->plan.b->causal && is_tried(c->list.v[0]))
		return most_decisive(t, c);
	if (t->plan.b->causal || (t->plan.b->speedup && t->plan.pick == ST_BLOW_PICK_BEST))
		return least_tried(c);
	if (t->plan.pick == ST_BLOW_PICK_WEIGHTED) {
		qsort(c->list.v, c->list.n, sizeof *c->list.v, fitness_order);
		return c->list.v[st_blow_weighted(random, c->list.n)];
	}
	return is_tried(c->list.v[0]) ? best_of(c) : c->list.v[0];
}

/* ---- the choice of the noise ---- */

/* The n-th of the experiments that were not made: all noises once, all noises twice, and so on. */
static struct st_blow_noise
nth_noise(const struct st_blow_try *try, size_t n)
{
	for (size_t round = 0;; round++)
		for (size_t i = 0; i < try->noises.list.n; i++)
			if (try->done[i] <= round && !n--)
				return try->noises.list.v[i];
}

/* The noise from which most is expected, of several the longest one, and of these the one that was
 * tried least: so a function begins with the longest noise of all. */
static struct st_blow_noise
best_noise(const struct st_blow_tries *t, const struct st_blow_try *try)
{
	size_t best = SIZE_MAX;
	double most = 0, longest = 0;
	for (size_t i = 0; i < try->noises.list.n; i++) {
		if (try->done[i] >= times_of(&t->plan))
			continue;
		const double ns = st_blow_tries_ns(t, try->noises.list.v[i]),
		             worth = st_blow_information(&try->finding, ns, t->plan.b->live);
		const bool as_long = best != SIZE_MAX && !(ns < longest) && !(ns > longest),
		           better = as_long ? try->done[i] < try->done[best] : ns > longest;
		if (best != SIZE_MAX && (worth < most || (!(worth > most) && !better)))
			continue;
		best = i;
		most = worth;
		longest = ns;
	}
	return try->noises.list.v[best];
}

/* By information, if functions are chosen by their intervals. In a full analysis, which tries all
 * noise in any case, and where the function is chosen at random, chance decides after the first
 * one. A virtual speed-up, and a speed-up, is not longer noise in the function. */
static struct st_blow_noise
pick_noise(const struct st_blow_tries *t, const struct st_blow_try *try, uint64_t *random)
{
	const struct st_blow_plan *p = &t->plan;
	const bool informed =
	        p->pick == ST_BLOW_PICK_BEST && !p->full && !p->b->causal && !p->b->speedup;
	const uint64_t nth = st_random_below(random, try->left);
	if (p->b->causal)
		return try->noises.list.v[most_worth(t, try)];
	return is_tried(try) && !informed ? nth_noise(try, nth) : best_noise(t, try);
}

st_status
st_blow_tries_next(struct st_blow_tries *t, struct st_blow_run *next, bool *left)
{
	struct candidates c = {0};
	*left = t->left > 0;
	if (!*left)
		return ST_OK;
	st_status status = refresh_findings(t) || find_candidates(t, &c) ? ST_FAILED : ST_OK;
	if (!status) {
		/* Each experiment draws one number of the sequence, so a resumed campaign draws
		 * the same ones. */
		uint64_t random = st_random_next(&t->random);
		struct st_blow_try *try = pick_function(t, &c, &random);
		*next = (struct st_blow_run){.function = try->function,
		                             .noise = pick_noise(t, try, &random)};
		mark_done(t, try, next->noise);
		try->pending++;
	}
	free(c.list.v);
	return status;
}
