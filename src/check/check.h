/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparison of two versions: the methods, each with its own definition of a change, and their
 * findings. docs/check.md explains them to users.
 */
#ifndef STROBE_CHECK_CHECK_H
#define STROBE_CHECK_CHECK_H

#include "base/error.h"
#include "check/distribution.h"
#include "check/subject.h"

/* M(identifier, "name", "the compared values") */
#define ST_CHECK_METHODS(M)                                                                        \
	M(distribution, "distribution", "the values of repeated runs, by a permutation test")      \
	M(average, "average-amount", "the mean cost of a call, and of all calls")                  \
	M(order, "best-model-order", "how fast the cost grows with x")                             \
	M(integral, "integral", "the areas under the models")                                      \
	M(linear, "linear-regression", "the lines through the points")                             \
	M(polynomial, "polynomial-regression",                                                     \
	  "the best models, and the degree of their difference")                                   \
	M(fast, "fast-check", "the best models, and how their difference grows")                   \
	M(local, "local-statistics", "windows along x, by eight statistics")                       \
	M(outliers, "exclusive-time-outliers",                                                     \
	  "differences that are outliers among all differences")

enum st_check_method {
#define M(id, name, help) ST_CHECK_##id,
	ST_CHECK_METHODS(M)
#undef M
	        ST_CHECK_METHOD_COUNT
};

/* The cause of an Unknown finding by the method `distribution`. */
#define ST_CHECK_FEW "too few runs"

struct st_check_how {
	struct st_distribution_choice distribution;
	const char *of; /* report only this function or location, or shell pattern; NULL: all */
	const char *x;  /* feature that is the x of models; NULL: the default of the series */
	bool smooth;    /* integral: the areas are those of models without a formula */
};

/* A change at a location. Texts belong to the subjects, or are constant. */
struct st_finding {
	enum st_finding_kind kind;
	enum st_check_method method;
	const struct st_check_subject *subject; /* NULL: a total */
	const struct st_check_total *total;
	uint32_t metric;
	const char *type; /* of the difference; NULL: that of the metric */
	double from, to;
	const char *from_model, *to_model; /* NULL: none was compared */
	struct st_interval rate;           /* to minus from; ends NAN: unknown */
	double relative;                   /* rate divided by from */
	double share_from, share_to; /* rate divided by the whole of each version; NAN: unknown */
	double confidence;           /* NAN: none */
	const char *confidence_kind;
	double p, q;                 /* NAN: no test */
	double calls_from, calls_to; /* means of the runs; NAN: unknown */
	double x_low, x_high;        /* range of x of the change; NAN: everywhere */
	const char *cause;           /* why the finding is Unknown; otherwise NULL */
};

struct st_check_result {
	const struct st_check_subjects *subjects;
	ST_VEC(struct st_finding) findings; /* of all locations, also of those without a change */
	ST_VEC(struct st_finding) totals;   /* of each additive metric: program, images */
	size_t models_kept;                 /* that were read from the profiles, not fitted */
	size_t tests;                       /* that are adjusted together; 0: none */
	size_t runs_needed; /* of each version, so that one change can be significant */
};

/* ST_FAILED with *e. The caller frees in both cases. */
st_status st_check_run(struct st_check_result *out, const struct st_check_subjects *subjects,
                       enum st_check_method method, const struct st_check_how *how,
                       struct st_error *e);
void st_check_result_free(struct st_check_result *r);

const char *st_check_method_name(enum st_check_method method);

/* Inside: the methods, each of which fills the findings. ST_FAILED: memory is exhausted. */
#define M(id, name, help)                                                                          \
	st_status st_check_by_##id(struct st_check_result *out, const struct st_check_how *how);
ST_CHECK_METHODS(M)
#undef M
/* Inside: the method distribution with another smallest effect for locations than for totals. */
st_status st_check_compare_runs(struct st_check_result *out, const struct st_check_how *how,
                                double smallest);
/* Inside: a finding at a subject, with costs and calls of the runs. NULL: memory is exhausted. */
struct st_finding *st_check_add(struct st_check_result *out, const struct st_check_subject *s,
                                enum st_check_method method);
/* Inside: sets the rate and its shares of the location and of the whole. */
void st_finding_set_rate(struct st_finding *f, const struct st_check_result *r,
                         struct st_interval rate);

#endif
