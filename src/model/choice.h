/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kind of growth the points show, if they show one.
 *
 * All kinds are judged by AICc on the points that all of them can have. Kinds whose AICc is within
 * 2 of the least are plausible (Burnham and Anderson, Model Selection and Multimodel Inference, 2nd
 * edition, section 2.6). Of two of these, of which one contains the other, the simpler one remains;
 * a power remains only if no polynomial's degree is in the interval of its exponent. If more than
 * one kind is left, the points cannot tell. A constant must also be shown to be one: y must not
 * change by more than ST_CHANGE_NONE of its mean.
 */
#ifndef STROBE_MODEL_CHOICE_H
#define STROBE_MODEL_CHOICE_H

#include "model/regression.h"

#define ST_PLAUSIBLE_AICC 2.0
#define ST_CHANGE_NONE 0.05

/* y = offset + factor x^b: the exponent, by the squares that remain for each b. */
struct st_exponent {
	struct st_interval b; /* an end is NAN: it lies further off than -4 or 12 */
	bool known;           /* else there are too few points, or too few of their x differ */
	bool has_offset;      /* whether an offset was needed */
	double offset;
};

/* The scatter of residuals: constant, in proportion to the curve's y, or chosen by the points. */
#define ST_NOISES(N)                                                                               \
	N(AUTO, "auto")                                                                            \
	N(ADDITIVE, "additive")                                                                    \
	N(PROPORTIONAL, "proportional")

enum st_noise {
#define N(id, name) ST_NOISE_##id,
	ST_NOISES(N)
#undef N
	        ST_NOISE_COUNT
};

struct st_choice {
	struct st_regression models[ST_GROWTH_COUNT];
	unsigned fitted;                /* kinds that were asked for and could be fitted */
	double aicc[ST_GROWTH_COUNT];   /* of the points that all can have: `common` */
	double weight[ST_GROWTH_COUNT]; /* Akaike's: how probable a kind is if one of them is true
	                                 */
	size_t common;
	unsigned plausible;        /* what is left */
	enum st_growth best;       /* of the plausible ones that with the least AICc */
	bool told;                 /* one kind is left; of a constant, it was shown to be one */
	struct st_interval growth; /* change of y from x_start to x_end, as a share of its mean */
	struct st_exponent exponent;
	double level;
	bool proportional; /* the residuals are */
};

/* kinds: a set. level: of all intervals. ST_FAILED with *e when no kind could be fitted: the cause
 * of the first. */
st_status st_choice_make(struct st_choice *c, const struct st_points *points, unsigned kinds,
                         enum st_noise noise, double level, struct st_error *e);

/* The same of all kinds without the exponent, which takes most of the time. */
st_status st_choice_kind(struct st_choice *c, const struct st_points *points, double level,
                         struct st_error *e);

/*
 * Inside: whether residuals are proportional to y rather than alike everywhere, when the best kind
 * has this AICc with residuals that are alike; and the weights that follow from a curve, the first
 * time from a cubic through logarithms (model NULL). level: of the points. ST_FAILED: the curve is
 * not positive everywhere.
 */
bool st_noise_is_proportional(const struct st_points *points, double aicc);
st_status st_noise_weigh(const struct st_points *points, const struct st_regression *model,
                         double *weights, double *level);

/* What a tool chooses that goes by Perun's r^2: the greatest one above 0, the first on ties;
 * ST_GROWTH_COUNT: none. */
enum st_growth st_choice_by_r_square(const struct st_choice *c);

/* Points with x > 0. ST_FAILED with *e when there are too few to say anything. */
st_status st_exponent_find(const struct st_points *points, bool with_offset, double level,
                           struct st_exponent *out, struct st_error *e);

#endif
