/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formulates a model of one set of records: y as a sum of terms of features. scopes.h divides
 * records into such sets.
 */
#ifndef STROBE_ANNOTATE_FORMULATE_H
#define STROBE_ANNOTATE_FORMULATE_H

#include <stdint.h>

#include "annotate/records.h"
#include "stats/columns.h"
#include "stats/density.h"

/* S(identifier): functions of a feature x; log has base 2. */
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

/* C(identifier, "name", shapes of its terms), in the order in which they are preferred. */
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
	/* The default set; log, sqrt and cubic are tried on request only. */
	ST_ANN_CLASSES_USUAL = 1 << ST_ANN_CLASS_CONSTANT | 1 << ST_ANN_CLASS_LINEAR |
	                       1 << ST_ANN_CLASS_NLOGN | 1 << ST_ANN_CLASS_QUADRATIC,
	ST_ANN_RECORDS_LEAST = 6,
	ST_ANN_TERMS_MOST = ST_LS_MOST - 1,
	ST_ANN_FEATURES_MOST = 10, /* features that one model may have */
	ST_ANN_NO_FEATURE = UINT16_MAX
};

struct st_ann_options {
	double min_r2;    /* least R^2 of a good model; 0: the default, 0.9 */
	unsigned classes; /* set of classes; 0: the default, ST_ANN_CLASSES_USUAL */
	uint64_t seed;    /* of cross-validation */
};

/* A shape of a feature, perhaps times a shape of another one. */
struct st_ann_term {
	uint16_t a, b; /* b: ST_ANN_NO_FEATURE if the term has one feature */
	uint8_t shape_a, shape_b;
};

/* One metric of one function. */
struct st_ann_problem {
	const struct st_ann_records *records;
	const double *y;
	struct st_ann_options options;
	const uint16_t *order; /* features, the preferred ones first */
	const uint16_t *only;  /* the only feature that may be a term; NULL: all may */
	const bool *huge;      /* of each feature: st_ann_is_huge */
};

/* A set of records. */
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
	bool grows; /* the residuals grow with sd_by */
	double sd[2];
	struct st_ann_term sd_by;
};

/* best: the fit with the lowest BIC; a constant is replaced only if BIC falls by more than 10, and
 * so is a constant or linear fit by a higher class. good: R^2 reaches the threshold, or the fit is
 * a constant and y has one mode. */
struct st_ann_formula {
	bool good;
	struct st_ann_fit best;
};

/* Fails when memory is exhausted. rows: at least ST_ANN_RECORDS_LEAST. */
st_status st_ann_formulate(const struct st_ann_problem *p, struct st_ann_rows rows,
                           struct st_ann_formula *out);

/* Features that may be terms of a model of these records: numbers that are present in all records
 * and not (almost) constant; one of each class of correlated features (|r| >= 0.9). */
struct st_ann_usable {
	size_t n;
	uint16_t *v;              /* the usable features */
	uint16_t *representative; /* of each feature, in v; ST_ANN_NO_FEATURE: it has none */
	double *low, *high;       /* of each feature, over the rows */
};
st_status st_ann_find_usable(const struct st_ann_problem *p, struct st_ann_rows rows,
                             struct st_ann_usable *out);
/* Returns whether powers and products of values in a range can be calculated: the largest is not
 * above 1e100, and not below 1e-100 unless all are 0. */
bool st_ann_has_powers(double low, double high);
/* Returns whether all n values of a feature are integers, and some are beyond 2^53: no size is so
 * large, but hashes, sets of bits, and memory that was not initialised. */
bool st_ann_is_huge(const struct st_ann_feature *f, size_t n);
/* Returns whether values in a range can be scaled to their range without loss of digits. */
bool st_ann_has_scale(double low, double high);
/* Returns whether the values in a range differ by at least this share of their size. If addresses,
 * or sizes below 0 in an unsigned variable, are terms of a formula, a constant of their size must
 * cancel them: with a smaller share, and for powers with a larger one, few digits remain. */
bool st_ann_differs(double low, double high, double share);
#define ST_ANN_LEAST_DIFFERENCE 1e-6
#define ST_ANN_LEAST_DIFFERENCE_OF_POWERS 1e-3
void st_ann_usable_free(struct st_ann_usable *u);
/* Writes at most `most` (<= ST_ANN_FEATURES_MOST) usable features to v: all in the order of
 * preference, or the strongest ones if there are more. Returns their number. */
size_t st_ann_strongest(const struct st_ann_problem *p, struct st_ann_rows rows,
                        const struct st_ann_usable *u, size_t most, uint16_t *v);

double st_ann_shape_at(enum st_ann_shape shape, double x);
double st_ann_term_at(const struct st_ann_problem *p, const struct st_ann_term *t, uint32_t row);
double st_ann_fit_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row);
double st_ann_fit_sd_at(const struct st_ann_problem *p, const struct st_ann_fit *f, uint32_t row);
const char *st_ann_class_name(enum st_ann_class class);
/* Returns the variance that rounding of the records may cause; lower ones are not significant. */
double st_ann_variance_floor(const struct st_ann_problem *p, struct st_ann_rows rows);
/* Returns the BIC of residuals, with the variance as a parameter, as R does. */
double st_ann_bic(double n, double rss, double parameters, double floor);

/* Returns whether the residuals are below a thousandth of y, both as root mean squares, or of the
 * size of rounding errors: a few records that deviate a little then need no other model. */
bool st_ann_fits_closely(const struct st_ann_problem *p, struct st_ann_rows rows,
                         const struct st_ann_fit *f);

/* Ten-fold cross-validation: returns 1 - RSS / TSS over the records that were left out of each fit;
 * TSS is about the mean of the other records. NAN: too few records. */
double st_ann_cross_validate(const struct st_ann_problem *p, struct st_ann_rows rows,
                             const struct st_ann_fit *f);

/* Returns the y of the rows, malloc'ed; NULL: no memory. */
double *st_ann_values(const struct st_ann_problem *p, struct st_ann_rows rows);
/* Sorts the y of rows and divides them into clusters of at least ST_ANN_RECORDS_LEAST and 2 % of
 * them. Fails when memory is exhausted; the caller frees `out` in both cases. */
st_status st_ann_find_clusters(double *y, size_t n, struct st_clusters *out);

/* Internal: finds whether residuals grow with the largest term, and their standard deviation. */
void st_ann_find_spread(const struct st_ann_problem *p, struct st_ann_rows rows,
                        struct st_ann_fit *f);

#endif
