/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- functions ---- */

static bool
is_same_function(const struct st_blow_function *f, const struct st_blow_function *g)
{
	return !strcmp(f->raw_name, g->raw_name) &&
	       !strcmp(st_base_name(f->image), st_base_name(g->image));
}

/* The chosen function of b that is the same; UINT32_MAX: there is none. */
static uint32_t
same_function_in(const struct st_blow *b, const struct st_blow_function *f)
{
	for (uint32_t i = 0; i < b->functions.n; i++)
		if (b->functions.v[i].chosen && is_same_function(&b->functions.v[i], f))
			return i;
	return UINT32_MAX;
}

const char *
st_blow_effect_name(const struct st_blow *b)
{
	return b->causal ? "gain" : b->speedup ? "fitness" : "slope";
}

static st_status
effect_of(const struct st_blow *b, uint32_t function, struct st_blow_effect *out)
{
	struct st_blow_finding f;
	struct st_blow_gain g;
	if (b->causal) {
		if (st_blow_find_gain(b, st_blow_point_at(b, 0), function, 100, &g))
			return ST_FAILED;
		*out = (struct st_blow_effect){g.at, g.low, g.high, 0};
		return ST_OK;
	}
	if (st_blow_find(b, function, &f))
		return ST_FAILED;
	if (b->speedup) {
		*out = (struct st_blow_effect){f.experiments ? f.fitness : NAN, NAN, NAN, 0};
		return ST_OK;
	}
	*out = (struct st_blow_effect){f.slope.at, f.slope.low, f.slope.high, 0};
	return ST_OK;
}

static st_status
pair_up(const struct st_blow *a, const struct st_blow *b, struct st_blow_comparison *out)
{
	for (uint32_t i = 0; i < a->functions.n; i++) {
		const struct st_blow_function *f = &a->functions.v[i];
		struct st_blow_pair pair = {.function = i};
		const uint32_t other = f->chosen ? same_function_in(b, f) : UINT32_MAX;
		out->alone[0] += f->chosen && other == UINT32_MAX;
		if (other == UINT32_MAX)
			continue;
		if (effect_of(a, i, &pair.effects[0]) || effect_of(b, other, &pair.effects[1]))
			return ST_FAILED;
		if (isnan(pair.effects[0].at) || isnan(pair.effects[1].at)) {
			out->unmeasured++;
			continue;
		}
		struct st_blow_pair *slot = ST_PUSH(&out->pairs);
		if (!slot)
			return ST_FAILED;
		*slot = pair;
	}
	for (size_t i = 0; i < b->functions.n; i++)
		out->alone[1] += b->functions.v[i].chosen &&
		                 same_function_in(a, &b->functions.v[i]) == UINT32_MAX;
	return ST_OK;
}

/* ---- ranks ---- */

static void
rank_pairs(struct st_blow_comparison *c, int campaign)
{
	for (size_t i = 0; i < c->pairs.n; i++) {
		struct st_blow_effect *effect = &c->pairs.v[i].effects[campaign];
		size_t greater = 0, equal = 0;
		for (size_t k = 0; k < c->pairs.n; k++) {
			const double other = c->pairs.v[k].effects[campaign].at;
			greater += other > effect->at;
			equal += !(other > effect->at) && !(other < effect->at);
		}
		effect->rank = (double)greater + ((double)equal + 1) / 2;
	}
}

static int
rank_order(const void *a, const void *b)
{
	const struct st_blow_pair *x = a, *y = b;
	const double p = x->effects[0].rank, q = y->effects[0].rank;
	if (p < q || p > q)
		return p < q ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Spearman's coefficient is Pearson's of the ranks. Its error is that of Bonett and Wright (2000),
 * on the scale of Fisher's transformation. */
static void
correlate_ranks(struct st_blow_comparison *c)
{
	enum { LEAST = 4 };
	const double n = (double)c->pairs.n, mean = (n + 1) / 2, two_sided = 1.959963984540054;
	double squares[2] = {0, 0}, products = 0;
	for (size_t i = 0; i < c->pairs.n; i++) {
		const struct st_blow_effect *e = c->pairs.v[i].effects;
		const double x = e[0].rank - mean, y = e[1].rank - mean;
		squares[0] += x * x;
		squares[1] += y * y;
		products += x * y;
	}
	c->correlation = c->low = c->high = NAN;
	if (!(squares[0] > 0) || !(squares[1] > 0))
		return;
	const double r = products / sqrt(squares[0] * squares[1]);
	c->correlation = fmin(fmax(r, -1), 1);
	if (c->pairs.n < LEAST || fabs(r) > 1 - 1e-12)
		return;
	const double half = two_sided * sqrt((1 + r * r / 2) / (n - 3));
	c->low = tanh(atanh(r) - half);
	c->high = tanh(atanh(r) + half);
}

st_status
st_blow_compare(const struct st_blow *a, const struct st_blow *b, struct st_blow_comparison *out,
                struct st_error *e)
{
	*out = (struct st_blow_comparison){.correlation = NAN, .low = NAN, .high = NAN};
	if (a->causal != b->causal || a->speedup != b->speedup)
		return st_fail(e, ST_EXIT_USAGE,
		               "--compare needs two campaigns of the same mode: the modes are %s "
		               "and %s",
		               st_blow_mode(a), st_blow_mode(b));
	const char *point = st_blow_point_name(a, st_blow_point_at(a, 0)),
	           *other = st_blow_point_name(b, st_blow_point_at(b, 0));
	if (a->causal && strcmp(point, other) != 0)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--compare needs two campaigns with the same progress point: one has "
		        "'%s', the other one '%s'",
		        point, other);
	if (pair_up(a, b, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the campaigns");
	rank_pairs(out, 0);
	rank_pairs(out, 1);
	if (out->pairs.n)
		qsort(out->pairs.v, out->pairs.n, sizeof *out->pairs.v, rank_order);
	correlate_ranks(out);
	return ST_OK;
}

bool
st_blow_differs(const struct st_blow_pair *pair)
{
	const struct st_blow_effect *e = pair->effects;
	return e[0].high < e[1].low || e[1].high < e[0].low;
}
