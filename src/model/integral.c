/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Areas under regressions. */
#include <math.h>

#include "model/regression.h"

/* An antiderivative at x of the kinds that are linear in their parameters. */
static double
antiderivative(const struct st_regression *r, double x)
{
	const double *b = r->b;
	switch (r->kind) {
	case ST_GROWTH_LOGARITHMIC:
		return b[0] * x + b[1] * (x * log(x) - x);
	case ST_GROWTH_NLOGN:
		return b[0] * x + b[1] * x * x * (log(x) / 2 - 0.25);
	default:
		return x * (b[0] + x * (b[1] / 2 + x * (b[2] / 3 + x * b[3] / 4)));
	}
}

/* The integral of exp(g t) over t from 0 to `length`; also where g is almost 0. */
static double
area_of_growth(double g, double length)
{
	return fabs(g * length) < 1e-12 ? length : expm1(g * length) / g;
}

double
st_regression_integral(const struct st_regression *r, double low, double high)
{
	if (!(low <= high) || (st_growth_needs_positive(r->kind) && !(low > 0)))
		return NAN;
	switch (r->kind) {
	case ST_GROWTH_EXPONENTIAL:
		return st_regression_at(r, low) * area_of_growth(r->a[1], high - low);
	case ST_GROWTH_POWER: /* x = low exp(t) */
		return st_regression_at(r, low) * low *
		       area_of_growth(r->a[1] + 1, log(high / low));
	default:
		return antiderivative(r, high) - antiderivative(r, low);
	}
}
