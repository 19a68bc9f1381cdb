/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "blow/locations.h"
#include "trace/choose.h"

bool
st_blow_is_context_of(const struct st_blow *b, uint64_t callee, uint64_t caller, size_t at)
{
	const bool ordered = callee < at && (caller < at || caller == ST_BLOW_NONE);
	return ordered && !(b->functions.v[callee].traits & ST_BLOW_IS_CONTEXT) &&
	       (caller == ST_BLOW_NONE || !(b->functions.v[caller].traits & ST_BLOW_IS_CONTEXT));
}

const char *
st_blow_caller_name(const struct st_blow *b, const struct st_blow_function *context)
{
	return context->caller == ST_BLOW_NONE ? ST_BLOW_NO_CALLER
	                                       : b->functions.v[context->caller].name;
}

/* ---- the selection ---- */

st_status
st_blow_written_add(struct st_blow_written *w, const struct st_blow_function *f)
{
	struct st_blow_function *new = ST_PUSH(&w->list);
	if (!new)
		return ST_FAILED;
	*new = *f;
	return f->traits & ST_BLOW_IS_INSIDE ? ST_OK
	                                     : st_hashmap_add(&w->index, st_hash_number(f->offset),
	                                                      (uint32_t)w->list.n - 1);
}

static uint32_t
written_find(const struct st_blow_written *w, const struct st_trace_function *f)
{
	return ST_HASHMAP_FIND(&w->index, st_hash_number(f->offset), at,
	                       w->list.v[at].offset == f->offset &&
	                               !strcmp(w->list.v[at].image, f->image));
}

static uint32_t
hash_of_context(uint32_t callee, uint32_t caller)
{
	return st_hash_number((uint64_t)caller << 32 | callee);
}

struct context_sums {
	ST_VEC(struct st_blow_function) list;
	struct st_hashmap index;
};

/* Adds the calls of a pair, which each thread has. */
static st_status
contexts_add_pair(struct context_sums *s, const struct st_trace_pair *pair, uint32_t callee,
                  uint32_t caller)
{
	const uint32_t hash = hash_of_context(callee, caller);
	uint32_t i =
	        ST_HASHMAP_FIND(&s->index, hash, at,
	                        s->list.v[at].callee == callee && s->list.v[at].caller == caller);
	if (i == ST_HASHMAP_NONE) {
		struct st_blow_function *new = ST_PUSH(&s->list);
		i = (uint32_t)s->list.n - 1;
		if (!new || st_hashmap_add(&s->index, hash, i))
			return ST_FAILED;
		*new = (struct st_blow_function){.callee = callee, .caller = caller};
	}
	s->list.v[i].calls += pair->calls;
	s->list.v[i].ns += pair->outermost_ns;
	return ST_OK;
}

static void
context_write(const struct st_blow_written *w, const struct st_blow_function *sum, FILE *out)
{
	char name[1024], raw[1024];
	const bool known = sum->caller != ST_BLOW_NONE;
	const struct st_blow_function *callee = &w->list.v[sum->callee],
	                              *caller = known ? &w->list.v[sum->caller] : NULL;
	struct st_blow_function f = *sum;
	snprintf(name, sizeof name, "%s from %s", callee->name,
	         known ? caller->name : ST_BLOW_NO_CALLER);
	snprintf(raw, sizeof raw, ST_BLOW_CALL_PREFIX "%s>%s", known ? caller->raw_name : "?",
	         callee->raw_name);
	f.name = name;
	f.raw_name = raw;
	f.image = callee->image;
	f.offset = callee->offset;
	f.traits = ST_BLOW_IS_CONTEXT;
	st_blow_write_function(&f, out);
}

st_status
st_blow_contexts_write(const struct st_blow_written *w, const struct st_trace *t, FILE *out)
{
	struct context_sums sums = {0};
	st_status status = ST_OK;
	for (size_t i = 0; i < t->pairs.n && !status; i++) {
		const struct st_trace_pair *pair = &t->pairs.v[i];
		const bool known = pair->caller != ST_TRACE_NOBODY;
		const uint32_t callee = written_find(w, &t->functions.v[pair->callee]),
		               caller = known ? written_find(w, &t->functions.v[pair->caller])
		                              : ST_BLOW_NONE;
		/* A function of --main has a probe and may not be in the list. */
		if (pair->calls && callee != ST_HASHMAP_NONE &&
		    (!known || caller != ST_HASHMAP_NONE))
			status = contexts_add_pair(&sums, pair, callee, caller);
	}
	for (size_t i = 0; i < sums.list.n && !status; i++)
		context_write(w, &sums.list.v[i], out);
	free(sums.list.v);
	st_hashmap_free(&sums.index);
	return status;
}

void
st_blow_written_free(struct st_blow_written *w)
{
	free(w->list.v);
	st_hashmap_free(&w->index);
	*w = (struct st_blow_written){0};
}

/* ---- a run ---- */

st_status
st_blow_contexts_begin(struct st_blow_contexts *c, const struct st_blow *b)
{
	const size_t n = b->functions.n;
	bool *called = calloc(n + 1, sizeof *called); /* by a context that is chosen */
	*c = (struct st_blow_contexts){.b = b, .timed = calloc(n + 1, sizeof *c->timed)};
	st_status status = called && c->timed ? ST_OK : ST_FAILED;
	for (uint32_t i = 0; i < n && !status; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (!(f->traits & ST_BLOW_IS_CONTEXT) || !f->chosen)
			continue;
		called[f->callee] = c->timed[f->callee] = true;
		status = st_hashmap_add(&c->index, hash_of_context(f->callee, f->caller), i);
	}
	/* Without the probes of the other callers, their calls would be those of one further away.
	 */
	for (uint32_t i = 0; i < n && !status; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (f->traits & ST_BLOW_IS_CONTEXT && called[f->callee] &&
		    f->caller != ST_BLOW_NONE)
			c->timed[f->caller] = true;
	}
	free(called);
	return status;
}

uint32_t
st_blow_context(const struct st_blow_contexts *c, uint32_t callee, uint32_t caller)
{
	return ST_HASHMAP_FIND(&c->index, hash_of_context(callee, caller), at,
	                       c->b->functions.v[at].callee == callee &&
	                               c->b->functions.v[at].caller == caller);
}

void
st_blow_contexts_end(struct st_blow_contexts *c)
{
	free(c->timed);
	st_hashmap_free(&c->index);
	*c = (struct st_blow_contexts){0};
}

/* ---- locations ---- */

static bool
contexts_fit_name(const char *name, const char *raw_name, const char *pattern)
{
	const struct st_function named = {.name = name};
	return !strcmp(raw_name, pattern) || st_trace_fits_name(&named, pattern);
}

static bool
contexts_fit_caller(const struct st_blow *b, const struct st_blow_function *context,
                    const char *pattern)
{
	if (context->caller == ST_BLOW_NONE)
		return !strcmp(pattern, "*");
	const struct st_blow_function *caller = &b->functions.v[context->caller];
	return contexts_fit_name(caller->name, caller->raw_name, pattern);
}

bool
st_blow_locations_call(const struct st_blow_locations *l, const struct st_blow *b,
                       const struct st_blow_function *context)
{
	const struct st_blow_function *callee = &b->functions.v[context->callee];
	for (size_t i = 0; l && i < l->list.n; i++)
		if (l->list.v[i].caller &&
		    contexts_fit_name(callee->name, callee->raw_name, l->list.v[i].callee) &&
		    contexts_fit_caller(b, context, l->list.v[i].caller))
			return true;
	return false;
}

/* A pattern for all functions mentions none. */
static bool
is_mentioned(const struct st_function *f, const char *pattern)
{
	return strcmp(pattern, "*") != 0 &&
	       contexts_fit_name(f->name, f->raw_name ? f->raw_name : f->name, pattern);
}

bool
st_blow_locations_mention(const struct st_blow_locations *l, const struct st_function *f)
{
	for (size_t i = 0; l && i < l->list.n; i++)
		if (l->list.v[i].caller &&
		    (is_mentioned(f, l->list.v[i].caller) || is_mentioned(f, l->list.v[i].callee)))
			return true;
	return false;
}
