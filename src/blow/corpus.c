/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/corpus.h"

#include <string.h>

#include "blow/contexts.h"
#include "blow/points.h"
#include "trace/choose.h"

double
st_blow_mean(const struct st_blow_function *f)
{
	return f->calls ? (double)f->ns / (double)f->calls : 0;
}

const char *
st_blow_criterion_name(enum st_blow_criterion c)
{
	static const char *const names[] = {
#define C(id, name, code) [ST_BLOW_BY_CRITERION_##id] = name,
	        ST_BLOW_CRITERIA(C)
#undef C
	};
	return names[c];
}

bool
st_blow_criteria_read_code(uint32_t which)
{
#define C(id, name, code) | (uint32_t)(code) << ST_BLOW_BY_CRITERION_##id
	return which & (0 ST_BLOW_CRITERIA(C));
#undef C
}

/* Of several models of a function, as for several metrics, one that is not constant suffices.
 * Without a model, the code decides. */
static bool
is_complex(const struct st_blow_function *f, const struct st_blow_criteria *c)
{
	const struct st_function named = {.name = f->name};
	bool has_model = false;
	for (size_t i = 0; i < c->models.n; i++) {
		const struct st_blow_complexity *m = &c->models.v[i];
		if (strcmp(f->name, m->function) != 0 && !st_trace_is_named(&named, m->function))
			continue;
		if (!m->constant)
			return true;
		has_model = true;
	}
	return !has_model && !(f->traits & ST_BLOW_CONSTANT);
}

/* The criteria that the function meets, as bits. */
static uint32_t
criteria_met(const struct st_blow_function *f, const struct st_blow_criteria *c)
{
	const bool met[ST_BLOW_CRITERION_COUNT] = {
	        [ST_BLOW_BY_CRITERION_CALLS] = f->calls >= c->calls,
	        [ST_BLOW_BY_CRITERION_TIME] = st_blow_mean(f) >= (double)c->ns,
	        [ST_BLOW_BY_CRITERION_SITES] = f->sites >= c->sites,
	        [ST_BLOW_BY_CRITERION_COMPLEXITY] = is_complex(f, c),
	        [ST_BLOW_BY_CRITERION_IO] = f->traits & ST_BLOW_DOES_IO,
	        [ST_BLOW_BY_CRITERION_LOCKS] = f->traits & ST_BLOW_USES_LOCKS};
	uint32_t bits = 0;
	for (uint32_t i = 0; i < ST_BLOW_CRITERION_COUNT; i++)
		if (c->which >> i & 1 && met[i])
			bits |= 1u << i;
	return bits;
}

bool
st_blow_fits(const char *name, const char *raw_name, const struct st_patterns *patterns)
{
	const struct st_function named = {.name = name};
	for (size_t i = 0; i < patterns->n; i++)
		if (!strcmp(patterns->text[i], raw_name) ||
		    st_trace_fits_name(&named, patterns->text[i]))
			return true;
	return false;
}

/* Whether the criteria choose the function, or the location within one. */
static bool
is_chosen_function(const struct st_blow_function *f, const struct st_blow_criteria *c)
{
	if (f->why || f->progress || !f->calls || f->traits & ST_BLOW_IS_CALLER)
		return false;
	return f->traits & ST_BLOW_IS_INSIDE || (!c->only_inside && (c->all || f->met));
}

static bool
is_chosen_target(const struct st_blow *b, const struct st_blow_function *f,
                 const struct st_blow_criteria *c)
{
	const uint32_t by = c->by ? c->by : 1u << ST_BLOW_TARGET_FUNCTION;
	if (f->traits & ST_BLOW_IS_SAMPLED)
		return f->calls > 0; /* others are not in the list */
	if (!(f->traits & ST_BLOW_IS_CONTEXT))
		return (f->traits & ST_BLOW_IS_INSIDE || by >> ST_BLOW_TARGET_FUNCTION & 1) &&
		       is_chosen_function(f, c);
	const struct st_blow_function *callee = &b->functions.v[f->callee];
	return (by >> ST_BLOW_TARGET_CONTEXT & 1 && is_chosen_function(callee, c)) ||
	       (!callee->progress && st_blow_locations_call(c->called, b, f));
}

/* The time of the longest function, which is that of the run if main has a probe. That of a short
 * program is mostly its start, of which no function is told. */
static double
longest_ns(const struct st_blow *b)
{
	static const double start_ns = 1e6;
	double most = start_ns;
	for (size_t i = 0; i < b->functions.n; i++)
		if ((double)b->functions.v[i].ns > most)
			most = (double)b->functions.v[i].ns;
	return most;
}

struct st_blow_frequent
st_blow_frequent_of(const struct st_blow *b)
{
	struct st_blow_frequent f = {0, UINT64_MAX, 0};
	for (size_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *one = &b->functions.v[i];
		if (!(one->traits & ST_BLOW_IS_FREQUENT))
			continue;
		f.n++;
		f.calls = one->calls < f.calls ? one->calls : f.calls;
		f.share += (double)one->calls * ST_BLOW_PROBE_NS / longest_ns(b);
	}
	return f;
}

/* By descending time; of equal times in the order of the list. */
static bool
comes_before(const struct st_blow_function *a, const struct st_blow_function *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a < b);
}

const struct st_blow_function *
st_blow_next_frequent(const struct st_blow *b, const struct st_blow_function *after)
{
	const struct st_blow_function *next = NULL;
	for (size_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (f->traits & ST_BLOW_IS_FREQUENT && (!after || comes_before(after, f)) &&
		    (!next || comes_before(f, next)))
			next = f;
	}
	return next;
}

double
st_blow_selected_share(const struct st_blow *b, const struct st_blow_function *f)
{
	return (double)f->ns / longest_ns(b);
}

/* Locations and contexts are what the user has asked for, and samples have no probes. */
static bool
may_be_left_out(const struct st_blow_function *f)
{
	return f->chosen && !(f->traits & ST_BLOW_IS_PART);
}

/* Leaves out the functions with most calls until the probes of the others are cheap enough. Their
 * number is small, so each is looked for. Returns how many there are. */
static size_t
leave_out_frequent(struct st_blow *b, const struct st_blow_criteria *c)
{
	const double most = c->probes * (c->run_ns > 0 ? c->run_ns : longest_ns(b));
	double cost = 0;
	size_t n = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		if (may_be_left_out(&b->functions.v[i]))
			cost += (double)b->functions.v[i].calls * ST_BLOW_PROBE_NS;
	while (cost > most) {
		struct st_blow_function *top = NULL;
		for (size_t i = 0; i < b->functions.n; i++)
			if (may_be_left_out(&b->functions.v[i]) &&
			    (!top || b->functions.v[i].calls > top->calls))
				top = &b->functions.v[i];
		if (!top)
			break;
		cost -= (double)top->calls * ST_BLOW_PROBE_NS;
		top->chosen = false;
		top->traits |= ST_BLOW_IS_FREQUENT;
		n++;
	}
	return n;
}

size_t
st_blow_choose(struct st_blow *b, const struct st_blow_criteria *criteria)
{
	size_t n = 0;
	for (size_t i = 0; i < b->functions.n; i++) {
		struct st_blow_function *f = &b->functions.v[i];
		const bool is_part = f->traits & ST_BLOW_IS_PART;
		if (!(f->traits & ST_BLOW_IS_TARGET))
			f->progress = st_blow_points_kind(criteria->points, f);
		f->traits &= ~(uint32_t)ST_BLOW_IS_FREQUENT;
		f->met = f->why || !f->calls || is_part ? 0 : criteria_met(f, criteria);
		f->chosen = is_chosen_target(b, f, criteria);
		n += f->chosen;
	}
	/* With noise in all functions except one, all have probes in any case. */
	if (criteria->probes > 0 && !criteria->all && !b->speedup && n > 1)
		n -= leave_out_frequent(b, criteria);
	return n;
}
