/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models without a condition: clusters of y with their probabilities, and single distributions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/chance.h"
#include "annotate/scopes.h"

static const double weak_is_better = 10;

struct st_ann_part *
st_ann_add_part(struct st_ann_leaf *leaf, size_t n)
{
	struct st_ann_part *part = ST_PUSH(&leaf->parts);
	if (part)
		*part = (struct st_ann_part){.weight = NAN, .r2_cv = NAN, .n = n};
	return part;
}

/* Returns the least feature that is constant over the rows and not below any y: it may be the N of
 * a binomial distribution. 0: there is none. */
static double
ann_count_bound(const struct st_ann_problem *p, struct st_ann_rows rows)
{
	double most = -INFINITY, bound = 0;
	for (size_t i = 0; i < rows.n; i++)
		most = fmax(most, p->y[rows.v[i]]);
	for (size_t k = 0; k < p->records->features.n; k++) {
		const struct st_ann_feature *f = &p->records->features.v[k];
		const double x = f->v[rows.v[0]];
		bool same = f->kind == ST_ANN_NUMERIC && x >= most && x == floor(x);
		for (size_t i = 0; i < rows.n && same; i++)
			same = f->v[rows.v[i]] == x;
		if (same && (!(bound > 0) || x < bound))
			bound = x;
	}
	return bound;
}

st_status
st_ann_independent(const struct st_ann_problem *p, struct st_ann_rows rows,
                   struct st_ann_part *part)
{
	double *y = st_ann_values(p, rows);
	if (!y)
		return ST_FAILED;
	part->independent = true;
	part->family = (struct st_family_fit){ST_FAMILY_NORMAL, y[0], 0, 0, 1, NAN};
	const st_status status =
	        rows.n < 2 ? ST_OK
	                   : st_family_find(y, rows.n, ann_count_bound(p, rows), &part->family);
	free(y);
	return status;
}

st_status
st_ann_model_part(const struct st_ann_problem *p, struct st_ann_rows rows,
                  const struct st_ann_fit *fit, struct st_ann_part *part)
{
	const double r2_cv = fit ? st_ann_cross_validate(p, rows, fit) : NAN;
	if (!fit || r2_cv < 0)
		return st_ann_independent(p, rows, part);
	part->fit = *fit;
	part->r2_cv = r2_cv;
	return ST_OK;
}

/* Returns the logarithm of a part's density at a record. exact: all y are whole numbers, so that a
 * part without spread gives its value the probability 1. */
static double
ann_part_log_density(const struct st_ann_problem *p, const struct st_ann_part *part, uint32_t row,
                     double least_sd, bool exact)
{
	const double y = p->y[row];
	if (part->independent && part->family.family != ST_FAMILY_NORMAL)
		return st_family_log_density(part->family.family, part->family.a, part->family.b,
		                             y);
	const double mean = part->independent ? part->family.a : st_ann_fit_at(p, &part->fit, row);
	double sd = part->independent ? part->family.b : st_ann_fit_sd_at(p, &part->fit, row);
	if (exact && !(sd > 0.1))
		return fabs(y - mean) < 0.5 ? 0 : -INFINITY;
	sd = fmax(sd, least_sd);
	return st_family_log_density(ST_FAMILY_NORMAL, mean, sd, y);
}

static size_t
ann_part_parameters(const struct st_ann_part *part)
{
	return part->independent ? part->family.parameters
	                         : part->fit.n_terms + 2 + (part->fit.grows ? 1 : 0);
}

/* Returns the BIC of the leaf's models with their probabilities. */
static double
ann_leaf_bic(const struct st_ann_problem *p, struct st_ann_rows rows,
             const struct st_ann_leaf *leaf)
{
	const double least_sd = sqrt(st_ann_variance_floor(p, rows));
	double sum = 0, parameters = (double)leaf->parts.n - 1;
	bool exact = true;
	for (size_t i = 0; i < rows.n && exact; i++)
		exact = p->y[rows.v[i]] == floor(p->y[rows.v[i]]);
	for (size_t k = 0; k < leaf->parts.n; k++)
		parameters += (double)ann_part_parameters(&leaf->parts.v[k]);
	for (size_t i = 0; i < rows.n; i++) {
		double density = 0;
		for (size_t k = 0; k < leaf->parts.n; k++) {
			const struct st_ann_part *part = &leaf->parts.v[k];
			density += (isnan(part->weight) ? 1 : part->weight) *
			           exp(ann_part_log_density(p, part, rows.v[i], least_sd, exact));
		}
		sum += log(fmax(density, 1e-300));
	}
	return -2 * sum + parameters * log((double)rows.n);
}

static st_status
ann_cluster_part(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_part *part)
{
	struct st_ann_formula formula;
	bool chance = true;
	if (rows.n < ST_ANN_RECORDS_LEAST)
		return st_ann_independent(p, rows, part);
	if (st_ann_formulate(p, rows, &formula) ||
	    (formula.good && st_ann_fit_is_chance(p, rows, &formula.best, &chance)))
		return ST_FAILED;
	return st_ann_model_part(p, rows, !chance && formula.best.n_terms ? &formula.best : NULL,
	                         part);
}

/* Adds a model of each cluster of y, with the share of its records as the probability. */
static st_status
ann_cluster_leaf(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_leaf *leaf)
{
	struct st_clusters clusters = {0};
	double *y = st_ann_values(p, rows);
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = y && v ? st_ann_find_clusters(y, rows.n, &clusters) : ST_FAILED;
	for (size_t k = 0; k < clusters.list.n && !status; k++) {
		const struct st_cluster *c = &clusters.list.v[k];
		struct st_ann_part *part = st_ann_add_part(leaf, c->n);
		struct st_ann_rows own = {v, 0};
		for (size_t i = 0; i < rows.n; i++)
			if (p->y[rows.v[i]] > c->above && p->y[rows.v[i]] <= c->to)
				v[own.n++] = rows.v[i];
		status = part && own.n ? ann_cluster_part(p, own, part) : ST_FAILED;
		if (part && clusters.list.n > 1)
			part->weight = (double)own.n / (double)rows.n;
		if (part)
			part->n = own.n;
	}
	st_clusters_free(&clusters);
	free(y);
	free(v);
	return status;
}

static st_status
ann_search_selection(const struct st_ann_problem *p, struct st_ann_rows rows, double *strength)
{
	struct st_ann_part part;
	bool found;
	*strength = -INFINITY;
	if (st_ann_find_selection(p, rows, &part, &found))
		return ST_FAILED;
	if (found && part.selection == ST_ANN_DOMINANT)
		*strength = part.fit.r2;
	return ST_OK;
}

/* Finds a selection. One of dominant clusters chooses the records that a formula describes, so that
 * it is tested whether it is due to chance. */
static st_status
ann_confirmed_selection(const struct st_ann_problem *p, struct st_ann_rows rows,
                        struct st_ann_part *part, bool *found)
{
	bool chance = false;
	if (st_ann_find_selection(p, rows, part, found) ||
	    (*found && part->selection == ST_ANN_DOMINANT &&
	     st_ann_is_chance(p, rows, NULL, ann_search_selection, part->fit.r2, &chance)))
		return ST_FAILED;
	*found = *found && !chance;
	return ST_OK;
}

static void
ann_replace_parts(struct st_ann_leaf *leaf, const struct st_ann_part *part)
{
	leaf->parts.n = 1; /* there was at least one */
	leaf->parts.v[0] = *part;
}

/*
 * BIC compares clusters, one distribution, and the best formula although its R^2 is below the
 * threshold. A selection leaves records out; st_ann_find_selection takes one only if a formula
 * describes the selected records well.
 */
st_status
st_ann_find_mixture(const struct st_ann_problem *p, struct st_ann_rows rows,
                    const struct st_ann_fit *best, struct st_ann_leaf *leaf)
{
	struct st_ann_leaf weak = {0}, single = {0};
	struct st_ann_part *part, selected;
	bool found;
	if (ann_confirmed_selection(p, rows, &selected, &found))
		return ST_FAILED;
	if (found) {
		part = st_ann_add_part(leaf, selected.n);
		if (part)
			*part = selected;
		return part ? ST_OK : ST_FAILED;
	}
	if (ann_cluster_leaf(p, rows, leaf))
		return ST_FAILED;
	double least = ann_leaf_bic(p, rows, leaf);
	part = st_ann_add_part(&single, rows.n);
	const st_status status = part ? st_ann_independent(p, rows, part) : ST_FAILED;
	const double single_bic = status ? INFINITY : ann_leaf_bic(p, rows, &single);
	if (single_bic < least) {
		least = single_bic;
		ann_replace_parts(leaf, part);
	}
	part = best->n_terms ? st_ann_add_part(&weak, rows.n) : NULL;
	if (part) {
		part->fit = *best;
		part->r2_cv = st_ann_cross_validate(p, rows, best);
		if (!(part->r2_cv < 0) && ann_leaf_bic(p, rows, &weak) < least - weak_is_better)
			ann_replace_parts(leaf, part);
	}
	free(weak.parts.v);
	free(single.parts.v);
	return status;
}
