/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Analysis of variance of a balanced experiment: two factors with their interaction, and a factor
 * that the experiment is blocked by, without interactions. Effects are fixed.
 */
#ifndef STROBE_STATS_ANOVA_H
#define STROBE_STATS_ANOVA_H

#include <stddef.h>

#include "base/error.h"

/* The sources of variation. */
enum st_anova_source {
	ST_ANOVA_FIRST,
	ST_ANOVA_SECOND,
	ST_ANOVA_BLOCK,
	ST_ANOVA_INTERACTION,
	ST_ANOVA_RESIDUALS,
	ST_ANOVA_SOURCES
};

struct st_anova_point {
	size_t first, second, block; /* levels */
	double y;
};

struct st_anova_row {
	size_t df; /* 0: there is nothing to say, the others are 0 */
	double ss, ms;
	double f, p; /* not of the residuals. f is infinite where nothing is left unexplained */
};

struct st_anova {
	struct st_anova_row rows[ST_ANOVA_SOURCES];
	double total; /* sum of squares */
};

/*
 * levels: how many the first and second factor and the block have. Each combination of them must
 * have equally many points. 0, or -1 with *e: when it has not, or when no degree of freedom is left
 * for the residuals.
 */
st_status st_anova(const struct st_anova_point *points, size_t n, const size_t levels[3],
                   struct st_anova *out, struct st_error *e);

#endif
