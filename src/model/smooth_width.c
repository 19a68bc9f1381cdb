/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Default widths of bins, windows and kernels. */
#include <math.h>
#include <stdlib.h>

#include "model/smooth.h"

/* A bandwidth's criterion; less is better. */
static double
criterion(struct st_smooth *m, double bandwidth)
{
	m->choice.bandwidth = bandwidth;
	st_smooth_judge(m);
	const double n = (double)m->n, degrees = m->degrees;
	if (m->with_value < m->n)
		return INFINITY;
	if (m->choice.bandwidth_rule != ST_BANDWIDTH_AICC)
		return m->tss > 0 ? 1 - m->r_square_cv : 0;
	return degrees < n - 2
	               ? log(fmax(m->sse / n, 1e-300)) + 1 + 2 * (degrees + 1) / (n - degrees - 2)
	               : INFINITY;
}

/* The least of a grid of ratios, then between its neighbours by the golden section of logarithms.
 */
static void
search_bandwidth(struct st_smooth *m)
{
	enum { STEPS = 24, REFINED = 16 };
	const double range = m->x_end - m->x_start, low = range / (double)m->n / 2;
	const double ratio = pow(4 * range / low, 1.0 / STEPS), golden = 0.618033988749895;
	double best = range, least = INFINITY;
	for (int i = 0; i <= STEPS; i++) {
		const double now = criterion(m, low * pow(ratio, i));
		if (now < least) {
			least = now;
			best = low * pow(ratio, i);
		}
	}
	double a = log(best / ratio), b = log(best * ratio);
	for (int i = 0; i < REFINED; i++) {
		const double p = b - golden * (b - a), q = a + golden * (b - a);
		if (criterion(m, exp(p)) <= criterion(m, exp(q)))
			b = q;
		else
			a = p;
	}
	const double middle = exp((a + b) / 2);
	m->choice.bandwidth = criterion(m, middle) <= least ? middle : best;
}

/* exp(-gamma d^2) is a normal kernel with the bandwidth 1 / sqrt(2 gamma). */
static void
search_gamma(struct st_smooth *m)
{
	double best = 0, least = INFINITY;
	for (int i = 1; i <= 10; i++) {
		const double bandwidth = 1 / sqrt(2 * i * 1e-5), now = criterion(m, bandwidth);
		if (now < least || !best) {
			least = now;
			best = bandwidth;
		}
	}
	m->choice.bandwidth = best;
}

/* Of at most MOST points, evenly chosen: a search takes the square of their number, 60 times. The
 * best width shrinks with the fifth root of the number. */
static void
search_thinned(struct st_smooth *m, void (*search)(struct st_smooth *m))
{
	enum { MOST = 500 };
	const size_t n = m->n, stride = (n + MOST - 1) / MOST;
	struct st_smooth thin = *m;
	if (stride == 1) {
		search(m);
		return;
	}
	thin.n = 0;
	thin.x = malloc(MOST * sizeof *thin.x);
	thin.y = malloc(MOST * sizeof *thin.y);
	for (size_t i = 0; thin.x && thin.y && i < n; i += stride) {
		thin.x[thin.n] = m->x[i];
		thin.y[thin.n++] = m->y[i];
	}
	if (thin.n) {
		thin.x_end = thin.x[thin.n - 1];
		search(&thin);
		m->choice.bandwidth = thin.choice.bandwidth * pow((double)thin.n / (double)n, 0.2);
	} else {
		m->choice.bandwidth = st_bandwidth_scott(m->x, n);
	}
	free(thin.x);
	free(thin.y);
}

static void
find_bandwidth(struct st_smooth *m)
{
	switch (m->choice.bandwidth_rule) {
	case ST_BANDWIDTH_SCOTT:
		m->choice.bandwidth = st_bandwidth_scott(m->x, m->n);
		break;
	case ST_BANDWIDTH_SILVERMAN:
		m->choice.bandwidth = st_bandwidth_silverman(m->x, m->n);
		break;
	case ST_BANDWIDTH_GAMMA:
		search_thinned(m, search_gamma);
		break;
	default:
		search_thinned(m, search_bandwidth);
	}
}

/* Perun's: from a twentieth of the points down, until the curve explains 88 % of the variance. */
static void
find_window(struct st_smooth *m)
{
	const double enough = 0.88, speed = 0.15;
	double width = fmax(1, floor(0.05 * (double)m->n));
	for (;;) {
		m->choice.window = (size_t)fmax(1, round(width));
		st_smooth_judge(m);
		if (m->choice.window == 1 || !(m->r_square < enough))
			return;
		width -= fmax(1, speed * (width - 1) * (enough - m->r_square));
	}
}

static void
find_moving_width(struct st_smooth *m)
{
	struct st_smooth_choice *c = &m->choice;
	const size_t asked = c->min_points;
	c->min_points = asked ? asked : 1;
	if (!c->window)
		find_window(m);
	c->window = c->window < m->n ? c->window : m->n;
	if (!asked && c->trailing && c->average != ST_AVERAGE_EXPONENTIAL)
		c->min_points = c->window;
	if (c->average == ST_AVERAGE_EXPONENTIAL && !(c->alpha > 0))
		c->alpha = 2 / ((double)c->window + 1);
}

void
st_smooth_find_width(struct st_smooth *m)
{
	struct st_smooth_choice *c = &m->choice;
	switch (c->method) {
	case ST_SMOOTH_REGRESSOGRAM:
		if (!c->bins)
			c->bins = st_bins(c->bin_rule, m->x, m->n);
		break;
	case ST_SMOOTH_MOVING:
		find_moving_width(m);
		break;
	case ST_SMOOTH_KERNEL: /* lines with weights below 0 go wrong at the ends */
		if (!c->degree_is_set)
			c->degree = c->kernel != ST_KERNEL_EPANECHNIKOV4 &&
			            c->kernel != ST_KERNEL_NORMAL4;
		if (!(c->bandwidth > 0))
			find_bandwidth(m);
		break;
	default:
		c->degree = c->degree_is_set ? c->degree : 1;
		c->span = c->span > 0 ? c->span : 0.75;
	}
}
