/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The formulation of a model of one set of records: y as a sum of terms of features. What a set of
 * records is divided into, and why, is in scopes.h.
 */
#ifndef STROBE_ANNOTATE_FORMULATE_H
#define STROBE_ANNOTATE_FORMULATE_H

#include <stdint.h>

#include "annotate/records.h"
#include "stats/columns.h"

/* S(identifier): what a term is of a feature x. log has base 2. */
#define ST_ANN_SHAPES(S)                                                                           \
	S(X)                                                                                       \
	S(LOG_X)                                                                                   \
	S(SQRT_X)                                                                                  \
	S(X_LOG_X)                                                                                 \
	S(X_SQUARED)                                                                               \
	S(X_CUBED)

enum st_ann_shape {
#define S(id) ST_ANN_##id,
	ST_ANN_SHAPES(S)
#undef S
	        ST_ANN_SHAPE_COUNT
};

/* C(identifier, "name", shapes): in the order in which they are preferred. A class has the terms of
 * those that are lower. */
#define ST_ANN_CLASSES(C)                                                                          \
	C(CONSTANT, "constant", 0)                                                                 \
	C(LOGARITHMIC, "log", 1 << ST_ANN_LOG_X)                                                   \
	C(ROOT, "sqrt", 1 << ST_ANN_SQRT_X)                                                        \
	C(LINEAR, "linear", 1 << ST_ANN_X)                                                         \
	C(NLOGN, "nlogn", 1 << ST_ANN_X | 1 << ST_ANN_X_LOG_X)                                     \
	C(QUADRATIC, "quadratic", 1 << ST_ANN_X | 1 << ST_ANN_X_SQUARED)                           \
	C(CUBIC, "cubic", 1 << ST_ANN_X | 1 << ST_ANN_X_SQUARED | 1 << ST_ANN_X_CUBED)

enum st_ann_class {
#define C(id, name, shapes) ST_ANN_CLASS_##id,
	ST_ANN_CLASSES(C)
#undef C
	        ST_ANN_CLASS_COUNT
};

enum {
	/* A set; log, sqrt and cubic are for those who ask for them. */
	ST_ANN_CLASSES_USUAL = 1 << ST_ANN_CLASS_CONSTANT | 1 << ST_ANN_CLASS_LINEAR |
	                       1 << ST_ANN_CLASS_NLOGN | 1 << ST_ANN_CLASS_QUADRATIC,
	ST_ANN_RECORDS_LEAST = 6,
	ST_ANN_TERMS_MOST = ST_LS_MOST - 1,
	ST_ANN_NO_FEATURE = UINT16_MAX
};

struct st_ann_options {
	double min_r2;    /* of a model that is good; 0: the default, 0.9 */
	unsigned classes; /* 0: the usual ones */
	uint64_t seed;    /* of cross-validation */
};

/* A shape of a feature, perhaps times a shape of another one. */
struct st_ann_term {
	uint16_t a, b; /* b: ST_ANN_NO_FEATURE */
	uint8_t shape_a, shape_b;
};

/* One metric of one function. */
struct st_ann_problem {
	const struct st_ann_records *records;
	const double *y;
	struct st_ann_options options;
	const uint16_t *order; /* features, the preferred ones first */
	const uint16_t *only;  /* the feature that alone may be a term; NULL: all */
};

/* Some of the records. */
struct st_ann_rows {
	const uint32_t *v;
	size_t n;
};

/* y = b[0] + b[1] terms[0] + ...; its residuals have the standard deviation s, or, where they grow,
 * sd[0] + sd[1] |terms[sd_by]|. */
struct st_ann_fit {
	enum st_ann_class class;
	size_t n, n_terms;
	struct st_ann_term terms[ST_ANN_TERMS_MOST];
	double b[ST_LS_MOST], se[ST_LS_MOST];
	double rss, tss, s, r2;
	double bic;
	bool grows; /* the residuals do */
	double sd[2];
	struct st_ann_term sd_by;
};

/* good: r2 reaches the threshold, or y depends on nothing and has one mode. It is the best fit in
 * any case: by BIC, which every class that is not constant must lower by 10 to replace a simpler
 * one. */
struct st_ann_formula {
	bool good;
	struct st_ann_fit best;
};

/* Fails when memory is exhausted. rows: at least ST_ANN_RECORDS_LEAST. */
st_status st_ann_formulate(const struct st_ann_problem *p, struct st_ann_rows rows,
                           struct st_ann_formula *out);

/* Features that may be terms of a model of these records: numbers, present in all of them, not
 * constant; one of each class of features that say the same (|r| >= 0.9). representative: for each
 * feature of the function, the one that stands for it; ST_ANN_NO_FEATURE: it is not used. */
struct st_ann_usable {
	size_t n;
	uint16_t *v;              /* those that stand for themselves */
	uint16_t *representative; /* of each */
	double *low, *high;       /* of each feature, over the rows */
};
st_status st_ann_find_usable(const struct st_ann_problem *p, struct st_ann_rows rows,
                             struct st_ann_usable *out);
void st_ann_usable_free(struct st_ann_usable *u);

double st_ann_shape_at(enum st_ann_shape shape, double x);
double st_ann_term_at(const struct st_ann_problem *p, const struct st_ann_term *t, uint32_t row);
double st_ann_fit_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row);
double st_ann_fit_sd_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row);
const char *st_ann_class_name(enum st_ann_class class);
/* What the rounding of records may leave: no variance below it says anything. */
double st_ann_variance_floor(const struct st_ann_problem *p, struct st_ann_rows rows);
/* BIC of residuals: R's, with the variance as a parameter. */
double st_ann_bic(double n, double rss, double parameters, double floor);

/* Ten-fold, seeded: 1 - sum of squares of residuals of records that the fit does not know, by that
 * about the mean of those it knows. NAN: too few records. */
double st_ann_cross_validate(const struct st_ann_problem *p, struct st_ann_rows rows,
                             const struct st_ann_fit *f);
/* The fit by these terms alone. ST_FAILED: they are not determined, or no memory. */
st_status st_ann_refit(const struct st_ann_problem *p, struct st_ann_rows rows,
                       struct st_ann_fit *f);

/* Inside: whether residuals grow with the largest term, and their standard deviation. */
void st_ann_find_spread(const struct st_ann_problem *p, struct st_ann_rows rows,
                        struct st_ann_fit *f);

#endif
