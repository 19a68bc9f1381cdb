/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `best-model-order`: compares the orders of growth of both best models. */
#include <math.h>

#include "check/by_models.h"

/* Perun's limit: from this r^2 on, a difference of orders is a change. */
#define GOOD_FIT 0.9
/* An exponential grows faster than any power; its order is above that of the exponent 9. */
#define ORDER_EXPONENTIAL 11.0
#define ORDER_MOST_POWER 10.0

/* A smaller difference of exponents is no difference of orders: n log n looks like a power whose
 * exponent depends on the range of x. */
#define ORDER_LEAST 0.1

static bool
is_power_of_x(enum st_growth kind)
{
	return kind != ST_GROWTH_CONSTANT && kind != ST_GROWTH_LOGARITHMIC &&
	       kind != ST_GROWTH_EXPONENTIAL;
}

static double
order_of_exponent(double b)
{
	return fmin(fmax(b, -4) + 1, ORDER_MOST_POWER);
}

/* The order of growth as a number: constant 0, logarithmic 1, a power of x 1 more than its
 * exponent. A polynomial, and n log n, have the exponent that is fitted to these points, because
 * noise sometimes makes a square look like a cubic. */
static struct st_interval
order_of(const struct st_choice *c, enum st_growth kind)
{
	static const double orders[ST_GROWTH_COUNT] = {
	        [ST_GROWTH_LOGARITHMIC] = 1, [ST_GROWTH_LINEAR] = 2,
	        [ST_GROWTH_NLOGN] = 2.5,     [ST_GROWTH_QUADRATIC] = 3,
	        [ST_GROWTH_CUBIC] = 4,       [ST_GROWTH_EXPONENTIAL] = ORDER_EXPONENTIAL};
	const double order = orders[kind];
	struct st_interval b = c->exponent.b;
	if (!is_power_of_x(kind))
		return (struct st_interval){order, order, order};
	if (!c->exponent.known && kind != ST_GROWTH_POWER)
		return (struct st_interval){order, order, order};
	if (!c->exponent.known)
		b = st_regression_parameter(&c->models[kind], 1, c->level);
	return (struct st_interval){order_of_exponent(b.at),
	                            isnan(b.low) ? -INFINITY : order_of_exponent(b.low),
	                            isnan(b.high) ? INFINITY : order_of_exponent(b.high)};
}

/* The order of the best kind, in the interval of the orders of all plausible kinds. */
static struct st_interval
orders_of(const struct st_choice *c)
{
	struct st_interval all = order_of(c, c->best);
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		if (!(c->plausible & 1u << kind))
			continue;
		const struct st_interval one = order_of(c, kind);
		all.low = fmin(all.low, one.low);
		all.high = fmax(all.high, one.high);
	}
	return all;
}

/* The name of the kind; of a polynomial, by its exponent. */
static const char *
name_of_order(const struct st_choice *c)
{
	static const enum st_growth degrees[] = {ST_GROWTH_LINEAR, ST_GROWTH_QUADRATIC,
	                                         ST_GROWTH_CUBIC};
	if (!is_power_of_x(c->best) || c->best == ST_GROWTH_NLOGN || !c->exponent.known)
		return st_growth_name(c->best);
	for (int i = 0; i < 3; i++)
		if (fabs(c->exponent.b.at - (i + 1)) < ORDER_LEAST)
			return st_growth_name(degrees[i]);
	return st_growth_name(ST_GROWTH_POWER);
}

static st_status
compare_orders(struct st_finding *f, const struct st_check_models *m,
               const struct st_check_how *how)
{
	const struct st_regression *a = st_check_best(m, ST_A), *b = st_check_best(m, ST_B);
	const struct st_interval before = orders_of(&m->choices[ST_A]),
	                         now = orders_of(&m->choices[ST_B]);
	(void)how;
	f->from_model = name_of_order(&m->choices[ST_A]);
	f->to_model = name_of_order(&m->choices[ST_B]);
	f->type = "order";
	f->rate = (struct st_interval){now.at - before.at, now.low - before.high,
	                               now.high - before.low};
	f->relative = NAN;
	f->confidence = fmin(st_check_fit(a), st_check_fit(b));
	f->confidence_kind = "r^2";
	if ((f->rate.low <= 0 && f->rate.high >= 0) || fabs(f->rate.at) < ORDER_LEAST)
		f->kind = ST_FINDING_NO_CHANGE;
	else
		f->kind = f->confidence >= GOOD_FIT ? ST_FINDING_DEGRADATION
		                                    : ST_FINDING_MAYBE_DEGRADATION;
	if (f->rate.at < 0)
		f->kind = st_finding_mirror(f->kind);
	return ST_OK;
}

st_status
st_check_by_order(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_order, how, compare_orders);
}
