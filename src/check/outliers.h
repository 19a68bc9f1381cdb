/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outliers among many differences: by the modified z-score (Iglewicz and Hoaglin, How to
 * Detect and Handle Outliers, 1993, which recommends the limit 3.5), then by the quartiles, then by
 * the standard deviation of the remaining differences.
 */
#ifndef STROBE_CHECK_OUTLIERS_H
#define STROBE_CHECK_OUTLIERS_H

#include <stddef.h>

#include "base/status.h"
#include "check/finding.h"

#define ST_OUTLIER_Z 3.5

struct st_outlier {
	enum st_finding_kind kind; /* severe: by z; plain: by quartiles; maybe: by deviation */
	double confidence;         /* by_quartiles says of which kind */
	bool by_quartiles;         /* confidence is the distance from the nearer quartile in
	                            * interquartile ranges, otherwise standard deviations */
};

/* ST_FAILED: memory is exhausted. */
st_status st_outliers_find(const double *differences, size_t n, double z, struct st_outlier *out);
/* (difference - q3) / IQR above the third quartile, (q1 - difference) / IQR below the first; NAN
 * between them. */
double st_outlier_distance(double difference, double q1, double q3);

#endif
