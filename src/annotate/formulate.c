/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits classes of models, eliminates terms, and chooses the best model. */
#include "annotate/formulate.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/robust.h"

/* PER_COEFFICIENT: records that a coefficient needs: fewer are described by chance. */
enum { FEATURES_MOST = ST_ANN_FEATURES_MOST, PRODUCTS_FEATURES_MOST = 5, PER_COEFFICIENT = 3 };
static const double significance = 0.01, clearly_better = 10, default_min_r2 = 0.9;

static const unsigned ann_class_shapes[] = {
#define C(id, name, shapes) shapes,
        ST_ANN_CLASSES(C)
#undef C
};

/* All terms that models of these records may have, and columns with their values. */
struct ann_pool {
	const struct st_ann_problem *p;
	struct st_ann_rows rows;
	const struct st_ann_usable *usable;
	const double *weights; /* of the rows; NULL: all are 1 */
	struct st_ann_term *terms;
	double *scale; /* the values in the columns are divided by them */
	size_t n;
	struct st_columns columns;
	double origin; /* subtracted from y in the columns: a large offset would cost digits */
	double floor;
};

static void
ann_pool_free(struct ann_pool *pool)
{
	st_columns_free(&pool->columns);
	free(pool->terms);
	free(pool->scale);
}

static double
ann_term_scale(const struct ann_pool *pool, const struct st_ann_term *t)
{
	const struct st_ann_usable *u = pool->usable;
	double scale = fmax(fabs(st_ann_shape_at(t->shape_a, u->low[t->a])),
	                    fabs(st_ann_shape_at(t->shape_a, u->high[t->a])));
	if (t->b != ST_ANN_NO_FEATURE)
		scale *= fmax(fabs(st_ann_shape_at(t->shape_b, u->low[t->b])),
		              fabs(st_ann_shape_at(t->shape_b, u->high[t->b])));
	return scale > 0 && isfinite(scale) ? scale : 1;
}

/* Fills the columns with the values of the terms; column 0 is the intercept. */
static st_status
ann_pool_fill(struct ann_pool *pool)
{
	double *x = calloc(pool->n + 1, sizeof *x);
	if (!x || st_columns_begin(&pool->columns, pool->n + 1)) {
		free(x);
		return ST_FAILED;
	}
	for (size_t k = 0; k < pool->n; k++)
		pool->scale[k] = ann_term_scale(pool, &pool->terms[k]);
	x[0] = 1;
	pool->origin = pool->p->y[pool->rows.v[0]];
	for (size_t i = 0; i < pool->rows.n; i++) {
		const uint32_t row = pool->rows.v[i];
		for (size_t k = 0; k < pool->n; k++)
			x[k + 1] = st_ann_term_at(pool->p, &pool->terms[k], row) / pool->scale[k];
		st_columns_add(&pool->columns, x, pool->p->y[row] - pool->origin,
		               pool->weights ? pool->weights[i] : 1);
	}
	free(x);
	return ST_OK;
}

/* A model: the columns of the intercept and of some of the pool's terms. */
struct ann_subset {
	size_t n; /* with the intercept */
	size_t v[ST_LS_MOST];
};

static void
ann_drop(struct ann_subset *s, size_t at)
{
	memmove(&s->v[at], &s->v[at + 1], (s->n - at - 1) * sizeof *s->v);
	s->n--;
}

/* Returns whether the term is a factor of a product in the subset: such a main term is kept. */
static bool
ann_is_in_product(const struct ann_pool *pool, const struct ann_subset *s, size_t at)
{
	const struct st_ann_term *t = &pool->terms[s->v[at] - 1];
	if (t->b != ST_ANN_NO_FEATURE)
		return false;
	for (size_t i = 1; i < s->n; i++) {
		const struct st_ann_term *o = &pool->terms[s->v[i] - 1];
		if (o->b != ST_ANN_NO_FEATURE && ((o->a == t->a && o->shape_a == t->shape_a) ||
		                                  (o->b == t->a && o->shape_b == t->shape_a)))
			return true;
	}
	return false;
}

/* Returns the p-value of a coefficient. In exact data the standard error is rounding noise, so that
 * it has a lower limit. */
static double
ann_p_of(const struct ann_pool *pool, const struct st_ls *ls, size_t at)
{
	const double least = sqrt(pool->floor * ls->inverse[at][at]);
	const double se = ls->se[at] > least ? ls->se[at] : least;
	return 2 * gsl_cdf_tdist_Q(fabs(ls->b[at] / se), (double)(ls->n - ls->p));
}

/* Fits a subset and removes terms that are determined by the others. */
static st_status
ann_solve_subset(const struct ann_pool *pool, struct ann_subset *s, struct st_ls *ls)
{
	while (s->n > 1 &&
	       (s->n >= pool->rows.n || st_columns_solve(&pool->columns, s->v, s->n, ls, NULL)))
		s->n--;
	return s->n > 1 ? ST_OK : st_columns_solve(&pool->columns, s->v, 1, ls, NULL);
}

/* Removes the terms that are not significant, the worst first, and others while there are too few
 * records for the number of coefficients. keep: main terms of products are kept, and the number of
 * coefficients has no limit. */
static st_status
ann_eliminate(const struct ann_pool *pool, struct ann_subset *s, struct st_ls *ls, bool keep)
{
	for (;;) {
		size_t worst = 0;
		double most = 0;
		if (ann_solve_subset(pool, s, ls))
			return ST_FAILED;
		const bool many = !keep && s->n * PER_COEFFICIENT > pool->rows.n;
		const double level = many ? 0 : significance / (double)(s->n > 1 ? s->n - 1 : 1);
		for (size_t i = 1; i < s->n; i++) {
			if (keep && ann_is_in_product(pool, s, i))
				continue;
			const double p = ann_p_of(pool, ls, i);
			if (p >= level && p >= most) {
				most = p;
				worst = i;
			}
		}
		if (!worst)
			return ST_OK;
		ann_drop(s, worst);
	}
}

static double
ann_subset_bic(const struct ann_pool *pool, const struct st_ls *ls)
{
	const double n = (double)pool->rows.n;
	return st_ann_bic(n, ls->sse, (double)ls->p, pool->floor) -
	       (double)pool->columns.log_weights;
}

static void
ann_take_fit(const struct ann_pool *pool, const struct ann_subset *s, const struct st_ls *ls,
             struct st_ann_fit *out)
{
	*out = (struct st_ann_fit){.n = ls->n,
	                           .n_terms = s->n - 1,
	                           .rss = ls->sse,
	                           .tss = ls->tss,
	                           .s = ls->s,
	                           .r2 = ls->tss > 0 ? 1 - ls->sse / ls->tss : NAN,
	                           .bic = ann_subset_bic(pool, ls)};
	for (size_t i = 0; i < s->n; i++) {
		const double scale = i ? pool->scale[s->v[i] - 1] : 1;
		if (i)
			out->terms[i - 1] = pool->terms[s->v[i] - 1];
		out->b[i] = ls->b[i] / scale + (i ? 0 : pool->origin);
		out->se[i] = ls->se[i] / scale;
	}
}

/* In exact data, a coefficient that differs from a number of ten digits only by rounding becomes
 * that number. */
static void
ann_round_exact(struct st_ann_fit *f, double nothing, double floor)
{
	if (f->rss / (double)f->n > floor)
		return;
	f->s = 0;
	for (size_t i = 0; i <= f->n_terms; i++) {
		char text[40];
		snprintf(text, sizeof text, "%.10g", f->b[i]);
		const double rounded = strtod(text, NULL);
		if (fabs(f->b[i] - rounded) < 1e-13 * fabs(rounded))
			f->b[i] = rounded;
		if (i == 0 && fabs(f->b[i]) < nothing / 1000)
			f->b[i] = 0;
	}
}

/* Returns the lowest class that has all shapes of the terms. */
static enum st_ann_class
ann_class_of(const struct st_ann_fit *f, enum st_ann_class tried)
{
	unsigned shapes = 0;
	for (size_t i = 0; i < f->n_terms; i++) {
		shapes |= 1u << f->terms[i].shape_a;
		if (f->terms[i].b != ST_ANN_NO_FEATURE)
			shapes |= 1u << f->terms[i].shape_b;
	}
	for (enum st_ann_class c = 0; c < ST_ANN_CLASS_COUNT; c++)
		if (!(shapes & ~ann_class_shapes[c]))
			return c;
	return tried;
}

/* A model replaces a simpler one that it contains only if it is clearly better. If the simpler one
 * fits closely, it must leave less than half of its squares: otherwise a few records that deviate a
 * little would change the class. */
static bool
ann_replaces(const struct ann_pool *pool, const struct st_ann_fit *later,
             const struct st_ann_fit *earlier)
{
	const bool contains =
	        later->class > ST_ANN_CLASS_LINEAR && earlier->class <= ST_ANN_CLASS_LINEAR;
	if (contains && earlier->n_terms && 2 * later->rss > earlier->rss &&
	    st_ann_fits_closely(pool->p, pool->rows, earlier))
		return false;
	return later->bic < earlier->bic - (!earlier->n_terms || contains ? clearly_better : 0);
}

/* Returns the length of y's projection on a feature: the strength of the feature alone. */
static double
ann_says(const struct st_ann_problem *p, struct st_ann_rows rows, const struct st_ann_usable *u,
         uint16_t feature, double mean)
{
	const double *x = p->records->features.v[feature].v;
	const double low = u->low[feature], range = u->high[feature] - low, n = (double)rows.n;
	double sx = 0, sxx = 0, sxy = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const double d = (x[rows.v[i]] - low) / range;
		sx += d;
		sxx += d * d;
		sxy += d * (p->y[rows.v[i]] - mean);
	}
	return fabs(sxy) / sqrt(fmax(sxx - sx * sx / n, 1e-300));
}

size_t
st_ann_strongest(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_usable *u, size_t most, uint16_t *v)
{
	double says[FEATURES_MOST], mean = 0;
	size_t n = 0;
	for (size_t i = 0; i < rows.n && u->n > most; i++)
		mean += p->y[rows.v[i]] / (double)rows.n;
	for (size_t k = 0; k < u->n; k++) {
		if (u->n <= most) {
			v[n++] = u->v[k];
			continue;
		}
		const double own = ann_says(p, rows, u, u->v[k], mean);
		size_t at = n;
		for (; at > 0 && own > says[at - 1]; at--)
			if (at < most) {
				says[at] = says[at - 1];
				v[at] = v[at - 1];
			}
		if (at < most) {
			says[at] = own;
			v[at] = u->v[k];
			n += n < most;
		}
	}
	return n;
}

/* Returns whether a shape of a feature is defined, and a number, for all records. */
static bool
ann_has_shape(const struct st_ann_usable *u, uint16_t feature, enum st_ann_shape shape)
{
	const double low = u->low[feature], high = u->high[feature];
	const bool bends = st_ann_differs(low, high, ST_ANN_LEAST_DIFFERENCE_OF_POWERS);
	switch (shape) {
	case ST_ANN_LOG_X:
		return low > 0;
	case ST_ANN_SQRT_X:
		return low >= 0;
	case ST_ANN_X_LOG_X:
		return low >= 0 && bends;
	case ST_ANN_X_SQUARED:
	case ST_ANN_X_CUBED:
		return st_ann_has_powers(low, high) && bends;
	default:
		return true;
	}
}

/* Makes the main terms: all shapes of the chosen classes, of each feature for which they are
 * defined. */
static st_status
ann_main_terms(struct ann_pool *pool)
{
	uint16_t few[FEATURES_MOST];
	const size_t n = st_ann_strongest(pool->p, pool->rows, pool->usable, FEATURES_MOST, few);
	unsigned shapes = 0;
	for (enum st_ann_class c = 0; c < ST_ANN_CLASS_COUNT; c++)
		if (pool->p->options.classes & 1u << c)
			shapes |= ann_class_shapes[c];
	pool->terms = calloc(n * ST_ANN_SHAPE_COUNT + 1, sizeof *pool->terms);
	pool->scale = calloc(n * ST_ANN_SHAPE_COUNT + 1, sizeof *pool->scale);
	if (!pool->terms || !pool->scale)
		return ST_FAILED;
	/* Linear terms come first, so that the higher ones are removed from collinear columns. */
	for (unsigned s = 0; s < ST_ANN_SHAPE_COUNT; s++)
		for (size_t i = 0; i < n && shapes & 1u << s; i++) {
			if (!ann_has_shape(pool->usable, few[i], s))
				continue;
			pool->terms[pool->n++] =
			        (struct st_ann_term){few[i], ST_ANN_NO_FEATURE, (uint8_t)s, 0};
		}
	return ann_pool_fill(pool);
}

static st_status
ann_fit_class(const struct ann_pool *pool, enum st_ann_class c, struct ann_subset *s,
              struct st_ann_fit *out)
{
	struct st_ls ls;
	s->n = 1;
	s->v[0] = 0;
	for (size_t i = 0; i < pool->n && s->n < ST_LS_MOST; i++)
		if (ann_class_shapes[c] & 1u << pool->terms[i].shape_a)
			s->v[s->n++] = i + 1;
	if (ann_eliminate(pool, s, &ls, false))
		return ST_FAILED;
	ann_take_fit(pool, s, &ls, out);
	out->class = ann_class_of(out, c);
	return ST_OK;
}

static bool
ann_same_terms(const struct ann_pool *pool, const struct st_ann_fit *f, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < f->n_terms; i++)
		if (st_ann_term_at(pool->p, &f->terms[i], a) !=
		    st_ann_term_at(pool->p, &f->terms[i], b))
			return false;
	return true;
}

/* Returns whether the fit is exact because it has as many coefficients as the records have
 * different values of its terms: other models would then be exact as well. */
static bool
ann_is_saturated(const struct ann_pool *pool, const struct st_ann_fit *f)
{
	uint32_t different[ST_LS_MOST + 1];
	size_t n = 0;
	if (f->n_terms < 2 || f->rss / (double)f->n > pool->floor)
		return false;
	for (size_t i = 0; i < pool->rows.n && n < f->n_terms + 2; i++) {
		size_t k = 0;
		while (k < n && !ann_same_terms(pool, f, different[k], pool->rows.v[i]))
			k++;
		if (k == n)
			different[n++] = pool->rows.v[i];
	}
	return n <= f->n_terms + 1;
}

static bool
ann_has_product(const struct st_ann_usable *u, const struct st_ann_term *t)
{
	return st_ann_has_powers(u->low[t->a], u->high[t->a]);
}

/* Makes the terms of a fit and their products of two different features. */
static st_status
ann_product_terms(struct ann_pool *pool, const struct st_ann_term *terms, size_t n)
{
	pool->terms = calloc(ST_ANN_TERMS_MOST, sizeof *pool->terms);
	pool->scale = calloc(ST_ANN_TERMS_MOST, sizeof *pool->scale);
	if (!pool->terms || !pool->scale)
		return ST_FAILED;
	for (size_t i = 0; i < n && pool->n < ST_ANN_TERMS_MOST; i++)
		pool->terms[pool->n++] = terms[i];
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && pool->n < ST_ANN_TERMS_MOST; k++)
			if (terms[i].a != terms[k].a && ann_has_product(pool->usable, &terms[i]) &&
			    ann_has_product(pool->usable, &terms[k]))
				pool->terms[pool->n++] = (struct st_ann_term){
				        terms[i].a, terms[k].a, terms[i].shape_a, terms[k].shape_a};
	return ann_pool_fill(pool);
}

/* Fits a model with products of these main terms. The first elimination keeps main terms of
 * products; the second one removes those that are not significant either. */
static st_status
ann_fit_products(const struct ann_pool *main, const struct st_ann_term *terms, size_t n,
                 struct st_ann_fit *out)
{
	struct ann_pool pool = {.p = main->p,
	                        .rows = main->rows,
	                        .usable = main->usable,
	                        .weights = main->weights,
	                        .floor = main->floor};
	struct ann_subset s = {.n = 1};
	struct st_ls ls;
	st_status status = ann_product_terms(&pool, terms, n);
	for (size_t i = 0; i < pool.n && s.n < ST_LS_MOST; i++)
		s.v[s.n++] = i + 1;
	if (!status)
		status = ann_eliminate(&pool, &s, &ls, true) || ann_eliminate(&pool, &s, &ls, false)
		                 ? ST_FAILED
		                 : ST_OK;
	if (!status) {
		ann_take_fit(&pool, &s, &ls, out);
		out->class = ann_class_of(out, ST_ANN_CLASS_QUADRATIC);
	}
	ann_pool_free(&pool);
	return status;
}

static size_t
ann_features_of(const struct st_ann_fit *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_terms; i++) {
		bool seen = false;
		for (size_t k = 0; k < i; k++)
			seen |= f->terms[k].a == f->terms[i].a;
		n += !seen;
	}
	return n;
}

/* If no sum of terms describes y, tries products of the first features, whether these are
 * significant alone or not. */
static st_status
ann_try_all_products(const struct ann_pool *pool, struct st_ann_fit *best)
{
	struct st_ann_term terms[PRODUCTS_FEATURES_MOST];
	struct st_ann_fit fit;
	size_t n = 0;
	for (size_t i = 0; i < pool->n && n < PRODUCTS_FEATURES_MOST; i++)
		if (pool->terms[i].shape_a == ST_ANN_X)
			terms[n++] = pool->terms[i];
	if (n < 2)
		return ST_OK;
	if (ann_fit_products(pool, terms, n, &fit))
		return ST_FAILED;
	if (ann_replaces(pool, &fit, best))
		*best = fit;
	return ST_OK;
}

/* Finds the best fit of all classes, with products if they lower BIC. */
static st_status
ann_best_fit(const struct ann_pool *pool, struct st_ann_fit *best)
{
	struct ann_subset s;
	if (ann_fit_class(pool, ST_ANN_CLASS_CONSTANT, &s, best))
		return ST_FAILED;
	for (enum st_ann_class c = 1; c < ST_ANN_CLASS_COUNT; c++) {
		struct st_ann_fit fit, with_products;
		if (!(pool->p->options.classes & 1u << c) || !pool->n)
			continue;
		if (ann_fit_class(pool, c, &s, &fit))
			return ST_FAILED;
		if (ann_features_of(&fit) > 1 && fit.rss / (double)fit.n > pool->floor) {
			if (ann_fit_products(pool, fit.terms, fit.n_terms, &with_products))
				return ST_FAILED;
			if (with_products.bic < fit.bic)
				fit = with_products;
		}
		if (ann_replaces(pool, &fit, best) && !ann_is_saturated(pool, &fit))
			*best = fit;
	}
	return best->r2 >= pool->p->options.min_r2 ? ST_OK : ann_try_all_products(pool, best);
}

double *
st_ann_values(const struct st_ann_problem *p, struct st_ann_rows rows)
{
	double *y = malloc((rows.n ? rows.n : 1) * sizeof *y);
	for (size_t i = 0; y && i < rows.n; i++)
		y[i] = p->y[rows.v[i]];
	return y;
}

st_status
st_ann_find_clusters(double *y, size_t n, struct st_clusters *out)
{
	const size_t two_percent = n / 50;
	st_sort_values(y, n);
	return st_clusters_find(
	        y, n, two_percent > ST_ANN_RECORDS_LEAST ? two_percent : ST_ANN_RECORDS_LEAST, out);
}

/* Returns in *one whether y, for which no term is significant, has one mode. */
static st_status
ann_has_one_mode(const struct st_ann_problem *p, struct st_ann_rows rows, bool *one)
{
	struct st_clusters clusters;
	double *y = st_ann_values(p, rows);
	if (!y)
		return ST_FAILED;
	const st_status status = st_ann_find_clusters(y, rows.n, &clusters);
	/* A few outliers may hide a law: the selections of st_ann_find_mixture look for it. */
	const double mad = st_mad(y, rows.n);
	const bool far_off = mad > 0 && st_sd(y, rows.n) > 3 * mad;
	*one = !status && clusters.list.n <= 1 && !far_off;
	st_clusters_free(&clusters);
	free(y);
	return status;
}

/* Returns the weight of each record: the inverse of the variance of the fit there. */
static double *
ann_spread_weights(const struct st_ann_problem *p, struct st_ann_rows rows,
                   const struct st_ann_fit *f)
{
	double *weights = malloc(rows.n * sizeof *weights);
	for (size_t i = 0; weights && i < rows.n; i++) {
		const double sd = st_ann_fit_sd_at(p, f, rows.v[i]);
		weights[i] = 1 / (sd * sd);
	}
	return weights;
}

/* Computes R^2 of a weighted fit without weights, so that it is comparable with others. */
static void
ann_plain_r2(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_fit *f)
{
	double mean = 0;
	f->rss = f->tss = 0;
	for (size_t i = 0; i < rows.n; i++)
		mean += p->y[rows.v[i]] / (double)rows.n;
	for (size_t i = 0; i < rows.n; i++) {
		const double y = p->y[rows.v[i]], r = y - st_ann_fit_at(p, f, rows.v[i]);
		f->rss += r * r;
		f->tss += (y - mean) * (y - mean);
	}
	f->r2 = f->tss > 0 ? 1 - f->rss / f->tss : NAN;
	f->s = sqrt(f->rss / (double)(rows.n - f->n_terms - 1));
}

/* If residuals grow, chooses the model again with weights, and keeps it if its BIC is lower. */
static st_status
ann_formulate_weighted(const struct ann_pool *plain, struct st_ann_fit *best)
{
	struct ann_pool pool = {.p = plain->p, .rows = plain->rows, .usable = plain->usable};
	struct st_ann_fit fit;
	double *weights = ann_spread_weights(pool.p, pool.rows, best);
	pool.weights = weights;
	pool.floor = 1e-300;
	st_status status = weights ? ann_main_terms(&pool) : ST_FAILED;
	if (!status)
		status = ann_best_fit(&pool, &fit);
	if (!status && fit.n_terms && fit.bic + log((double)pool.rows.n) < best->bic) {
		ann_plain_r2(pool.p, pool.rows, &fit);
		fit.bic += log((double)pool.rows.n);
		st_ann_find_spread(pool.p, pool.rows, &fit);
		if (fit.grows)
			*best = fit;
	} else {
		best->grows = false;
	}
	ann_pool_free(&pool);
	free(weights);
	return status;
}

st_status
st_ann_formulate(const struct st_ann_problem *p, struct st_ann_rows rows,
                 struct st_ann_formula *out)
{
	struct st_ann_problem own = *p;
	struct st_ann_usable usable = {0};
	struct ann_pool pool = {.p = &own, .rows = rows, .usable = &usable};
	own.options.min_r2 = p->options.min_r2 > 0 ? p->options.min_r2 : default_min_r2;
	own.options.classes = p->options.classes ? p->options.classes : ST_ANN_CLASSES_USUAL;
	*out = (struct st_ann_formula){0};
	pool.floor = st_ann_variance_floor(p, rows);
	st_status status = st_ann_find_usable(p, rows, &usable) || ann_main_terms(&pool) ||
	                                   ann_best_fit(&pool, &out->best)
	                           ? ST_FAILED
	                           : ST_OK;
	if (!status) {
		st_ann_find_spread(p, rows, &out->best);
		if (out->best.grows)
			status = ann_formulate_weighted(&pool, &out->best);
	}
	if (!status)
		ann_round_exact(&out->best, sqrt(pool.floor), pool.floor);
	if (!status && out->best.n_terms)
		out->good = out->best.r2 >= own.options.min_r2;
	else if (!status)
		status = ann_has_one_mode(p, rows, &out->good);
	ann_pool_free(&pool);
	st_ann_usable_free(&usable);
	return status;
}
