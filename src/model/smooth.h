/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models without a formula: the value at x is an average of the y near it. All but medians are
 * linear: ŷ = S y with a matrix S that depends on x alone; so they have leverages, degrees of
 * freedom (the trace of S) and bands as regressions have (Hastie and Tibshirani, Generalized
 * Additive Models, chapter 3). Bands say how far ŷ is from its own mean, not how far that is from
 * the truth where the curve bends within a window.
 */
#ifndef STROBE_MODEL_SMOOTH_H
#define STROBE_MODEL_SMOOTH_H

#include "model/regression.h"
#include "stats/bins.h"
#include "stats/kernel.h"
#include "stats/window.h"

#define ST_SMOOTHS(S)                                                                              \
	S(REGRESSOGRAM, "regressogram")                                                            \
	S(MOVING, "moving")                                                                        \
	S(KERNEL, "kernel")                                                                        \
	S(LOESS, "loess")

enum st_smooth_method {
#define S(id, name) ST_SMOOTH_##id,
	ST_SMOOTHS(S)
#undef S
	        ST_SMOOTH_COUNT
};

#define ST_AVERAGES(A)                                                                             \
	A(MEAN, "mean")                                                                            \
	A(MEDIAN, "median")                                                                        \
	A(EXPONENTIAL, "exponential")

enum st_average {
#define A(id, name) ST_AVERAGE_##id,
	ST_AVERAGES(A)
#undef A
	        ST_AVERAGE_COUNT
};

/* How the width of the kernel is chosen: leave-one-out least squares, AICc (Hurvich, Simonoff and
 * Tsai, Journal of the Royal Statistical Society B 60 (1998), 271), by rules of thumb; gamma: the
 * best of exp(-gamma d^2), gamma 1e-5 to 1e-4, by leave-one-out. */
#define ST_BANDWIDTHS(B)                                                                           \
	B(CV, "cv")                                                                                \
	B(AICC, "aicc")                                                                            \
	B(SCOTT, "scott")                                                                          \
	B(SILVERMAN, "silverman")                                                                  \
	B(GAMMA, "gamma")

enum st_bandwidth_rule {
#define B(id, name) ST_BANDWIDTH_##id,
	ST_BANDWIDTHS(B)
#undef B
	        ST_BANDWIDTH_COUNT
};

/* A request. Zero in every field except the method selects the defaults. */
struct st_smooth_choice {
	enum st_smooth_method method;
	enum st_average average; /* of a bin (not exponential), of a moving window */
	size_t bins;             /* 0: by the rule */
	enum st_bin_rule bin_rule;
	size_t window; /* points; 0: as wide as r^2 allows */
	enum st_window shape;
	bool trailing;     /* the window ends at the point, else it is centred */
	size_t min_points; /* in a window; 0: all of them, 1 if centred */
	double alpha;      /* of the exponential average, above 0 to 1; 0: by the window's width */
	double bandwidth;  /* 0: by the rule */
	enum st_bandwidth_rule bandwidth_rule;
	enum st_kernel kernel;
	unsigned degree;    /* of the local polynomial: 0 or 1 for kernels, 1 or 2 for LOESS */
	bool degree_is_set; /* else 1; 0 of kernels of order 4 */
	double span;        /* of LOESS: share of the points; 0: 0.75 */
};

/* Points ordered by x, and what was chosen. */
struct st_smooth {
	struct st_smooth_choice choice; /* with the values that were found */
	size_t n;
	double *x, *y;
	double *fitted; /* at the points; NAN: no value */
	double *row;    /* of S, of the last evaluation */
	double x_start, x_end;
	size_t with_value; /* points that have one */
	double sse, tss, r_square, r_square_cv, s;
	double degrees; /* of freedom that the curve takes; NAN: of a median */
	double rest;    /* degrees of freedom of the residuals */
};

/* ST_FAILED with *e: fewer than three points, too many, or no memory. The caller frees in both
 * cases. */
enum { ST_SMOOTH_MOST = 5000 };
st_status st_smooth_fit(const struct st_smooth_choice *choice, const struct st_points *points,
                        struct st_smooth *m, struct st_error *e);
void st_smooth_free(struct st_smooth *m);

/* At x; NAN: no value there (outside of the points, an empty bin). The interval has NANs for ends
 * where there is none. */
struct st_interval st_smooth_band(struct st_smooth *m, double x, double level, bool prediction);

/* Its parameters as a specification has them: "window=5,shape=boxcar". Returns text. */
const char *st_smooth_describe(const struct st_smooth *m, char *text, size_t size);
const char *st_smooth_name(const struct st_smooth *m);

/* A specification such as "kernel:bandwidth=aicc,kernel=tricube" into a choice. */
st_status st_smooth_parse(const char *text, struct st_smooth_choice *choice, struct st_error *e);

/* Inside: the row of S at x into m->row; ST_FAILED: no value. And the choice of a width. */
st_status st_smooth_row(struct st_smooth *m, double x);
void st_smooth_judge(struct st_smooth *m);
void st_smooth_find_width(struct st_smooth *m);

#endif
