/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs that are 0 or more cannot fall by more than all of them: where the interval of a change
 * ends. */
#include <math.h>

#include "check/bounds.h"

static bool
bounds_are_positive(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0)
			return false;
	return true;
}

static bool
bounds_item_is_positive(const struct st_check_item *item)
{
	if (!item)
		return true;
	for (size_t i = 0; i < item->series.n; i++)
		if (!bounds_are_positive(item->series.v[i]->values, item->series.v[i]->n))
			return false;
	return bounds_are_positive(item->runs.v, item->runs.n);
}

/* Whether both versions have no cost below 0. */
static bool
bounds_apply(const struct st_finding *f)
{
	for (int side = 0; side < ST_SIDES; side++)
		if (f->subject
		            ? !bounds_item_is_positive(f->subject->item[side])
		            : !bounds_are_positive(f->total->runs[side].v, f->total->runs[side].n))
			return false;
	return true;
}

void
st_finding_bound(struct st_finding *f)
{
	/* The cost that the relative change refers to. */
	const double base = f->rate.at != 0 ? f->rate.at / f->relative : f->from;
	if (isnan(f->relative) || !(base > 0) || !(f->rate.low < -base) || !bounds_apply(f))
		return;
	f->rate.low = fmin(-base, f->rate.at);
	f->rate.high = fmax(f->rate.high, f->rate.low);
}
