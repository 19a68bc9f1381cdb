/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the experiment whose calls are recorded, and repeats it. */
#include "blow/timeline.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blow/progress.h"

void
st_blow_timeline_free(struct st_blow_timeline *t)
{
	if (!t)
		return;
	free(t->threads.v);
	free(t->functions.v);
	free(t->slices.v);
	free(t);
}

/* ---- the choice ---- */

static bool
is_timeline_candidate(const struct st_blow_function *f, const char *which)
{
	return f->chosen && (!which || !strcmp(which, f->name) || !strcmp(which, f->raw_name) ||
	                     !fnmatch(which, f->name, 0) || !fnmatch(which, f->raw_name, 0));
}

/* NAN: the indicator is not known. */
static double
indicator_of_run(const struct st_blow *b, const struct st_blow_baseline *base,
                 const struct st_blow_finding *f, const struct st_blow_run *r)
{
	if (b->speedup)
		return st_blow_opportunity(b, r, f->mean_ns);
	return st_blow_influence_of((double)r->total_ns, base->total_ns,
	                            (double)st_blow_sum(r, r->function).ns, f->calls * f->mean_ns)
	        .influence;
}

struct best {
	struct st_blow_run run;
	double indicator; /* NAN: there is none */
};

static void
take_if_better(struct best *best, uint32_t function, struct st_blow_noise noise, double indicator)
{
	if (isnan(indicator) || indicator <= best->indicator)
		return;
	best->run = (struct st_blow_run){.function = function, .noise = noise};
	best->indicator = indicator;
}

/* -1: memory is exhausted. */
static st_status
find_best_gain(const struct st_blow *b, uint32_t function, struct best *best)
{
	for (uint64_t percent = 1; percent <= 100; percent++) {
		struct st_blow_gain g;
		if (st_blow_find_gain(b, st_blow_point_at(b, 0), function, percent, &g))
			return ST_FAILED;
		if (g.runs)
			take_if_better(best, function,
			               (struct st_blow_noise){ST_BLOW_VIRTUAL, percent}, g.at);
	}
	return ST_OK;
}

static st_status
find_best_of(const struct st_blow *b, uint32_t function, struct best *best)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	struct st_blow_finding f;
	if (b->causal)
		return find_best_gain(b, function, best);
	if (st_blow_find(b, function, &f))
		return ST_FAILED;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (r->function == function && st_blow_is_good(r))
			take_if_better(best, function, r->noise, indicator_of_run(b, &base, &f, r));
	}
	return ST_OK;
}

bool
st_blow_best(const struct st_blow *b, const char *which, struct st_blow_run *out, double *indicator)
{
	struct best best = {.run = {.function = ST_BLOW_NONE}, .indicator = -INFINITY};
	for (uint32_t i = 0; i < b->functions.n; i++)
		if (is_timeline_candidate(&b->functions.v[i], which) && find_best_of(b, i, &best))
			return false;
	*out = best.run;
	*indicator = best.indicator;
	return best.run.function != ST_BLOW_NONE;
}

/* ---- the repetition ---- */

/* Seconds. The repetition has more probes than the experiment, so that it may take longer. */
static double
limit_of_recording(const struct st_blow_options *o, const struct st_blow *b,
                   const struct st_blow_run *best)
{
	uint64_t longest = 0;
	if (o->how.limit > 0 || o->how.duration > 0)
		return o->how.limit;
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (r->function == best->function && r->total_ns > longest)
			longest = r->total_ns;
	}
	return 10 + 10 * (double)longest * 1e-9;
}

st_status
st_blow_record(const struct st_blow_options *o, struct st_blow *b, const char *which,
               struct st_error *e)
{
	struct st_blow_how how = o->how;
	struct st_blow_run run;
	double indicator;
	if (!st_blow_best(b, which, &run, &indicator))
		return ST_OK;
	const struct st_blow_run best = run;
	how.records = true;
	how.limit = limit_of_recording(o, b, &best);
	const struct st_blow_state state = {.next = run.function, .seconds_left = NAN};
	if (o->show)
		o->show(o->arg, b, &state);
	st_blow_timeline_free(b->timeline);
	b->timeline = NULL;
	const st_status status = st_blow_run_recorded(&how, b, &run, e);
	const bool stopped = o->interrupted && o->interrupted(o->arg);
	if (b->timeline && !status && !stopped) {
		b->timeline->function = best.function;
		b->timeline->noise = best.noise;
		b->timeline->indicator = indicator;
		b->timeline->fault = run.fault;
		b->timeline->total_ns = run.total_ns;
	} else {
		st_blow_timeline_free(b->timeline);
		b->timeline = NULL;
	}
	st_blow_run_clear(&run);
	return stopped ? ST_OK : status;
}
