/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/smooth.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "stats/least_squares.h"

enum { FEWEST_POINTS = 3 };

static size_t
bin_of(const struct st_smooth *m, double x)
{
	const double at = (x - m->x_start) / (m->x_end - m->x_start) * (double)m->choice.bins;
	return at < (double)m->choice.bins ? (size_t)at : m->choice.bins - 1;
}

static st_status
regressogram_row(struct st_smooth *m, double x)
{
	const size_t bin = bin_of(m, x);
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		n += bin_of(m, m->x[i]) == bin;
	for (size_t i = 0; i < m->n; i++)
		m->row[i] = bin_of(m, m->x[i]) == bin ? 1 / (double)n : 0;
	return n ? ST_OK : ST_FAILED;
}

/* The window of point i: from, to (not included); and where its first point would be. */
static void
window_around(const struct st_smooth *m, size_t i, size_t *from, size_t *to, size_t *missing)
{
	const size_t w = m->choice.window, behind = m->choice.trailing ? 0 : (w - 1) / 2;
	const size_t before = w - 1 - behind;
	*missing = i < before ? before - i : 0;
	*from = i < before ? 0 : i - before;
	*to = i + behind + 1 < m->n ? i + behind + 1 : m->n;
}

static st_status
moving_row_of(struct st_smooth *m, size_t i, double share)
{
	size_t from, to, missing;
	double sum = 0;
	if (m->choice.average == ST_AVERAGE_EXPONENTIAL) { /* with adjusted weights */
		for (size_t k = 0; k <= i; k++)
			sum += pow(1 - m->choice.alpha, (double)(i - k));
		for (size_t k = 0; k <= i; k++)
			m->row[k] += share * pow(1 - m->choice.alpha, (double)(i - k)) / sum;
		return i + 1 >= m->choice.min_points ? ST_OK : ST_FAILED;
	}
	window_around(m, i, &from, &to, &missing);
	for (size_t k = from; k < to; k++)
		sum += st_window_at(m->choice.shape, k - from + missing, m->choice.window);
	for (size_t k = from; k < to && sum > 0; k++)
		m->row[k] += share / sum *
		             st_window_at(m->choice.shape, k - from + missing, m->choice.window);
	return to - from >= m->choice.min_points && sum > 0 ? ST_OK : ST_FAILED;
}

/* Between two points a line joins their values. */
static st_status
moving_row(struct st_smooth *m, double x)
{
	size_t i = 0;
	while (i + 1 < m->n && m->x[i + 1] <= x)
		i++;
	const double gap = i + 1 < m->n ? m->x[i + 1] - m->x[i] : 0;
	const double share = gap > 0 ? (x - m->x[i]) / gap : 0;
	for (size_t k = 0; k < m->n; k++)
		m->row[k] = 0;
	if (moving_row_of(m, i, 1 - share))
		return ST_FAILED;
	return share > 0 ? moving_row_of(m, i + 1, share) : ST_OK;
}

st_status
st_smooth_row(struct st_smooth *m, double x)
{
	if (!(x >= m->x_start && x <= m->x_end))
		return ST_FAILED;
	switch (m->choice.method) {
	case ST_SMOOTH_REGRESSOGRAM:
		return regressogram_row(m, x);
	case ST_SMOOTH_MOVING:
		return moving_row(m, x);
	case ST_SMOOTH_KERNEL:
		st_kernel_counts(m->choice.kernel, m->x, m->n, m->choice.bandwidth, x, m->row);
		break;
	default:
		st_loess_counts(m->x, m->n, m->choice.span, x, m->row);
	}
	return st_local_weights(m->x, m->n, x, m->choice.degree, m->row);
}

static bool
is_median(const struct st_smooth *m)
{
	return m->choice.average == ST_AVERAGE_MEDIAN &&
	       (m->choice.method == ST_SMOOTH_REGRESSOGRAM || m->choice.method == ST_SMOOTH_MOVING);
}

/* The value of the row in m->row. A median takes the points whose weight is not 0. */
static double
value_of_row(struct st_smooth *m)
{
	double sum = 0;
	size_t n = 0;
	if (!is_median(m)) {
		for (size_t i = 0; i < m->n; i++)
			sum += m->row[i] * m->y[i];
		return sum;
	}
	for (size_t i = 0; i < m->n; i++)
		if (m->row[i] != 0)
			m->row[n++] = m->y[i];
	return st_median(m->row, n);
}

/* Sums over the points: squared residuals of fits without the point, and traces of S and S'S. */
struct traces {
	double cv, of_s, of_ss;
};

/* The row of point i is that of its x, but for a moving average: several points may have one x. */
static st_status
row_of_point(struct st_smooth *m, size_t i)
{
	if (m->choice.method != ST_SMOOTH_MOVING)
		return st_smooth_row(m, m->x[i]);
	for (size_t k = 0; k < m->n; k++)
		m->row[k] = 0;
	return moving_row_of(m, i, 1);
}

static void
judge_point(struct st_smooth *m, size_t i, struct traces *t)
{
	m->fitted[i] = NAN;
	if (row_of_point(m, i))
		return;
	const double leverage = m->row[i];
	for (size_t k = 0; k < m->n; k++)
		t->of_ss += m->row[k] * m->row[k];
	t->of_s += leverage;
	m->fitted[i] = value_of_row(m);
	const double residual = m->y[i] - m->fitted[i], left = 1 - leverage;
	m->sse += residual * residual;
	t->cv += left > 1e-9 ? residual * residual / (left * left) : INFINITY;
	m->with_value++;
}

void
st_smooth_judge(struct st_smooth *m)
{
	struct traces t = {0};
	double mean = 0;
	size_t n = 0;
	m->sse = m->tss = 0;
	m->with_value = 0;
	for (size_t i = 0; i < m->n; i++) {
		judge_point(m, i, &t);
		if (isnan(m->fitted[i]))
			continue;
		const double distance = m->y[i] - mean;
		mean += distance / (double)++n;
		m->tss += distance * (m->y[i] - mean);
	}
	const bool median = is_median(m);
	m->degrees = median ? NAN : t.of_s;
	m->rest = median ? NAN : (double)n - 2 * t.of_s + t.of_ss;
	m->s = m->rest > 1e-9 ? sqrt(m->sse / m->rest) : NAN;
	m->r_square = m->tss > 0 ? 1 - m->sse / m->tss : NAN;
	m->r_square_cv = m->tss > 0 && !median ? 1 - t.cv / m->tss : NAN;
}

struct xy {
	double x, y;
	size_t at; /* in the order of the points, which those of one x keep */
};

static int
compare_x(const void *a, const void *b)
{
	const struct xy *p = a, *q = b;
	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

static st_status
order_points(struct st_smooth *m, const struct st_points *points)
{
	struct xy *v = malloc((points->n + 1) * sizeof *v);
	m->n = points->n;
	m->x = malloc((m->n + 1) * sizeof *m->x);
	m->y = malloc((m->n + 1) * sizeof *m->y);
	m->fitted = malloc((m->n + 1) * sizeof *m->fitted);
	m->row = malloc((m->n + 1) * sizeof *m->row);
	const bool complete = v && m->x && m->y && m->fitted && m->row;
	for (size_t i = 0; complete && i < m->n; i++)
		v[i] = (struct xy){points->x[i], points->y[i], i};
	if (complete)
		qsort(v, m->n, sizeof *v, compare_x);
	for (size_t i = 0; complete && i < m->n; i++) {
		m->x[i] = v[i].x;
		m->y[i] = v[i].y;
	}
	free(v);
	return complete ? ST_OK : ST_FAILED;
}

st_status
st_smooth_fit(const struct st_smooth_choice *choice, const struct st_points *points,
              struct st_smooth *m, struct st_error *e)
{
	*m = (struct st_smooth){.choice = *choice};
	if (points->n < FEWEST_POINTS)
		return st_fail(e, ST_EXIT_FAILED,
		               "a model needs at least %d points, and there are %zu", FEWEST_POINTS,
		               points->n);
	if (points->n > ST_SMOOTH_MOST)
		return st_fail(e, ST_EXIT_FAILED,
		               "--smooth takes at most %s points, and there are %s",
		               ST_NUMBER(ST_SMOOTH_MOST), ST_NUMBER(points->n));
	if (order_points(m, points))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the model");
	m->x_start = m->x[0];
	m->x_end = m->x[m->n - 1];
	if (!(m->x_end > m->x_start))
		return st_fail(e, ST_EXIT_FAILED,
		               "all points have one x, %g: nothing can follow from it", m->x_start);
	st_smooth_find_width(m);
	st_smooth_judge(m);
	return ST_OK;
}

void
st_smooth_free(struct st_smooth *m)
{
	free(m->x);
	free(m->y);
	free(m->fitted);
	free(m->row);
	*m = (struct st_smooth){0};
}

struct st_interval
st_smooth_band(struct st_smooth *m, double x, double level, bool prediction)
{
	double squares = 0;
	if (st_smooth_row(m, x))
		return (struct st_interval){NAN, NAN, NAN};
	for (size_t i = 0; i < m->n; i++)
		squares += m->row[i] * m->row[i];
	const double y = value_of_row(m);
	if (isnan(m->s) || is_median(m))
		return (struct st_interval){y, NAN, NAN};
	const double half = st_student(level, fmax(m->rest, 1)) * m->s * sqrt(squares + prediction);
	return (struct st_interval){y, y - half, y + half};
}
