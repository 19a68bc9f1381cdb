/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which noise would tell most about the slope of a function. */
#include <math.h>

#include "blow/pick.h"

/*
 * The variance of a slope by least squares is inversely proportional to the sum of squared
 * deviations of x, to which a new point at x adds (x - mean)^2 n / (n + 1). The entropy of a normal
 * estimate falls by half of the logarithm of the ratio of the sums. Longer noise tells more, but
 * takes longer if the run's time depends on the function, and a campaign is limited by its time.
 */
double
st_blow_information(const struct st_blow_finding *f, double ns, bool windows)
{
	const double n = (double)f->points, x = 1 + ns / f->mean_ns, off = x - f->x_mean;
	if (f->slope.state || !(f->x_squares > 0) || !(f->mean_ns > 0))
		return INFINITY;
	const double nats = log1p(off * off * n / (n + 1) / f->x_squares) / 2,
	             time = windows ? 1 : 1 + fmax(f->slope.at, 0) * (x - 1);
	return nats / time;
}
