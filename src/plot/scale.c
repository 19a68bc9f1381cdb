/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/scale.h"

#include <math.h>

/* The wanted number of steps between ticks. */
enum { SCALE_STEPS = 6 };

/* Returns 1, 2 or 5 times a power of 10, or, for a binary scale and steps of at least 1, a power of
 * two. */
static double
round_step(double range, unsigned how)
{
	const double rough = range / SCALE_STEPS;
	if (how & ST_SCALE_BINARY && rough >= 1)
		return exp2(ceil(log2(rough)));
	const double power = pow(10, floor(log10(rough)));
	const double part = rough / power;
	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void
scale_linear(struct st_scale *s, double least, double most, unsigned how)
{
	if (how & ST_SCALE_ZERO) {
		least = fmin(least, 0);
		most = fmax(most, 0);
	}
	if (!(most > least)) {
		const double around = fmax(fabs(least) / 10, 1e-9);
		const bool from_zero = how & ST_SCALE_ZERO && least >= 0;
		least -= from_zero ? 0 : around;
		most += from_zero ? 1 : around;
	}
	const double step = round_step(most - least, how);
	const double first = floor(least / step + 1e-9);
	const double last = fmax(ceil(most / step - 1e-9), first + 1);
	s->low = first * step;
	s->high = last * step;
	while (s->n_ticks < ST_SCALE_TICKS && first + (double)s->n_ticks <= last) {
		s->ticks[s->n_ticks] = (first + (double)s->n_ticks) * step;
		s->n_ticks++;
	}
}

static void
scale_logarithmic(struct st_scale *s, double least, double most)
{
	double first = floor(log10(least) + 1e-9), last = ceil(log10(most) - 1e-9);
	if (last <= first)
		last = first + 1;
	const double every = ceil((last - first) / (ST_SCALE_TICKS - 1));
	s->logarithmic = true;
	s->low = pow(10, first);
	s->high = pow(10, last);
	while (s->n_ticks < ST_SCALE_TICKS && first + (double)s->n_ticks * every <= last) {
		s->ticks[s->n_ticks] = pow(10, first + (double)s->n_ticks * every);
		s->n_ticks++;
	}
}

void
st_scale_make(struct st_scale *s, double least, double most, unsigned how, double from, double to)
{
	*s = (struct st_scale){.from = from, .to = to};
	if (!isfinite(least) || !isfinite(most))
		least = most = 0;
	if (how & ST_SCALE_LOGARITHMIC && least > 0)
		scale_logarithmic(s, least, most);
	else
		scale_linear(s, least, most, how);
}

double
st_scale_at(const struct st_scale *s, double value)
{
	const double share = s->logarithmic
	                             ? (value > 0 ? log(value / s->low) / log(s->high / s->low) : 0)
	                             : (value - s->low) / (s->high - s->low);
	return s->from + share * (s->to - s->from);
}
