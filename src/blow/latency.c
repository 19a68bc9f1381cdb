/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "blow/corpus.h"
#include "blow/progress.h"

/* ---- the user's list ---- */

/* Moves the last pattern of one list to another one. */
static st_status
move_pattern(struct st_patterns *from, struct st_patterns *to, struct st_error *e)
{
	const st_status status = st_patterns_add(to, "latency", from->text[from->n - 1], e);
	free((char *)from->text[--from->n]);
	return status;
}

st_status
st_blow_latency_add(struct st_blow_points *p, const char *value, struct st_error *e)
{
	struct st_blow_latency l = {0};
	if (st_patterns_add(&l.begin, "latency", value, e)) {
		st_patterns_free(&l.begin);
		return ST_FAILED;
	}
	l.same = l.begin.n == 1;
	st_status status = ST_OK;
	if (l.begin.n > 2)
		status = st_fail(e, ST_EXIT_USAGE,
		                 "--latency takes a function, or the functions BEGIN,END of a "
		                 "request, not '%s'",
		                 value);
	else if (!l.same)
		status = move_pattern(&l.begin, &l.end, e);
	if (!status)
		l.name = l.same ? st_text_of("latency of %s", l.begin.text[0])
		                : st_text_of("latency from %s to %s", l.begin.text[0],
		                             l.end.text[0]);
	struct st_blow_latency *slot = l.name ? ST_PUSH(&p->latencies) : NULL;
	if (slot) {
		*slot = l;
		return ST_OK;
	}
	free(l.name);
	st_patterns_free(&l.begin);
	st_patterns_free(&l.end);
	return status ? status : st_fail(e, ST_EXIT_FAILED, "out of memory");
}

/* ---- a run ---- */

struct st_flight *
st_blow_flights_new(const struct st_blow_points *p)
{
	const size_t n = p ? p->latencies.n : 0;
	struct st_flight *flights = calloc(n + 1, sizeof *flights);
	for (size_t i = 0; flights && i < n; i++)
		flights[i].same = p->latencies.v[i].same;
	return flights;
}

void
st_blow_flights_probe(struct st_flight *flights, const struct st_blow_points *p,
                      const struct st_blow_function *f, uint32_t number)
{
	for (size_t i = 0; p && i < p->latencies.n; i++) {
		const struct st_blow_latency *l = &p->latencies.v[i];
		if (st_blow_fits(f->name, f->raw_name, &l->begin))
			st_flight_add(&flights[i].begins, number);
		if (st_blow_fits(f->name, f->raw_name, &l->end))
			st_flight_add(&flights[i].ends, number);
	}
}

/* Sums the calls of the functions that end the latency. */
static struct st_blow_sample
sum_ends(const struct st_blow_latency *l, const struct st_blow *b, const struct st_blow_run *run)
{
	struct st_blow_sample sum = {0};
	for (uint32_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (f->progress != ST_BLOW_CALLS ||
		    !st_blow_fits(f->name, f->raw_name, l->same ? &l->begin : &l->end))
			continue;
		const struct st_blow_sample s = st_blow_sum(run, i);
		sum.calls += s.calls;
		sum.ns += s.ns;
	}
	return sum;
}

static uint64_t
ns_of_seconds(double seconds)
{
	return seconds > 0 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static st_status
end_flight(const struct st_flight *flight, const struct st_blow_latency *l, const struct st_blow *b,
           uint32_t point, struct st_blow_run *run)
{
	struct st_blow_sample s = sum_ends(l, b, run);
	if (!s.calls)
		return ST_OK;
	s.function = point;
	s.ns = l->same ? s.ns : ns_of_seconds(flight->seconds);
	s.noise_ns = ns_of_seconds(flight->saved);
	struct st_blow_sample *slot = ST_PUSH(&run->samples);
	if (!slot)
		return ST_FAILED;
	*slot = s;
	return ST_OK;
}

st_status
st_blow_flights_end(const struct st_flight *flights, const struct st_blow_points *p,
                    const struct st_blow *b, struct st_blow_run *run)
{
	st_status status = ST_OK;
	for (size_t i = 0; p && i < p->latencies.n && !status; i++) {
		st_blow_sort_samples(run); /* st_blow_sum needs it */
		for (uint32_t k = 0; k < b->functions.n && !status; k++)
			if (b->functions.v[k].progress == ST_BLOW_LATENCY &&
			    !strcmp(b->functions.v[k].name, p->latencies.v[i].name))
				status = end_flight(&flights[i], &p->latencies.v[i], b, k, run);
	}
	st_blow_sort_samples(run);
	return status;
}

/* ---- results ---- */

struct st_blow_mean_latency
st_blow_latency_of(const struct st_blow *b, uint32_t point)
{
	struct st_blow_mean_latency mean = {.sd = NAN};
	double squares = 0;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		const struct st_blow_sample s = st_blow_sum(r, point);
		const double total = (double)r->total_ns;
		if (!st_blow_is_quiet(r) || !s.calls || !(total > 0))
			continue;
		const double n = (double)++mean.runs,
		             off = (double)s.ns / (double)s.calls - mean.ns;
		mean.ns += off / n;
		squares += off * ((double)s.ns / (double)s.calls - mean.ns);
		mean.in_flight += ((double)s.ns / total - mean.in_flight) / n;
		mean.rate += ((double)s.calls / total * 1e9 - mean.rate) / n;
	}
	if (mean.runs > 1)
		mean.sd = sqrt(squares / (double)(mean.runs - 1));
	return mean;
}
