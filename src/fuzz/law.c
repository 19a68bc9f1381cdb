/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "fuzz/family.h"
#include "stats/least_squares.h"

/* The exponent of n log n over the measured sizes is less than this. */
static const double least_exponent = 1.3;
/* An exponential has this many times less squares of relative residuals than a power. */
static const double clearly = 10;
static const double level = 0.95;
static const double late = 1.0 / 8, late_exponential = 1.0 / 2;
/* The increase for each repetition must grow by these factors: for a law that is more than linear,
 * and for an exponential, which a short part of a power resembles. */
static const double least_growth = 2, least_exponential_growth = 16;

const char *
st_law_form_name(const struct st_law *law)
{
	static const char *const names[] = {"unknown", "power", "exponential"};
	const bool linear = law->form == ST_LAW_POWER && law->of.high <= least_exponent;
	return linear ? "linear" : names[law->form];
}

/* A line through (x, ln y): its slope with an interval, and the squares of its residuals. */
struct line {
	double slope, se, squares;
};

static struct line
line_through(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	double slope = sxy / sxx;
	for (size_t i = 0; i < n; i++) {
		double r = y[i] - my - slope * (x[i] - mx);
		squares += r * r;
	}
	return (struct line){slope, sqrt(squares / (double)(n - 2) / sxx), squares};
}

/* The law is fitted to differences of work, which have no constant part: at small sizes that would
 * hide the law. */
static size_t
take_differences(const double *times, const double *work, size_t n, double *x, double *y,
                 double *steps)
{
	size_t kept = 0;
	for (size_t i = 1; i < n; i++) {
		double more = (work[i] - work[i - 1]) / (times[i] - times[i - 1]);
		if (more <= 0)
			continue;
		x[kept] = (times[i] + times[i - 1]) / 2;
		steps[kept] = times[i] - times[i - 1];
		y[kept++] = log(more);
	}
	return kept;
}

/* The points at sizes from that share of the largest on: the law of large inputs. */
static size_t
first_late(const double *x, size_t n, double share)
{
	size_t first = 0;
	while (n - first > ST_LAW_FEWEST_POINTS && x[first] < x[n - 1] * share)
		first++;
	return first;
}

/* Counts do not scatter; the points differ from a power because of its lower terms. Therefore
 * the exponent is that of the larger half of the sizes, and the interval includes the exponent to
 * which the same change from half to half leads. */
static struct st_interval
exponent_of(const struct line *all, double wide, const double *x, const double *y, size_t n)
{
	const size_t half = n / 2;
	const struct line low = line_through(x, y, half),
	                  high = line_through(x + half, y + half, n - half);
	const double ahead = 2 * high.slope - low.slope;
	return (struct st_interval){high.slope + 1,
	                            fmin(all->slope - wide * all->se, fmin(ahead, high.slope)) + 1,
	                            fmax(all->slope + wide * all->se, fmax(ahead, high.slope)) + 1};
}

/* ---- powers with a lower term ---- */

/* The increase for each repetition is a + b x^power, with relative residuals. */
struct offset {
	double power, squares;
};

/* The least squares of a and b for that power; neither is negative. */
static double
offset_squares(const double *x, const double *y, size_t n, double power)
{
	double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		const double u = exp(-y[i]), v = pow(x[i] / x[n - 1], power) * u;
		uu += u * u;
		uv += u * v;
		vv += v * v;
		u1 += u;
		v1 += v;
	}
	const double det = uu * vv - uv * uv;
	double a = det > 0 ? (u1 * vv - v1 * uv) / det : 0;
	a = a > 0 ? a : 0;
	const double b = fmax((v1 - a * uv) / vv, 0);
	for (size_t i = 0; i < n; i++) {
		const double r = (a + b * pow(x[i] / x[n - 1], power)) * exp(-y[i]) - 1;
		squares += r * r;
	}
	return squares;
}

/* The power with the least squares: in steps that become smaller. */
static struct offset
offset_through(const double *x, const double *y, size_t n)
{
	struct offset best = {1, offset_squares(x, y, n, 1)};
	double step = 0.2;
	for (int round = 0; round < 6; round++, step /= 4) {
		const double middle = best.power;
		const int steps = round ? 5 : 30; /* the first ones reach the power 7 */
		for (int i = -steps; i <= steps; i++) {
			const double power = middle + i * step;
			const double squares =
			        power > 0 ? offset_squares(x, y, n, power) : INFINITY;
			if (squares < best.squares)
				best = (struct offset){power, squares};
		}
	}
	return best;
}

/* Small members of a family show the lower terms of the law, so that the exponent of a power alone
 * is too small. It is replaced if a power with a constant describes the points clearly better. The
 * interval has the exponents of the first and the last two thirds of the sizes, and twice
 * their difference on both sides: there may be further terms. */
static void
take_offset(struct st_interval *of, double squares, const double *x, const double *y, size_t n)
{
	const size_t part = n - n / 3;
	if (part < ST_LAW_FEWEST_POINTS)
		return;
	const struct offset all = offset_through(x, y, n), low = offset_through(x, y, part),
	                    high = offset_through(x + n - part, y + n - part, part);
	const double least = fmin(all.power, fmin(low.power, high.power)) + 1,
	             most = fmax(all.power, fmax(low.power, high.power)) + 1,
	             beyond = 2 * (most - least);
	if (all.squares * clearly < squares)
		*of = (struct st_interval){all.power + 1, least - beyond, most + beyond};
}

/* For an exponential with slope c, the average increase over a step s is sinh(cs / 2) / (cs / 2)
 * times the increase in the middle of the step. The correction depends on the slope, so both are
 * computed repeatedly. */
static struct line
exponential_through(const double *x, const double *y, const double *steps, size_t n)
{
	enum { ROUNDS = 8, MOST = 128 };
	double middle[MOST];
	struct line line = line_through(x, y, n);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n; i++) {
			double u = line.slope * steps[i] / 2;
			middle[i] = y[i] - (fabs(u) > 1e-6 ? log(sinh(u) / u) : 0);
		}
		line = line_through(x, middle, n);
	}
	return line;
}

void
st_law_find(struct st_law *law, const double *times, const double *work, size_t n)
{
	enum { MOST = 128 };
	double x[MOST], y[MOST], logs[MOST], steps[MOST];
	*law = (struct st_law){.points = n};
	if (n < ST_LAW_FEWEST_POINTS || n > MOST)
		return;
	law->from = (size_t)times[0];
	law->to = (size_t)times[n - 1];
	size_t kept = take_differences(times, work, n, x, y, steps);
	if (kept < ST_LAW_FEWEST_POINTS - 1) {
		/* For most sizes, work does not grow. */
		law->form = work[n - 1] > work[0] * 1.5 ? ST_LAW_UNKNOWN : ST_LAW_POWER;
		return;
	}
	const size_t first = first_late(x, kept, late);
	for (size_t i = first; i < kept; i++)
		logs[i] = log(x[i]);
	struct line power = line_through(logs + first, y + first, kept - first),
	            exponential =
	                    exponential_through(x + first, y + first, steps + first, kept - first);
	const double wide = st_student(level, (double)(kept - first - 2));
	const double growth = exp(y[kept - 1] - y[first]);
	if (exponential.squares * clearly < power.squares && growth >= least_exponential_growth) {
		const size_t half = first_late(x, kept, late_exponential);
		exponential = exponential_through(x + half, y + half, steps + half, kept - half);
		const double wider = st_student(level, (double)(kept - half - 2));
		law->form = ST_LAW_EXPONENTIAL;
		law->of = (struct st_interval){exp(exponential.slope),
		                               exp(exponential.slope - wider * exponential.se),
		                               exp(exponential.slope + wider * exponential.se)};
		law->superlinear = true;
		return;
	}
	law->form = ST_LAW_POWER;
	law->of = exponent_of(&power, wide, logs + first, y + first, kept - first);
	law->superlinear = law->of.low > least_exponent && growth >= least_growth;
	if (growth >= least_growth)
		take_offset(&law->of, power.squares, x + first, y + first, kept - first);
	law->superlinear = law->superlinear && law->of.low > least_exponent;
}
