/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Estimates the density of values with an adaptive bandwidth: expectation maximisation fits a
 * mixture of normal distributions, smoothed by a width that each round chooses again (the adaptive
 * diffusion estimator of Botev, Grotowski and Kroese, Annals of Statistics 38 (2010), 2916, in the
 * form that Botev published as akde1d). There are two differences: the mixture begins at quantiles
 * instead of random points, so that the same values give the same density; and values are first
 * counted in the cells of a fine grid, so that the time of a round does not grow with their number.
 * Clusters of values lie between the minima of the density.
 */
#ifndef STROBE_STATS_DENSITY_H
#define STROBE_STATS_DENSITY_H

#include <stddef.h>

#include "base/status.h"
#include "base/vec.h"

enum { ST_DENSITY_POINTS = 4096 };

struct st_density {
	double low, high; /* the first and the last point */
	double *at;       /* at ST_DENSITY_POINTS even points from low to high; the integral is 1 */
};

/* Estimates the density of n > 0 finite values in any order. ST_FAILED: no memory. The caller frees
 * `d` in both cases. */
st_status st_density_find(const double *v, size_t n, struct st_density *d);
void st_density_free(struct st_density *d);

/* Values above `above` and up to `to`; the first begins at -infinity, the last ends at infinity. */
struct st_cluster {
	double above, to;
	double centre; /* the maximum of the density, or the only value */
	size_t n;
};

struct st_clusters {
	ST_VEC(struct st_cluster) list; /* in the order of the values */
};

/*
 * Each maximum of the density is a cluster if it has at least `least` values and the valley to the
 * next maximum is below 0.8 of the lower of the two. If there are few different values, such as
 * counts, each that occurs at least six times is a cluster. v: n sorted values. ST_FAILED: no
 * memory. The caller frees `out` in both cases.
 */
st_status st_clusters_find(const double *v, size_t n, size_t least, struct st_clusters *out);
void st_clusters_free(struct st_clusters *c);

#endif
