/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The density of values by a kernel estimate whose bandwidth follows the data: a mixture of normal
 * distributions that expectation and maximisation fit, smoothed by a width that is chosen anew in
 * each round (the adaptive estimator by diffusion of Botev, Grotowski and Kroese, Annals of
 * Statistics 38 (2010), 2916, in the form that Botev published as akde1d). Here it begins at
 * quantiles instead of at random places, so that the same values have the same density; and values
 * are counted in cells of a fine grid first, so that the time does not grow with their number.
 * The clusters of the values lie between the minima of the density.
 */
#ifndef STROBE_STATS_DENSITY_H
#define STROBE_STATS_DENSITY_H

#include <stddef.h>

#include "base/status.h"
#include "base/vec.h"

enum { ST_DENSITY_POINTS = 4096 };

struct st_density {
	double low, high; /* the first and the last point */
	double *at; /* ST_DENSITY_POINTS of them, evenly from low to high; the integral is 1 */
};

/* Of n > 0 finite values in any order. ST_FAILED: no memory. The caller frees in both cases. */
st_status st_density_find(const double *v, size_t n, struct st_density *d);
void st_density_free(struct st_density *d);

/* Values above `above` and up to `to`; the first begins at -infinity, the last ends at infinity. */
struct st_cluster {
	double above, to;
	double centre; /* where the density is greatest, or the value that all of them have */
	size_t n;
};

struct st_clusters {
	ST_VEC(struct st_cluster) list; /* in the order of the values */
};

/*
 * Each maximum of the density is a cluster, if the valley to the next one is less than 0.8 of the
 * lower of both, and if it has `least` of the values. Where there are few different values, such as
 * counts, each is a cluster. v: n values, sorted. ST_FAILED: no memory. The caller frees in both
 * cases.
 */
st_status st_clusters_find(const double *v, size_t n, size_t least, struct st_clusters *out);
void st_clusters_free(struct st_clusters *c);

#endif
