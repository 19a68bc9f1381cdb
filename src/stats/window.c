/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/window.h"

#include <math.h>

/* a0 - a1 cos t + a2 cos 2t - a3 cos 3t, t from 0 to 2 pi. */
static double
cosines(double t, double a0, double a1, double a2, double a3)
{
	return a0 - a1 * cos(t) + a2 * cos(2 * t) - a3 * cos(3 * t);
}

static double
parzen_at(double from_middle, double half)
{
	const double u = fabs(from_middle) / half;
	return fabs(from_middle) <= (2 * half - 1) / 4 ? 1 - 6 * u * u + 6 * u * u * u
	                                               : 2 * pow(1 - u, 3);
}

static double
bohman_at(double u)
{
	return u >= 1 ? 0 : (1 - u) * cos(M_PI * u) + sin(M_PI * u) / M_PI;
}

double
st_window_at(enum st_window window, size_t i, size_t m)
{
	if (m < 2)
		return 1;
	const double last = (double)(m - 1), at = (double)i / last; /* 0 to 1 */
	const double from_middle = (double)i - last / 2, u = fabs(2 * at - 1), t = 2 * M_PI * at;
	switch (window) {
	case ST_WINDOW_TRIANG:
		return 1 - fabs(from_middle) / ((double)(m + m % 2) / 2);
	case ST_WINDOW_BLACKMAN:
		return cosines(t, 0.42, 0.5, 0.08, 0);
	case ST_WINDOW_HAMMING:
		return cosines(t, 0.54, 0.46, 0, 0);
	case ST_WINDOW_BARTLETT:
		return 1 - u;
	case ST_WINDOW_PARZEN:
		return parzen_at(from_middle, (double)m / 2);
	case ST_WINDOW_BOHMAN:
		return bohman_at(u);
	case ST_WINDOW_BLACKMANHARRIS:
		return cosines(t, 0.35875, 0.48829, 0.14128, 0.01168);
	case ST_WINDOW_NUTTALL:
		return cosines(t, 0.3635819, 0.4891775, 0.1365995, 0.0106411);
	case ST_WINDOW_BARTHANN:
		return 0.62 - 0.48 * fabs(at - 0.5) + 0.38 * cos(2 * M_PI * (at - 0.5));
	default:
		return 1;
	}
}
