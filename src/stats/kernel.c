/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/kernel.h"

#include <math.h>
#include <stdbool.h>

#include "stats/robust.h"

static double
normal_density(double u)
{
	return exp(-u * u / 2) / sqrt(2 * M_PI);
}

double
st_kernel_at(enum st_kernel kernel, double u)
{
	const double far = fabs(u);
	switch (kernel) {
	case ST_KERNEL_EPANECHNIKOV:
		return far < 1 ? 0.75 * (1 - u * u) : 0;
	case ST_KERNEL_TRICUBE:
		return far < 1 ? 70.0 / 81 * pow(1 - far * far * far, 3) : 0;
	case ST_KERNEL_EPANECHNIKOV4: /* its second moment is 0 */
		return far < 1 ? (9 - 15 * u * u) / 8 : 0;
	case ST_KERNEL_NORMAL4:
		return (3 - u * u) / 2 * normal_density(u);
	default:
		return normal_density(u);
	}
}

static double
thumb_rule(const double *sorted, size_t n, double factor)
{
	const double sd = st_sd(sorted, n);
	const double iqr =
	        (st_sorted_quantile(sorted, n, 0.75) - st_sorted_quantile(sorted, n, 0.25)) / 1.349;
	return factor * (iqr > 0 ? fmin(sd, iqr) : sd) * pow((double)n, -0.2);
}

double
st_bandwidth_scott(const double *sorted, size_t n)
{
	return thumb_rule(sorted, n, 1.059);
}

double
st_bandwidth_silverman(const double *sorted, size_t n)
{
	return thumb_rule(sorted, n, 0.9);
}

double
st_density(enum st_kernel kernel, const double *v, size_t n, double bandwidth, double at)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += st_kernel_at(kernel, (at - v[i]) / bandwidth);
	return sum / ((double)n * bandwidth);
}

void
st_kernel_counts(enum st_kernel kernel, const double *x, size_t n, double bandwidth, double at,
                 double *w)
{
	for (size_t i = 0; i < n; i++)
		w[i] = st_kernel_at(kernel, (at - x[i]) / bandwidth);
}

void
st_loess_counts(const double *x, size_t n, double span, double at, double *w)
{
	size_t take = (size_t)floor(span * (double)n + 1e-5), low = 0;
	take = take < 1 ? 1 : take > n ? n : take;
	while (low + take < n && x[low + take] - at < at - x[low])
		low++;
	const double far = fmax(at - x[low], x[low + take - 1] - at);
	const double reach = far * (span > 1 ? span : 1);
	for (size_t i = 0; i < n; i++) {
		const double u = reach > 0 ? fabs(x[i] - at) / reach : x[i] == at ? 0 : 1;
		w[i] = u < 1 ? pow(1 - u * u * u, 3) : 0;
	}
}

/* The first column of the inverse of the 3 x 3 (or smaller) matrix of moments: Cramer's rule. */
static bool
invert_moments(const double m[5], unsigned degree, double first[3])
{
	const double a = m[2] * m[4] - m[3] * m[3], b = m[2] * m[3] - m[1] * m[4],
	             c = m[1] * m[3] - m[2] * m[2];
	const double determinant = degree == 0   ? m[0]
	                           : degree == 1 ? m[0] * m[2] - m[1] * m[1]
	                                         : m[0] * a + m[1] * b + m[2] * c;
	const double size = degree == 0 ? 1 : degree == 1 ? m[0] * m[2] : m[0] * m[2] * m[4];
	if (!(fabs(determinant) > 1e-12 * fabs(size)))
		return false;
	first[0] = degree == 0   ? 1 / determinant
	           : degree == 1 ? m[2] / determinant
	                         : a / determinant;
	first[1] = degree == 0 ? 0 : degree == 1 ? -m[1] / determinant : b / determinant;
	first[2] = degree == 2 ? c / determinant : 0;
	return true;
}

st_status
st_local_weights(const double *x, size_t n, double at, unsigned degree, double *w)
{
	double m[5] = {0}, first[3], scale = 0;
	for (size_t i = 0; i < n; i++)
		if (w[i] != 0)
			scale = fmax(scale, fabs(x[i] - at));
	scale = scale > 0 ? scale : 1;
	for (size_t i = 0; i < n; i++) {
		double part = w[i];
		for (int k = 0; k < 5 && part != 0; k++) {
			m[k] += part;
			part *= (x[i] - at) / scale;
		}
	}
	while (!invert_moments(m, degree, first)) /* too few x count for a line there */
		if (!degree--)
			return ST_FAILED;
	for (size_t i = 0; i < n; i++) {
		const double d = (x[i] - at) / scale;
		w[i] *= first[0] + d * (first[1] + d * first[2]);
	}
	return ST_OK;
}
