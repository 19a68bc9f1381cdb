/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides the records of a function into scopes with a model each: by conditions of the code, by
 * ranges of features, and, where no condition is found, by probabilities (the two algorithms of
 * Rogora, Carzaniga, Diwan, Hauswirth and Soulé, Analyzing System Performance with Probabilistic
 * Performance Annotations, EuroSys 2020).
 */
#ifndef STROBE_ANNOTATE_SCOPES_H
#define STROBE_ANNOTATE_SCOPES_H

#include "annotate/annotation.h"
#include "annotate/formulate.h"
#include "stats/distributions.h"

enum st_ann_comparison {
	ST_ANN_AT_MOST,
	ST_ANN_ABOVE,
	ST_ANN_AT_LEAST,
	ST_ANN_IS,
	ST_ANN_IS_NOT,
	ST_ANN_PRESENT,
	ST_ANN_ABSENT
};

/* Compares a feature with a value. */
struct st_ann_test {
	uint16_t feature;
	enum st_ann_comparison comparison;
	double value;
	uint16_t branch; /* number + 1 of the branch from which it follows; 0: of none */
};

/* A model of a scope, or one of several with their probabilities. */
struct st_ann_part {
	double weight;    /* probability; NAN: it is the only model */
	bool independent; /* of all features: `family` has the distribution; otherwise `fit` */
	struct st_family_fit family;
	struct st_ann_fit fit;
	enum st_ann_selection selection;
	double dropped; /* share of the records that were not selected */
	double r2_cv;
	size_t n;
	char *branches; /* the outcome of a branch that all its records have; NULL: none */
};

struct st_ann_leaf {
	ST_VEC(struct st_ann_test) tests; /* the scope's condition: all of them hold */
	ST_VEC(struct st_ann_part) parts;
	size_t n;
	char *branches; /* those from which the condition follows, with their outcomes */
};

struct st_ann_leaves {
	ST_VEC(struct st_ann_leaf) list;
};

/* rows: the records in which the metric was measured. Fails when memory is exhausted; the caller
 * frees `out` in both cases. */
st_status st_ann_divide(const struct st_ann_problem *p, struct st_ann_rows rows,
                        struct st_ann_leaves *out);
void st_ann_leaves_free(struct st_ann_leaves *l);

/* Internal. A division of rows into parts: each part has the rows that pass its test. */
enum { ST_ANN_PARTS_MOST = 16 };
struct st_ann_split {
	size_t n; /* 0: there is none */
	struct st_ann_test tests[ST_ANN_PARTS_MOST];
	double bic, rss; /* sums over the best fits of the parts */
};
/* Returns the rows that pass the test; v: space for all rows. */
struct st_ann_rows st_ann_pass(const struct st_ann_problem *p, struct st_ann_rows rows,
                               const struct st_ann_test *t, uint32_t *v);
/* Returns the bound between two neighbouring values of a feature, where the code's own bound is not
 * known: the middle, rounded down between whole numbers. */
double st_ann_bound(double below, double above);
/* Fits the parts and sets the sums; s->n becomes 0 when a part is too small. */
st_status st_ann_judge_split(const struct st_ann_problem *p, struct st_ann_rows rows,
                             struct st_ann_split *s);
/* Finds the best division by a condition of the code: a category, flag, number with two values, or
 * branch. whole: the best fit of all rows. */
st_status st_ann_find_exact(const struct st_ann_problem *p, struct st_ann_rows rows,
                            const struct st_ann_fit *whole, struct st_ann_split *out);
/* Makes a part for each value of a category, of a flag, or of a number with two values. s->n is 0
 * if the rows have one value, or too many. */
void st_ann_split_categories(const struct st_ann_problem *p, struct st_ann_rows rows,
                             uint16_t feature, struct st_ann_split *s);
/* Finds the best division by a range of a feature. whole: the best fit of all rows. */
st_status st_ann_find_range(const struct st_ann_problem *p, struct st_ann_rows rows,
                            const struct st_ann_fit *whole, struct st_ann_split *out);
/* Finds the position in the order of a feature where models with several features, one on each
 * side, describe the records best. *place: the number of records before it, at least `least`; 0:
 * two models explain too little. */
st_status st_ann_find_plane(const struct st_ann_problem *p, struct st_ann_rows rows,
                            const struct st_ann_usable *u, size_t least, uint16_t *feature,
                            size_t *place);
/* branches.c: the outcomes of the branches that the tests of a leaf follow from, as a note; rows:
 * the leaf's. NULL: no memory. */
char *st_ann_branch_note(const struct st_ann_problem *p, const struct st_ann_leaf *leaf,
                         struct st_ann_rows rows);
/* Makes a model of the records of each outcome of a branch that follows from no feature. whole: the
 * best fit of all rows. *found: these describe the records clearly better. */
st_status st_ann_find_branch_modes(const struct st_ann_problem *p, struct st_ann_rows rows,
                                   const struct st_ann_fit *whole, struct st_ann_leaf *leaf,
                                   bool *found);
/* Finds models of records that no condition divides and no formula describes. */
st_status st_ann_find_mixture(const struct st_ann_problem *p, struct st_ann_rows rows,
                              const struct st_ann_fit *best, struct st_ann_leaf *leaf);
/* Selects the least y, or the largest cluster of y, of each value of a feature; *found: a formula
 * describes the selected records well. */
st_status st_ann_find_selection(const struct st_ann_problem *p, struct st_ann_rows rows,
                                struct st_ann_part *part, bool *found);
/* Makes the fit the model of the part, unless it predicts records that it was not fitted to worse
 * than their mean. In this case, or if fit is NULL, the model is a distribution. */
st_status st_ann_model_part(const struct st_ann_problem *p, struct st_ann_rows rows,
                            const struct st_ann_fit *fit, struct st_ann_part *part);
st_status st_ann_independent(const struct st_ann_problem *p, struct st_ann_rows rows,
                             struct st_ann_part *part);
struct st_ann_part *st_ann_add_part(struct st_ann_leaf *leaf, size_t n);

#endif
