/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exponent of growth. For each exponent the best factor (and offset) is known in closed form,
 * so that what is left is a function of the exponent alone: its least is looked for, and the
 * interval is where it is not significantly greater (profile likelihood: Bates and Watts, Nonlinear
 * Regression Analysis and Its Applications, section 6.1).
 */
#include <math.h>
#include <stdlib.h>

#include "model/choice.h"
#include "stats/least_squares.h"

#define LOWEST (-4.0)
#define HIGHEST 12.0
enum { GRID = 64, HALVINGS = 50 };

struct profile {
	double *u, *y, *w; /* ln x less the greatest; y; weights */
	double *z;         /* x^b of the last exponent */
	size_t n;
	bool has_offset;
	double factor, offset; /* of the last exponent */
};

static st_status
take_profile_points(struct profile *p, const struct st_points *points)
{
	double most = -INFINITY;
	p->u = malloc((points->n + 1) * sizeof *p->u);
	p->y = malloc((points->n + 1) * sizeof *p->y);
	p->w = malloc((points->n + 1) * sizeof *p->w);
	p->z = malloc((points->n + 1) * sizeof *p->z);
	if (!p->u || !p->y || !p->w || !p->z)
		return ST_FAILED;
	for (size_t i = 0; i < points->n; i++)
		if (points->x[i] > 0) {
			p->u[p->n] = log(points->x[i]);
			p->y[p->n] = points->y[i];
			p->w[p->n] = points->weights ? points->weights[i] : 1;
			most = fmax(most, p->u[p->n++]);
		}
	for (size_t i = 0; i < p->n; i++)
		p->u[i] -= most;
	return ST_OK;
}

/* The squares that remain of y with x^b. */
static double
squares_with(struct profile *p, double b)
{
	double n = 0, sum_z = 0, sum_y = 0, zz = 0, zy = 0, sse = 0;
	for (size_t i = 0; i < p->n; i++) {
		const double z = p->z[i] = exp(b * p->u[i]), w = p->w[i];
		n += w;
		sum_z += w * z;
		sum_y += w * p->y[i];
		zz += w * z * z;
		zy += w * z * p->y[i];
	}
	const double centre = p->has_offset ? sum_z / n : 0;
	p->factor = (zy - centre * sum_y) / (zz - centre * sum_z);
	p->offset = p->has_offset ? sum_y / n - p->factor * centre : 0;
	for (size_t i = 0; i < p->n; i++) {
		const double residual = p->y[i] - p->offset - p->factor * p->z[i];
		sse += p->w[i] * residual * residual;
	}
	return isfinite(sse) ? sse : INFINITY;
}

/* The golden section between two exponents that have the least between them. */
static double
least_between(struct profile *p, double low, double high)
{
	const double golden = 0.618033988749895;
	double a = high - golden * (high - low), b = low + golden * (high - low);
	double of_a = squares_with(p, a), of_b = squares_with(p, b);
	for (int i = 0; i < HALVINGS && high - low > 1e-8; i++)
		if (of_a <= of_b) {
			high = b;
			b = a;
			of_b = of_a;
			a = high - golden * (high - low);
			of_a = squares_with(p, a);
		} else {
			low = a;
			a = b;
			of_a = of_b;
			b = low + golden * (high - low);
			of_b = squares_with(p, b);
		}
	return (low + high) / 2;
}

static double
grid_exponent(int i)
{
	return LOWEST + (HIGHEST - LOWEST) * i / GRID + 1e-3; /* 0 is no exponent with an offset */
}

static double
find_least_exponent(struct profile *p)
{
	double least = INFINITY;
	int best = 1;
	for (int i = 1; i < GRID; i++) {
		const double now = squares_with(p, grid_exponent(i));
		if (now < least) {
			least = now;
			best = i;
		}
	}
	return least_between(p, grid_exponent(best - 1), grid_exponent(best + 1));
}

/* From the best exponent towards `end`, where the squares exceed the limit; NAN: nowhere. */
static double
find_exponent_end(struct profile *p, double best, double end, double limit)
{
	double inside = best, outside = best, step = (end - best) / 256;
	while (squares_with(p, outside) <= limit) {
		inside = outside;
		if (outside == end)
			return NAN;
		outside += step;
		step *= 2;
		if ((step > 0) == (outside > end))
			outside = end;
	}
	for (int i = 0; i < HALVINGS && fabs(outside - inside) > 1e-7; i++) {
		const double middle = (inside + outside) / 2;
		if (squares_with(p, middle) <= limit)
			inside = middle;
		else
			outside = middle;
	}
	return (inside + outside) / 2;
}

static bool
enough_differ(const struct profile *p, size_t parameters)
{
	double seen[4];
	size_t n = 0;
	for (size_t i = 0; i < p->n && n <= parameters; i++) {
		size_t k = 0;
		while (k < n && seen[k] != p->u[i])
			k++;
		if (k == n && n < sizeof seen / sizeof *seen)
			seen[n++] = p->u[i];
	}
	return n >= parameters && p->n > parameters;
}

static void
measure_exponent(struct profile *p, double level, struct st_exponent *out)
{
	const double df = (double)(p->n - (p->has_offset ? 3 : 2)), t = st_student(level, df);
	const double best = find_least_exponent(p), least = squares_with(p, best);
	*out = (struct st_exponent){.b = {best, NAN, NAN},
	                            .known = true,
	                            .has_offset = p->has_offset,
	                            .offset = p->offset};
	const double limit = least * (1 + t * t / df);
	out->b.low = find_exponent_end(p, best, LOWEST, limit);
	out->b.high = find_exponent_end(p, best, HIGHEST, limit);
}

st_status
st_exponent_find(const struct st_points *points, bool with_offset, double level,
                 struct st_exponent *out, struct st_error *e)
{
	struct profile p = {.has_offset = with_offset};
	int status = take_profile_points(&p, points);
	if (status)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the exponent");
	else if (!enough_differ(&p, with_offset ? 3 : 2))
		status = st_fail(e, ST_EXIT_FAILED,
		                 "too few points with x > 0, or too few of their x differ, for an "
		                 "exponent");
	else
		measure_exponent(&p, level, out);
	free(p.u);
	free(p.y);
	free(p.w);
	free(p.z);
	return status;
}
