/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `average-amount`: the mean cost of a call, and the cost of all calls, by a factor. */
#include <math.h>

#include "check/by_models.h"

/* Perun's factor of a change, and the factor from which a change beyond the noise is possible. */
#define AVERAGE_FULL 2.0
#define AVERAGE_MAYBE 1.1

struct average {
	double mean, error; /* of one call, and its standard error */
	double sum;         /* of a run */
};

static st_status
average_of(const struct st_check_item *item, struct average *out)
{
	struct st_check_points p = {0};
	const double *v = item->runs.v;
	size_t n = item->runs.n;
	out->sum = n ? st_mean(v, n) : 0;
	if (item->series.n) {
		if (st_check_points_of(&p, item, "sequence", 0)) {
			st_check_points_free(&p);
			return ST_FAILED;
		}
		v = p.y;
		n = p.n;
	}
	out->mean = n ? st_mean(v, n) : 0;
	out->error = n > 1 ? st_sd(v, n) / sqrt((double)n) : NAN;
	st_check_points_free(&p);
	return ST_OK;
}

static double
factor_of(double from, double to)
{
	return from == to ? 1 : from == 0 ? INFINITY : to / from;
}

/* About 95 % of all differences by chance are within two standard errors. */
static bool
is_beyond_noise(const struct average *a, const struct average *b)
{
	const double error = hypot(a->error, b->error);
	return !isnan(error) && fabs(b->mean - a->mean) > 2 * error;
}

static void
judge_factor(struct st_finding *f, double factor, bool beyond_noise)
{
	const double size = factor < 1 ? 1 / factor : factor;
	f->kind = ST_FINDING_NO_CHANGE;
	if (size >= AVERAGE_FULL)
		f->kind = ST_FINDING_DEGRADATION;
	else if (size >= AVERAGE_MAYBE && beyond_noise)
		f->kind = ST_FINDING_MAYBE_DEGRADATION;
	if (factor < 1)
		f->kind = st_finding_mirror(f->kind);
	f->confidence = factor;
	f->confidence_kind = "factor";
}

/* Compares the one that changed by the greater factor: the cost of a call, or that of all calls. */
static void
compare_averages(struct st_finding *f, const struct average *a, const struct average *b)
{
	const double call = factor_of(a->mean, b->mean), all = factor_of(a->sum, b->sum);
	const bool by_call = fabs(log(call)) >= fabs(log(all));
	const double error = 2 * hypot(a->error, b->error);
	f->type = by_call ? "cost of a call" : "cost of all calls";
	f->from = by_call ? a->mean : a->sum;
	f->to = by_call ? b->mean : b->sum;
	f->rate = (struct st_interval){f->to - f->from, NAN, NAN};
	if (by_call && !isnan(error)) {
		f->rate.low = f->rate.at - error;
		f->rate.high = f->rate.at + error;
	}
	f->relative = f->from != 0 ? f->rate.at / fabs(f->from) : NAN;
	judge_factor(f, by_call ? call : all, is_beyond_noise(a, b));
}

st_status
st_check_by_average(struct st_check_result *out, const struct st_check_how *how)
{
	const struct st_check_subjects *all = out->subjects;
	(void)how;
	for (size_t i = 0; i < all->list.n; i++) {
		struct st_finding *f = st_check_add(out, &all->list.v[i], ST_CHECK_average);
		struct average a, b;
		if (!f)
			return ST_FAILED;
		if (st_finding_set_new_or_gone(f))
			continue;
		if (average_of(f->subject->item[ST_A], &a) ||
		    average_of(f->subject->item[ST_B], &b))
			return ST_FAILED;
		compare_averages(f, &a, &b);
	}
	return ST_OK;
}
