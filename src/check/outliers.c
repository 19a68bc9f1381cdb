/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/outliers.h"

#include <math.h>
#include <stdlib.h>

#include "stats/robust.h"

#define FENCE 1.5      /* interquartile ranges beyond the quartiles */
#define DEVIATIONS 2.0 /* standard deviations */

double
st_outlier_distance(double difference, double q1, double q3)
{
	if (difference > q3)
		return (difference - q3) / (q3 - q1);
	return difference < q1 ? (q1 - difference) / (q3 - q1) : NAN;
}

/* A robust estimate of the standard deviation, from the median of the distances from the median, or
 * from their mean where half of all values are equal. 0: all are equal. */
static double
robust_deviation(const double *v, size_t n)
{
	const double mad = st_mad(v, n), median = st_median(v, n);
	double sum = 0;
	if (mad > 0)
		return mad;
	for (size_t i = 0; i < n; i++)
		sum += fabs(v[i] - median);
	return 1.2533 * sum / (double)n;
}

static void
set_outlier_kind(struct st_outlier *o, enum st_finding_kind kind, double difference)
{
	o->kind = difference < 0 ? st_finding_mirror(kind) : kind;
}

/* Applies the third rule to the values that the first two have not flagged. */
static st_status
flag_by_deviation(const double *v, size_t n, struct st_outlier *out)
{
	double *rest = malloc((n + 1) * sizeof *rest);
	size_t m = 0;
	if (!rest)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		if (out[i].kind == ST_FINDING_NO_CHANGE)
			rest[m++] = v[i];
	const double sd = m > 1 ? st_sd(rest, m) : 0;
	for (size_t i = 0; i < n && sd > 0; i++) {
		if (!out[i].by_quartiles)
			out[i].confidence = v[i] / sd;
		if (out[i].kind == ST_FINDING_NO_CHANGE && fabs(v[i] / sd) > DEVIATIONS)
			set_outlier_kind(&out[i], ST_FINDING_MAYBE_DEGRADATION, v[i]);
	}
	free(rest);
	return ST_OK;
}

st_status
st_outliers_find(const double *v, size_t n, double z, struct st_outlier *out)
{
	if (!n)
		return ST_OK;
	const double median = st_median(v, n), sd = robust_deviation(v, n);
	const double q1 = st_quantile(v, n, 0.25), q3 = st_quantile(v, n, 0.75), iqr = q3 - q1;
	if (isnan(median) || isnan(sd) || isnan(q1) || isnan(q3))
		return ST_FAILED;
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct st_outlier){.kind = ST_FINDING_NO_CHANGE, .confidence = NAN};
		const double distance = iqr > 0 ? st_outlier_distance(v[i], q1, q3) : NAN;
		if (v[i] == 0)
			continue;
		if (sd > 0 && fabs(v[i] - median) / sd > z)
			set_outlier_kind(&out[i], ST_FINDING_SEVERE_DEGRADATION, v[i]);
		else if (iqr > 0 && (v[i] < q1 - FENCE * iqr || v[i] > q3 + FENCE * iqr))
			set_outlier_kind(&out[i], ST_FINDING_DEGRADATION, v[i]);
		if (out[i].kind != ST_FINDING_NO_CHANGE && !isnan(distance)) {
			out[i].confidence = distance;
			out[i].by_quartiles = true;
		}
	}
	return flag_by_deviation(v, n, out);
}
