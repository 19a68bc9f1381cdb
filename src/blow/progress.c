/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/progress.h"

#include <math.h>
#include <stdlib.h>

#include "blow/points.h"

/* ---- points ---- */

static bool
is_progress_point(const struct st_blow_function *f)
{
	return f->progress != ST_BLOW_NO_POINT && f->progress != ST_BLOW_BEGINS;
}

size_t
st_blow_points(const struct st_blow *b)
{
	size_t n = !b->cut;
	for (size_t i = 0; i < b->functions.n; i++)
		n += is_progress_point(&b->functions.v[i]);
	return n;
}

uint32_t
st_blow_point_at(const struct st_blow *b, size_t n)
{
	for (uint32_t i = 0; i < b->functions.n; i++)
		if (is_progress_point(&b->functions.v[i]) && !n--)
			return i;
	return ST_BLOW_NONE;
}

bool
st_blow_point_is_inferred(const struct st_blow *b, uint32_t point)
{
	return point == ST_BLOW_NONE || b->functions.v[point].traits & ST_BLOW_IS_INFERRED;
}

const char *
st_blow_point_name(const struct st_blow *b, uint32_t point)
{
	return point == ST_BLOW_NONE ? "end of the run" : b->functions.v[point].name;
}

enum st_blow_point_kind
st_blow_point_kind(const struct st_blow *b, uint32_t point)
{
	return point == ST_BLOW_NONE ? ST_BLOW_NO_POINT : b->functions.v[point].progress;
}

/* ---- times ---- */

/* The pauses that count for the point, ns. */
static uint64_t
paid_until(const struct st_blow_run *r, uint32_t point)
{
	uint64_t most = 0;
	if (r->function == ST_BLOW_NONE)
		return 0;
	if (point == ST_BLOW_NONE)
		return st_blow_sum(r, r->function).noise_ns;
	for (size_t i = 0; i < r->samples.n; i++)
		if (r->samples.v[i].function == point && r->samples.v[i].noise_ns > most)
			most = r->samples.v[i].noise_ns;
	return most;
}

/* The mean time of a request, as with the speed-up; NAN: there was none. */
static double
latency_in_run(const struct st_blow_run *r, uint32_t point)
{
	const struct st_blow_sample s = st_blow_sum(r, point);
	return s.calls ? fmax((double)s.ns - (double)s.noise_ns, 0) / (double)s.calls : NAN;
}

/* ns per call; NAN: there was no call, so the run has no such time. */
static double
time_of_point(const struct st_blow *b, const struct st_blow_run *r, uint32_t point)
{
	if (st_blow_point_kind(b, point) == ST_BLOW_LATENCY)
		return latency_in_run(r, point);
	const double ns = (double)r->total_ns - (double)paid_until(r, point),
	             calls = point == ST_BLOW_NONE ? 1 : (double)st_blow_sum(r, point).calls;
	return calls > 0 ? ns / calls : NAN;
}

st_status
st_blow_estimate_gain(const struct st_blow *b, uint32_t point, uint32_t function, uint64_t percent,
                      struct st_blow_gain *out)
{
	double *without = calloc(b->runs.n + 1, sizeof *without),
	       *with = calloc(b->runs.n + 1, sizeof *with);
	size_t n_without = 0, n_with = 0;
	const st_status status = without && with ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < b->runs.n && !status; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		const double time = time_of_point(b, r, point);
		if (isnan(time))
			continue;
		if (st_blow_is_quiet(r))
			without[n_without++] = time;
		else if (r->function == function && st_blow_is_good(r) &&
		         r->noise.type == ST_BLOW_VIRTUAL && r->noise.strength == percent)
			with[n_with++] = time;
	}
	if (!status)
		*out = st_blow_gain_of(without, n_without, with, n_with);
	free(without);
	free(with);
	return status;
}

/* Whether the point cannot change by more than the function. A latency and a metric may. */
static bool
has_bound(const struct st_blow *b, uint32_t point)
{
	const enum st_blow_point_kind kind = st_blow_point_kind(b, point);
	return kind != ST_BLOW_LATENCY && kind != ST_BLOW_SOURCE;
}

double
st_blow_most_gain(const struct st_blow *b, uint32_t point, double speedup)
{
	return has_bound(b, point) ? speedup : 1; /* no time becomes less than 0 */
}

/* Leaves out what is not possible: a gain greater than `most`, and a loss greater than `least`. */
static void
cut_gain(struct st_blow_gain *g, double least, double most)
{
	g->at = g->at > most ? most : g->at;
	g->high = g->high > most ? most : g->high;
	g->low = g->low < least ? least : g->low > most ? most : g->low;
}

/* Whether the speed-up can bring the gain, within the error. */
static bool
is_gain_possible(const struct st_blow *b, uint32_t point, const struct st_blow_gain *g,
                 double speedup)
{
	if (isnan(g->at) || !has_bound(b, point))
		return true;
	return g->at >= -speedup &&
	       (g->at <= speedup || (g->low <= speedup && g->at - g->low <= speedup));
}

st_status
st_blow_find_gain(const struct st_blow *b, uint32_t point, uint32_t function, uint64_t percent,
                  struct st_blow_gain *out)
{
	enum { LEAST_RUNS = 2 };
	static const double most_alone = 0.3; /* runs differ by about a tenth then */
	if (st_blow_estimate_gain(b, point, function, percent, out))
		return ST_FAILED;
	const double speedup = (double)percent / 100, most = st_blow_most_gain(b, point, speedup);
	if (!is_gain_possible(b, point, out, speedup))
		*out = (struct st_blow_gain){out->runs, NAN, NAN, NAN, true};
	else if (out->runs < LEAST_RUNS && out->at - out->low > most_alone)
		out->low = out->high = NAN;
	cut_gain(out, has_bound(b, point) ? -speedup : -INFINITY, most);
	return ST_OK;
}

st_status
st_blow_find_control(const struct st_blow *b, uint32_t point, struct st_blow_gain *out)
{
	double *times[2] = {calloc(b->runs.n + 1, sizeof **times),
	                    calloc(b->runs.n + 1, sizeof **times)};
	size_t n[2] = {0, 0}, nth = 0;
	const st_status status = times[0] && times[1] ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < b->runs.n && !status; i++) {
		const double time = time_of_point(b, &b->runs.v[i], point);
		if (!st_blow_is_quiet(&b->runs.v[i]) || isnan(time))
			continue;
		times[nth % 2][n[nth % 2]++] = time;
		nth++;
	}
	if (!status)
		*out = st_blow_gain_of(times[0], n[0], times[1], n[1]);
	if (!status)
		cut_gain(out, -INFINITY, 1);
	free(times[0]);
	free(times[1]);
	return status;
}

/* ---- throughput ---- */

static double
increase_of(double decrease)
{
	return decrease < 1 ? decrease / (1 - decrease) : NAN;
}

struct st_blow_gain
st_blow_throughput_of(struct st_blow_gain gain)
{
	return (struct st_blow_gain){gain.runs, increase_of(gain.at), increase_of(gain.low),
	                             increase_of(gain.high), gain.noisy};
}

struct st_blow_gain
st_blow_point_gain(const struct st_blow *b, uint32_t point, struct st_blow_gain gain)
{
	const enum st_blow_point_kind kind = st_blow_point_kind(b, point);
	return kind == ST_BLOW_NO_POINT || kind == ST_BLOW_LATENCY ? gain
	                                                           : st_blow_throughput_of(gain);
}

struct st_blow_rate
st_blow_rate_of(const struct st_blow *b, uint32_t point)
{
	struct st_blow_rate rate = {0, 0, NAN};
	const double second =
	        st_blow_point_kind(b, point) == ST_BLOW_SOURCE ? 1e9 / ST_BLOW_SOURCE_UNIT : 1e9;
	double squares = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const double time = time_of_point(b, &b->runs.v[i], point);
		if (!st_blow_is_quiet(&b->runs.v[i]) || isnan(time) || time <= 0)
			continue;
		/* The mean and the squares of the differences from it, updated by each value. */
		const double off = second / time - rate.at;
		rate.at += off / (double)++rate.runs;
		squares += off * (second / time - rate.at);
	}
	if (rate.runs > 1)
		rate.sd = sqrt(squares / (double)(rate.runs - 1));
	return rate;
}
