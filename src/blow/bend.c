/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the gain of a function bends: there, something else begins to limit the program. */
#include <math.h>

#include "blow/progress.h"

/* The intervals of three speed-ups are looked at, so each has to leave out 0 with a probability of
 * 98.3 % in place of 95 %: 2.39 in place of 1.96 standard errors. */
static const double of_three = 1.22;

struct st_blow_bend
st_blow_bend_of(const struct st_blow_tried_gain *gains, size_t n)
{
	struct st_blow_bend bend = {0, NAN, NAN};
	double most = of_three;
	if (n < 2 || isnan(gains[n - 1].gain.high))
		return bend;
	const struct st_blow_tried_gain *last = &gains[n - 1];
	const double end = (double)last->percent / 100;
	for (size_t i = 0; i + 1 < n; i++) {
		const struct st_blow_gain *g = &gains[i].gain;
		const double at = (double)gains[i].percent / 100, left = end - at;
		if (isnan(g->high) || gains[i].percent >= last->percent)
			continue;
		const double before = g->at / at, after = (last->gain.at - g->at) / left,
		             own = (g->high - g->at) * (1 / at + 1 / left),
		             other = (last->gain.high - last->gain.at) / left,
		             distance = fabs(before - after) / hypot(own, other);
		if (!(distance > most))
			continue;
		most = distance;
		bend = (struct st_blow_bend){gains[i].percent, before, after};
	}
	return bend;
}

st_status
st_blow_find_bend(const struct st_blow *b, uint32_t point, uint32_t function,
                  struct st_blow_bend *out)
{
	struct st_blow_tried_gain gains[4];
	size_t n = 0;
	for (uint64_t percent = 25; percent <= 100; percent += 25) {
		gains[n].percent = percent;
		if (st_blow_find_gain(b, point, function, percent, &gains[n].gain))
			return ST_FAILED;
		n += gains[n].gain.runs > 0;
	}
	*out = st_blow_bend_of(gains, n);
	return ST_OK;
}
