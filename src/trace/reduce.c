/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "profile/profile.h"
#include "trace/raw.h"

enum { MANY_CALLS = 1000, SHORT_NS = 10000 };

struct reduced {
	const char *name, *image; /* as in the earlier trace; image NULL: not known */
	char reason[160];
	char *path; /* of the function that was left out; NULL: none was */
	uint64_t offset;
};

struct st_trace_reduction {
	struct st_profile *profile; /* NULL: it was a raw file */
	struct st_trace trace;
	enum st_trace_shape shape;
	bool skips_constant;
	ST_VEC(struct reduced) functions;
};

/* The index of the only pair of which it is the callee; NULL: there are several, or none. */
static const struct st_trace_pair *
only_pair_to(const struct st_trace *t, uint32_t function)
{
	const struct st_trace_pair *only = NULL;
	for (size_t i = 0; i < t->pairs.n; i++) {
		if (t->pairs.v[i].callee != function)
			continue;
		if (only)
			return NULL;
		only = &t->pairs.v[i];
	}
	return only;
}

/* The caller that does little but call it; NULL: there is none. */
static const struct st_trace_function *
wrapper_of(const struct st_trace *t, uint32_t function, uint64_t median)
{
	const struct st_trace_pair *pair = only_pair_to(t, function);
	uint64_t callers;
	if (!pair || pair->caller == ST_TRACE_NOBODY || pair->caller == function)
		return NULL;
	const struct st_trace_function *caller = &t->functions.v[pair->caller];
	return caller->calls == t->functions.v[function].calls &&
	                       st_trace_quantile(caller, 0.5, &callers) &&
	                       (double)median >= 0.8 * (double)callers
	               ? caller
	               : NULL;
}

/* False: the function is not left out. */
static bool
find_reason(const struct st_trace *t, uint32_t function, char *reason, size_t room)
{
	const struct st_trace_function *f = &t->functions.v[function], *caller;
	uint64_t median, first, third;
	const bool timed = st_trace_quantile(f, 0.5, &median) &&
	                   st_trace_quantile(f, 0.25, &first) && st_trace_quantile(f, 0.75, &third);
	if (f->calls > 100 * MANY_CALLS)
		snprintf(reason, room, "it was called %s times", ST_NUMBER(f->calls));
	else if (timed && f->calls > MANY_CALLS && median <= SHORT_NS)
		snprintf(reason, room, "it was called %s times, with a median of %" PRIu64 " ns",
		         ST_NUMBER(f->calls), median);
	else if (timed && f->calls > MANY_CALLS && (double)(third - first) < 0.05 * (double)median)
		snprintf(reason, room, "it was called %s times, which all lasted about as long",
		         ST_NUMBER(f->calls));
	else if (timed && (caller = wrapper_of(t, function, median)))
		snprintf(reason, room, "it is most of its only caller, %.100s", caller->name);
	else
		return false;
	return true;
}

/* With ST_SHAPE_MATCH of functions that are known, and stay. */
static bool
find_reason_of_shape(const struct st_trace_reduction *r, const struct st_trace_graph *g,
                     uint32_t function, char *reason, size_t room)
{
	if (r->shape == ST_SHAPE_NONE)
		return find_reason(&r->trace, function, reason, room);
	return st_trace_graph_leaves_out(g, function, reason, room);
}

static st_status
reduce(struct st_trace_reduction *r, const struct st_trace_graph *g)
{
	for (uint32_t i = 0; i < r->trace.functions.n; i++) {
		const struct st_trace_function *f = &r->trace.functions.v[i];
		char reason[160];
		if (!find_reason_of_shape(r, g, i, reason, sizeof reason))
			continue;
		struct reduced *new = ST_PUSH(&r->functions);
		if (!new)
			return ST_FAILED;
		*new = (struct reduced){.name = f->name, .image = f->image};
		memcpy(new->reason, reason, sizeof reason);
	}
	return ST_OK;
}

static st_status
read_earlier(struct st_trace_reduction *r, const char *path, struct st_error *e)
{
	struct st_error why;
	r->profile = st_profile_load(path, e);
	if (r->profile)
		return st_trace_read(&r->trace, r->profile, false, e);
	return st_trace_read_raw(&r->trace, path, ST_TRACE_UNIT_OF_FILE, false, &why);
}

static st_status
reduce_by_graph(struct st_trace_reduction *r)
{
	struct st_trace_graph g;
	st_status status = st_trace_graph_make(&g, &r->trace, r->shape);
	if (!status)
		status = reduce(r, &g);
	st_trace_graph_free(&g);
	return status;
}

struct st_trace_reduction *
st_trace_reduction_open(const char *path, enum st_trace_shape shape, bool skips_constant,
                        struct st_error *e)
{
	struct st_trace_reduction *r = calloc(1, sizeof *r);
	if (!r) {
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	r->shape = shape;
	r->skips_constant = skips_constant;
	st_status status = path ? read_earlier(r, path, e) : ST_OK;
	if (!status && path && reduce_by_graph(r))
		status = st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!status)
		return r;
	st_trace_reduction_close(r);
	return NULL;
}

void
st_trace_reduction_close(struct st_trace_reduction *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->functions.n; i++)
		free(r->functions.v[i].path);
	free(r->functions.v);
	st_trace_free(&r->trace);
	if (r->profile)
		st_profile_free(r->profile);
	free(r);
}

static bool
is_function_of(const char *name, const char *image, const char *path, const struct st_function *f)
{
	return !strcmp(name, f->name) &&
	       (!image || !strcmp(st_base_name(image), st_base_name(path)));
}

static bool
has_been_called(const struct st_trace *t, const char *path, const struct st_function *f)
{
	for (size_t i = 0; i < t->functions.n; i++)
		if (is_function_of(t->functions.v[i].name, t->functions.v[i].image, path, f))
			return true;
	return false;
}

/* A function stays traced if no memory is left to note the reason. */
static bool
leave_out_by(struct st_trace_reduction *r, const char *path, const struct st_function *f,
             const char *reason)
{
	struct reduced *new = ST_PUSH(&r->functions);
	if (!new)
		return false;
	*new = (struct reduced){.name = f->name, .path = strdup(path), .offset = f->offset};
	snprintf(new->reason, sizeof new->reason, "%s", reason);
	return true;
}

bool
st_trace_leaves_out(struct st_trace_reduction *r, struct st_image *image, const char *path,
                    const struct st_function *f)
{
	if (r->skips_constant && st_image_is_constant(image, f))
		return leave_out_by(r, path, f, "its code has neither a loop nor a call");
	if (r->shape == ST_SHAPE_MATCH)
		return !has_been_called(&r->trace, path, f) &&
		       leave_out_by(r, path, f, "it was not called");
	for (size_t i = 0; i < r->functions.n; i++) {
		struct reduced *v = &r->functions.v[i];
		if (!is_function_of(v->name, v->image, path, f))
			continue;
		if (!v->path) {
			v->path = strdup(path);
			v->offset = f->offset;
		}
		return true;
	}
	return false;
}

st_status
st_trace_add_left_out(const struct st_trace_reduction *r, struct st_trace *t)
{
	for (size_t i = 0; r && i < r->functions.n; i++) {
		const struct reduced *v = &r->functions.v[i];
		struct st_trace_refused *new = v->path ? ST_PUSH(&t->refused) : NULL;
		if (new)
			*new = (struct st_trace_refused){.name = v->name,
			                                 .image = v->path,
			                                 .reason = v->reason,
			                                 .offset = v->offset,
			                                 .left_out = true};
		else if (v->path)
			return ST_FAILED;
	}
	return ST_OK;
}
