/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/change_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct search {
	const double *v;
	double *shuffled;
	size_t least, rounds;
	double alpha;
	uint64_t seed;
	struct st_change_point *found;
	size_t n_found;
};

/* The sums of distances: within both parts, and between them. */
struct distances {
	double before, after, between;
};

/* Moves value t from behind the split to before it. */
static void
move_split(struct distances *d, const double *v, size_t n, size_t t)
{
	double to_before = 0, to_after = 0;
	for (size_t i = 0; i < t; i++)
		to_before += fabs(v[i] - v[t]);
	for (size_t i = t + 1; i < n; i++)
		to_after += fabs(v[i] - v[t]);
	d->before += to_before;
	d->after -= to_after;
	d->between += to_after - to_before;
}

/* The energy distance of the parts, scaled by their sizes. */
static double
energy(const struct distances *d, double m, double n)
{
	const double e = 2 / (m * n) * d->between - 2 / (m * (m - 1)) * d->before -
	                 2 / (n * (n - 1)) * d->after;
	return m * n / (m + n) * e;
}

/* The best split of n values: the size of the first part; 0: they are too few. */
static size_t
best_split(const double *v, size_t n, size_t least, double *most)
{
	struct distances d = {0};
	size_t best = 0;
	*most = -INFINITY;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			d.after += fabs(v[i] - v[k]);
	for (size_t t = 0; t + least < n; t++) {
		move_split(&d, v, n, t);
		if (t + 1 < least)
			continue;
		const double now = energy(&d, (double)(t + 1), (double)(n - t - 1));
		if (now > *most) {
			*most = now;
			best = t + 1;
		}
	}
	return best;
}

static void
shuffle_values(double *v, size_t n, uint64_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		const size_t k = st_random_below(seed, i);
		const double moved = v[i - 1];
		v[i - 1] = v[k];
		v[k] = moved;
	}
}

/* Stops as soon as it is clear that the split is no change. */
static double
probability_of_split(struct search *s, size_t from, size_t n, double seen)
{
	size_t hits = 1;
	memcpy(s->shuffled, s->v + from, n * sizeof *s->v);
	for (size_t round = 0; round < s->rounds; round++) {
		double most;
		shuffle_values(s->shuffled, n, &s->seed);
		best_split(s->shuffled, n, s->least, &most);
		hits += most >= seen;
		if ((double)hits > s->alpha * (double)(s->rounds + 1))
			return 1;
	}
	return (double)hits / (double)(s->rounds + 1);
}

static void
search_segment(struct search *s, size_t from, size_t n)
{
	double most;
	const size_t split = n >= 2 * s->least ? best_split(s->v + from, n, s->least, &most) : 0;
	if (!split || !(most > 0))
		return;
	const double p = probability_of_split(s, from, n, most);
	if (p > s->alpha)
		return;
	search_segment(s, from, split);
	s->found[s->n_found++] = (struct st_change_point){from + split, p};
	search_segment(s, from + split, n - split);
}

st_status
st_change_points(const double *v, size_t n, size_t least, size_t rounds, double alpha,
                 uint64_t seed, struct st_change_point *changes, size_t *n_changes)
{
	struct search s = {.v = v,
	                   .shuffled = malloc((n + 1) * sizeof *v),
	                   .least = least,
	                   .rounds = rounds,
	                   .alpha = alpha,
	                   .seed = seed,
	                   .found = changes};
	*n_changes = 0;
	if (!s.shuffled || least < 2) {
		free(s.shuffled);
		return ST_FAILED;
	}
	search_segment(&s, 0, n);
	*n_changes = s.n_found;
	free(s.shuffled);
	return ST_OK;
}
