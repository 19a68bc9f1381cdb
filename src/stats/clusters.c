/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Divides values into clusters at the minima of their density. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats/density.h"

/* VALUE_LEAST: occurrences of a value that is a cluster. */
enum { FEW_VALUES = 12, VALUE_LEAST = 6 };
static const double cluster_valley = 0.8;

void
st_clusters_free(struct st_clusters *c)
{
	free(c->list.v);
	*c = (struct st_clusters){0};
}

/* If there are few different values, and these are frequent, makes each a cluster. */
static st_status
cluster_values(const double *v, size_t n, size_t least, struct st_clusters *out, bool *done)
{
	size_t different = 1;
	*done = false;
	for (size_t i = 1; i < n && different <= FEW_VALUES; i++)
		different += v[i] != v[i - 1];
	if (different > FEW_VALUES || n < different * least)
		return ST_OK;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && v[to] == v[from];)
			to++;
		struct st_cluster *c = ST_PUSH(&out->list);
		if (!c)
			return ST_FAILED;
		*c = (struct st_cluster){.above = from ? v[from - 1] : -INFINITY,
		                         .to = to < n ? v[from] : INFINITY,
		                         .centre = v[from],
		                         .n = to - from};
	}
	*done = true;
	return ST_OK;
}

/* Indices of maxima and minima of the density, alternating; a maximum is first and last. */
struct cluster_turns {
	ST_VEC(size_t) list;
};

static st_status
cluster_find_turns(const struct st_density *d, struct cluster_turns *t)
{
	bool rising = true;
	for (size_t k = 1; k < ST_DENSITY_POINTS; k++) {
		const bool falls = d->at[k]<d->at[k - 1], rises = d->at[k]> d->at[k - 1];
		if (!(rising ? falls : rises))
			continue;
		size_t *turn = ST_PUSH(&t->list);
		if (!turn)
			return ST_FAILED;
		*turn = k - 1;
		rising = !rising;
	}
	if (t->list.n && t->list.n % 2 == 0)
		t->list.n--; /* rounding made it rise at the end */
	return ST_OK;
}

/* Removes the shallowest valley and the lower of its maxima until no valley is too shallow. */
static void
cluster_level(const struct st_density *d, struct cluster_turns *t)
{
	for (;;) {
		double shallowest = cluster_valley;
		size_t at = 0;
		for (size_t i = 1; i + 1 < t->list.n; i += 2) {
			const double left = d->at[t->list.v[i - 1]],
			             right = d->at[t->list.v[i + 1]];
			const double depth = d->at[t->list.v[i]] / fmin(left, right);
			if (depth >= shallowest) {
				shallowest = depth;
				at = i;
			}
		}
		if (!at)
			return;
		const bool left = d->at[t->list.v[at - 1]] <= d->at[t->list.v[at + 1]];
		const size_t from = left ? at - 1 : at;
		memmove(&t->list.v[from], &t->list.v[from + 2],
		        (t->list.n - from - 2) * sizeof *t->list.v);
		t->list.n -= 2;
	}
}

static st_status
cluster_add(struct st_clusters *out, const double *v, size_t from, size_t to, size_t n,
            double centre)
{
	struct st_cluster *c = ST_PUSH(&out->list);
	if (!c)
		return ST_FAILED;
	*c = (struct st_cluster){.above = from ? (v[from - 1] + v[from]) / 2 : -INFINITY,
	                         .to = to < n ? (v[to - 1] + v[to]) / 2 : INFINITY,
	                         .centre = centre,
	                         .n = to - from};
	return ST_OK;
}

/* Merges each cluster with too few values into the neighbour whose centre is nearer. */
static void
cluster_merge_small(struct st_clusters *c, size_t least)
{
	for (size_t i = 0; i < c->list.n && c->list.n > 1;) {
		struct st_cluster *v = c->list.v;
		if (v[i].n >= least) {
			i++;
			continue;
		}
		const double left = i ? v[i].centre - v[i - 1].centre : INFINITY,
		             right = i + 1 < c->list.n ? v[i + 1].centre - v[i].centre : INFINITY;
		const size_t to = left <= right ? i - 1 : i + 1, first = left <= right ? i - 1 : i;
		v[first] = (struct st_cluster){.above = v[first].above,
		                               .to = v[first + 1].to,
		                               .centre = v[to].centre,
		                               .n = v[first].n + v[first + 1].n};
		memmove(&v[first + 1], &v[first + 2], (c->list.n - first - 2) * sizeof *v);
		c->list.n--;
		i = 0;
	}
}

static st_status
cluster_divide(const struct st_density *d, const struct cluster_turns *t, const double *v, size_t n,
               struct st_clusters *out)
{
	const double step = (d->high - d->low) / (ST_DENSITY_POINTS - 1);
	size_t from = 0;
	for (size_t i = 0; i < t->list.n; i += 2) {
		const bool last = i + 1 >= t->list.n;
		const double end = last ? INFINITY : d->low + step * (double)t->list.v[i + 1];
		size_t to = from;
		while (to < n && v[to] <= end)
			to++;
		if (to > from &&
		    cluster_add(out, v, from, to, n, d->low + step * (double)t->list.v[i]))
			return ST_FAILED;
		from = to;
	}
	return out->list.n ? ST_OK : cluster_add(out, v, 0, n, n, v[n / 2]);
}

st_status
st_clusters_find(const double *v, size_t n, size_t least, struct st_clusters *out)
{
	struct st_density d = {0};
	struct cluster_turns t = {0};
	bool done;
	*out = (struct st_clusters){0};
	if (cluster_values(v, n, least, out, &done))
		return ST_FAILED;
	if (done) {
		cluster_merge_small(out, least < VALUE_LEAST ? least : VALUE_LEAST);
		return ST_OK;
	}
	st_status status =
	        st_density_find(v, n, &d) || cluster_find_turns(&d, &t) ? ST_FAILED : ST_OK;
	if (!status) {
		cluster_level(&d, &t);
		status = cluster_divide(&d, &t, v, n, out);
		cluster_merge_small(out, least);
	}
	free(t.list.v);
	st_density_free(&d);
	return status;
}
