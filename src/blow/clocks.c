/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "stats/least_squares.h"

st_status
st_blow_clocks_add(struct st_blow *b, const struct st_blow_run *run)
{
	const size_t number = b->clock_runs++;
	for (size_t i = 0; i < run->samples.n && st_blow_is_good(run); i++) {
		const struct st_blow_sample *s = &run->samples.v[i];
		struct st_blow_clocked *c = ST_PUSH(&b->clocked);
		if (!c)
			return ST_FAILED;
		*c = (struct st_blow_clocked){(uint32_t)number, s->function, s->noises != 0, s->ns,
		                              s->noise_ns};
	}
	return ST_OK;
}

/* ---- functions ---- */

struct clocked_sum {
	bool any, open;
	double ns, cpu_ns;
};

static struct clocked_sum
sum_clocks(const struct st_blow *b, size_t run, uint32_t function)
{
	struct clocked_sum sum = {0};
	for (size_t i = 0; i < b->clocked.n; i++) {
		const struct st_blow_clocked *c = &b->clocked.v[i];
		if (c->run != run || c->function != function)
			continue;
		sum.any = true;
		sum.open |= c->open;
		sum.ns += (double)c->ns;
		sum.cpu_ns += (double)c->cpu_ns;
	}
	return sum;
}

/* The clocks are not the same to the nanosecond. */
static double
waited_ns(const struct clocked_sum *sum)
{
	return fmax(sum->ns - sum->cpu_ns, 0);
}

struct st_blow_waiting
st_blow_waiting_of(const struct st_blow *b, uint32_t function)
{
	struct st_blow_waiting w = {.cpu_ns = 0, .low = NAN, .high = NAN};
	double squares = 0, n = 0;
	for (size_t run = 0; run < b->clock_runs; run++) {
		const struct clocked_sum sum = sum_clocks(b, run, function);
		w.open |= sum.open;
		if (!sum.any || !(sum.ns > 0))
			continue;
		const double share = waited_ns(&sum) / sum.ns, off = share - w.share;
		n++;
		w.share += off / n;
		squares += off * (share - w.share);
		w.wait_ns += (waited_ns(&sum) - w.wait_ns) / n;
		w.cpu_ns += (sum.ns - waited_ns(&sum) - w.cpu_ns) / n;
	}
	w.runs = w.open ? 0 : (size_t)n;
	if (!w.runs) {
		w.cpu_ns = w.wait_ns = w.share = NAN;
		return w;
	}
	const double half = n > 1 ? st_student(0.95, n - 1) * sqrt(squares / (n - 1) / n) : NAN;
	if (!isnan(half)) {
		w.low = fmax(w.share - half, 0);
		w.high = fmin(w.share + half, 1);
	}
	return w;
}

struct st_blow_slope
st_blow_slope_part(const struct st_blow_slope *slope, const struct st_blow_waiting *w, bool on_cpu)
{
	struct st_blow_slope part = *slope;
	const double share = on_cpu ? 1 - w->share : w->share;
	if (slope->state)
		return part;
	/* The interval of the share may have been cut at one end. */
	const double of_share = fmax(w->high - w->share, w->share - w->low),
	             half = hypot(share * (slope->high - slope->at), slope->at * of_share);
	part.at = slope->at * share;
	part.low = part.at - half;
	part.high = part.at + half;
	return part;
}

/* ---- the run ---- */

/* Whether the run is one of those from which the slope of the function is computed. */
static bool
is_of_slope(const struct st_blow_run *r, uint32_t function)
{
	return st_blow_is_quiet(r) || (r->function == function && st_blow_is_good(r));
}

st_status
st_blow_find_effects(const struct st_blow *b, uint32_t function, struct st_blow_effects *out)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	struct st_blow_point *v = calloc(2 * b->runs.n + 1, sizeof *v);
	size_t n = 0;
	if (!v)
		return ST_FAILED;
	/* Both are put on the scale of the run time, so that their slopes add up to that of the
	 * run time. */
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (!is_of_slope(r, function))
			continue;
		const double ns = (double)st_blow_sum(r, function).ns,
		             more = (double)r->cpu_ns - base.cpu_ns,
		             longer = (double)r->total_ns - base.total_ns;
		const bool noisy = r->function == function;
		v[n] = (struct st_blow_point){ns, base.total_ns + more, noisy};
		v[b->runs.n + n++] =
		        (struct st_blow_point){ns, base.total_ns + longer - more, noisy};
	}
	out->cpu = st_blow_slope_of(v, n);
	out->waiting = st_blow_slope_of(v + b->runs.n, n);
	free(v);
	return ST_OK;
}
