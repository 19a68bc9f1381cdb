/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/chance.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

/* RECORDS_MOST: of more records, no search is repeated. VALUES_MOST: a search is repeated fewer
 * times if it has more values of features to read, so that they take about a second.
 */
enum { ORDERS_LEAST = 19, ORDERS_MOST = 99, RECORDS_MOST = 300, VALUES_MOST = 40000 };
/* A result that lowers BIC by more than this is not due to chance, unless a single record has more
 * than this share of the squares. */
static const double beyond_doubt = 50, single_share = 0.25;

static void
chance_shuffle(double *v, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		const size_t k = st_random_below(state, i);
		const double other = v[k];
		v[k] = v[i - 1];
		v[i - 1] = other;
	}
}

/* Computes the residuals in units of their standard deviation, or the costs. */
static void
chance_residuals(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *around, double *out)
{
	for (size_t i = 0; i < rows.n; i++) {
		const uint32_t row = rows.v[i];
		const double sd = around ? st_ann_fit_sd_at(p, around, row) : 1;
		const double mean = around ? st_ann_fit_at(p, around, row) : 0;
		out[i] = sd > 0 ? (p->y[row] - mean) / sd : 0;
	}
}

/* Adds the residuals to the model again, each to the mean of another record. */
static void
chance_costs(const struct st_ann_problem *p, struct st_ann_rows rows,
             const struct st_ann_fit *around, const double *residuals, double *y)
{
	for (size_t i = 0; i < rows.n; i++) {
		const uint32_t row = rows.v[i];
		y[row] = around ? st_ann_fit_at(p, around, row) +
		                          residuals[i] * st_ann_fit_sd_at(p, around, row)
		                : residuals[i];
	}
}

/* Returns whether the result is so strong that no repetition needs to show it. */
static bool
chance_is_excluded(const double *residuals, size_t n, double strength)
{
	double mean = 0, squares = 0, most = 0;
	for (size_t i = 0; i < n; i++)
		mean += residuals[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		const double r = residuals[i] - mean;
		squares += r * r;
		most = fmax(most, r * r);
	}
	return strength > beyond_doubt && most < single_share * squares;
}

/* Returns the number of repetitions. A result of records without a law is the strongest one with
 * the probability 1 / (repetitions + 1). */
static size_t
chance_orders(const struct st_ann_problem *p, struct st_ann_rows rows)
{
	const size_t orders = VALUES_MOST / (rows.n * (p->records->features.n + 1));
	return orders < ORDERS_LEAST ? ORDERS_LEAST : orders > ORDERS_MOST ? ORDERS_MOST : orders;
}

st_status
st_ann_is_chance(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *around, st_ann_search search, double strength,
                 bool *chance)
{
	struct st_ann_problem own = *p;
	uint64_t state = p->options.seed;
	*chance = false;
	if (rows.n > RECORDS_MOST)
		return ST_OK;
	double *y = calloc(p->records->n + 1, sizeof *y),
	       *residuals = malloc((rows.n + 1) * sizeof *residuals);
	st_status status = y && residuals ? ST_OK : ST_FAILED;
	if (!status)
		chance_residuals(p, rows, around, residuals);
	own.y = y;
	const bool excluded = !status && chance_is_excluded(residuals, rows.n, strength);
	const size_t orders = excluded ? 0 : chance_orders(p, rows);
	for (size_t order = 0; order < orders && !*chance && !status; order++) {
		double other;
		chance_shuffle(residuals, rows.n, &state);
		chance_costs(p, rows, around, residuals, y);
		status = search(&own, rows, &other);
		*chance = !status && other >= strength;
	}
	free(y);
	free(residuals);
	return status;
}

/* Returns by how much a formula lowers the BIC of a constant. */
static double
chance_gain(const struct st_ann_problem *p, struct st_ann_rows rows, const struct st_ann_fit *f)
{
	return st_ann_bic((double)rows.n, f->tss, 1, st_ann_variance_floor(p, rows)) - f->bic;
}

static st_status
chance_search_formula(const struct st_ann_problem *p, struct st_ann_rows rows, double *strength)
{
	struct st_ann_formula formula;
	*strength = -INFINITY;
	if (st_ann_formulate(p, rows, &formula))
		return ST_FAILED;
	if (formula.best.n_terms)
		*strength = chance_gain(p, rows, &formula.best);
	return ST_OK;
}

st_status
st_ann_fit_is_chance(const struct st_ann_problem *p, struct st_ann_rows rows,
                     const struct st_ann_fit *f, bool *chance)
{
	const bool exact = f->rss / (double)f->n <= st_ann_variance_floor(p, rows);
	*chance = false;
	return f->n_terms && !exact ? st_ann_is_chance(p, rows, NULL, chance_search_formula,
	                                               chance_gain(p, rows, f), chance)
	                            : ST_OK;
}
