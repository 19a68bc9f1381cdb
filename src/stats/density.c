/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/density.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats/robust.h"

enum { CELLS = 1024, ROUNDS_MOST = 200, COMPONENTS_MOST = 80 };
static const double density_reach = 6; /* standard deviations beyond which a component is 0 */

/* Histogram of the values: cells of [0, 1], to which their range, widened by 10 % at both ends, is
 * scaled. */
struct density_cells {
	size_t n; /* cells with values */
	double total;
	double at[CELLS], count[CELLS];
};

struct density_mixture {
	size_t n;
	double del; /* the smoothing width */
	double weight[COMPONENTS_MOST], mean[COMPONENTS_MOST], variance[COMPONENTS_MOST];
};

static void
density_count(const double *v, size_t n, double low, double high, struct density_cells *c)
{
	double sum[CELLS] = {0}, count[CELLS] = {0};
	for (size_t i = 0; i < n; i++) {
		const double u = (v[i] - low) / (high - low);
		size_t cell = (size_t)(u * CELLS);
		if (cell >= CELLS)
			cell = CELLS - 1;
		sum[cell] += u;
		count[cell]++;
	}
	*c = (struct density_cells){.total = (double)n};
	for (size_t i = 0; i < CELLS; i++)
		if (count[i] > 0) {
			c->at[c->n] = sum[i] / count[i];
			c->count[c->n++] = count[i];
		}
}

static void
density_start(struct density_mixture *m, const double *sorted, size_t n, double low, double high)
{
	size_t g = (size_t)ceil(cbrt((double)n)) + 20;
	if (g > n && g > 20)
		g -= 20;
	m->n = g < COMPONENTS_MOST ? g : COMPONENTS_MOST;
	m->del = 0.2 / pow((double)n, 0.2);
	for (size_t i = 0; i < m->n; i++) {
		const double q = ((double)i + 0.5) / (double)m->n;
		m->weight[i] = 1 / (double)m->n;
		m->mean[i] = (st_sorted_quantile(sorted, n, q) - low) / (high - low);
		m->variance[i] = m->del * m->del / 2;
	}
}

/* Sums of a component over all cells. */
struct density_sums {
	double p, py, pyy;
};

/* Factors of the components that are constant during a round. */
struct density_factors {
	double scale[COMPONENTS_MOST];   /* weight over sqrt(2 pi variance) */
	double penalty[COMPONENTS_MOST]; /* of smoothing */
	double reach[COMPONENTS_MOST];   /* square of the distance beyond which it is 0 */
};

static void
density_prepare(const struct density_mixture *m, struct density_factors *f)
{
	for (size_t i = 0; i < m->n; i++) {
		const double s = m->variance[i];
		f->scale[i] = m->weight[i] / sqrt(2 * M_PI * s);
		f->penalty[i] = exp(-m->del * m->del / (2 * s));
		f->reach[i] = m->weight[i] > 0 ? density_reach * density_reach * s : -1;
	}
}

/* Distributes the count of a cell over the components. Returns the density there; *curvature is an
 * estimate of its second derivative. */
static double
density_share(const struct density_mixture *m, const struct density_factors *f, double y,
              double count, struct density_sums *sums, double *curvature)
{
	double likelihood[COMPONENTS_MOST];
	double density = 0, total = 0, bend = 0;
	for (size_t i = 0; i < m->n; i++) {
		const double d = y - m->mean[i], s = m->variance[i];
		likelihood[i] = 0;
		if (d * d > f->reach[i])
			continue;
		likelihood[i] = f->scale[i] * exp(-d * d / (2 * s));
		density += likelihood[i];
		total += likelihood[i] * f->penalty[i];
		bend += likelihood[i] * (d / s) * (d / s);
	}
	for (size_t i = 0; i < m->n && total > 0; i++) {
		const double p = count * likelihood[i] * f->penalty[i] / total;
		sums[i].p += p;
		sums[i].py += p * y;
		sums[i].pyy += p * y * y;
	}
	*curvature = density > 0 ? bend / density : 0;
	return density;
}

/* Runs a round and returns the sum of the logarithms of the density. */
static double
density_round(struct density_mixture *m, const struct density_cells *c)
{
	struct density_sums sums[COMPONENTS_MOST] = {0};
	struct density_factors factors;
	double entropy = 0, curvature = 0;
	density_prepare(m, &factors);
	for (size_t j = 0; j < c->n; j++) {
		double bend;
		const double density =
		        density_share(m, &factors, c->at[j], c->count[j], sums, &bend);
		entropy += c->count[j] * log(density > 0 ? density : 1e-300);
		curvature += c->count[j] * bend;
	}
	for (size_t i = 0; i < m->n; i++) {
		m->weight[i] = sums[i].p / c->total;
		if (sums[i].p <= 0)
			continue;
		m->mean[i] = sums[i].py / sums[i].p;
		const double spread = sums[i].pyy / sums[i].p - m->mean[i] * m->mean[i];
		m->variance[i] = (spread > 0 ? spread : 0) + m->del * m->del;
	}
	curvature /= c->total;
	if (curvature > 0)
		m->del = 1 / cbrt(4 * c->total * sqrt(4 * M_PI) * curvature);
	return entropy;
}

static void
density_write(const struct density_mixture *m, double range, double *at)
{
	double sum = 0;
	for (size_t k = 0; k < ST_DENSITY_POINTS; k++)
		at[k] = 0;
	for (size_t i = 0; i < m->n; i++) {
		const double reach = 8 * sqrt(m->variance[i]), last = ST_DENSITY_POINTS - 1;
		if (m->weight[i] <= 0)
			continue;
		const double scale = m->weight[i] / sqrt(m->variance[i]);
		const double from = fmax(0, floor((m->mean[i] - reach) * last)),
		             to = fmin(last, ceil((m->mean[i] + reach) * last));
		for (size_t k = (size_t)from; from <= to && k <= (size_t)to; k++) {
			const double off = (double)k / last - m->mean[i];
			at[k] += scale * exp(-off * off / (2 * m->variance[i]));
		}
	}
	for (size_t k = 0; k < ST_DENSITY_POINTS; k++)
		sum += at[k];
	for (size_t k = 0; k < ST_DENSITY_POINTS && sum > 0; k++)
		at[k] *= (ST_DENSITY_POINTS - 1) / (sum * range);
}

st_status
st_density_find(const double *v, size_t n, struct st_density *d)
{
	struct density_cells *c = malloc(sizeof *c);
	struct density_mixture m;
	double *sorted = malloc(n * sizeof *sorted), before = 0;
	*d = (struct st_density){.at = calloc(ST_DENSITY_POINTS, sizeof *d->at)};
	const st_status status = c && sorted && d->at ? ST_OK : ST_FAILED;
	if (!status) {
		memcpy(sorted, v, n * sizeof *sorted);
		st_sort_values(sorted, n);
		double margin = (sorted[n - 1] - sorted[0]) / 10;
		if (!(margin > 0))
			margin = sorted[0] ? fabs(sorted[0]) / 10 : 1;
		d->low = sorted[0] - margin;
		d->high = sorted[n - 1] + margin;
		density_count(v, n, d->low, d->high, c);
		density_start(&m, sorted, n, d->low, d->high);
		for (int round = 0; round < ROUNDS_MOST; round++) {
			const double entropy = density_round(&m, c);
			if (round && fabs(entropy - before) < 1e-5 * fabs(entropy))
				break;
			before = entropy;
		}
		density_write(&m, d->high - d->low, d->at);
	}
	free(sorted);
	free(c);
	return status;
}

void
st_density_free(struct st_density *d)
{
	free(d->at);
	*d = (struct st_density){0};
}
