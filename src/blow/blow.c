/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/blow.h"

#include <stdlib.h>
#include <string.h>

#include "blow/timeline.h"

const char *
st_blow_fault_name(enum st_blow_fault fault)
{
	static const char *const names[] = {
#define F(id, name, meaning) [ST_BLOW_##id] = name,
	        ST_BLOW_FAULTS(F)
#undef F
	};
	return names[fault];
}

bool
st_blow_fault_named(const char *name, enum st_blow_fault *fault)
{
	for (int i = 0; i < ST_BLOW_FAULT_COUNT; i++)
		if (!strcmp(st_blow_fault_name((enum st_blow_fault)i), name)) {
			*fault = (enum st_blow_fault)i;
			return true;
		}
	return false;
}

void
st_blow_origin_clear(struct st_blow_origin *o)
{
	free(o->start.image);
	free(o->start.function);
	free(o->call.image);
	free(o->call.function);
}

st_status
st_blow_origin_check(const struct st_blow_origin *o)
{
	return o->start.image && o->start.function && o->call.image && o->call.function ? ST_OK
	                                                                                : ST_FAILED;
}

void
st_blow_origins_clear(struct st_blow_run *r)
{
	for (size_t i = 0; i < r->origins.n; i++)
		st_blow_origin_clear(&r->origins.v[i]);
	free(r->origins.v);
	r->origins = (__typeof__(r->origins)){0};
}

void
st_blow_run_clear(struct st_blow_run *r)
{
	st_blow_origins_clear(r);
	free(r->samples.v);
	free(r->spans.v);
	free(r->note);
	r->samples = (__typeof__(r->samples)){0};
	r->spans = (__typeof__(r->spans)){0};
	r->note = NULL;
}

void
st_blow_free(struct st_blow *b)
{
	for (size_t i = 0; i < b->runs.n; i++)
		st_blow_run_clear(&b->runs.v[i]);
	for (size_t i = 0; i < b->threads.n; i++)
		st_blow_origin_clear(&b->threads.v[i]);
	free(b->threads.v);
	free(b->plain.v);
	free(b->clocked.v);
	for (size_t i = 0; i < b->texts.n; i++)
		free(b->texts.v[i]);
	free(b->functions.v);
	free(b->runs.v);
	free(b->texts.v);
	st_blow_timeline_free(b->timeline);
	*b = (struct st_blow){0};
}

const char *
st_blow_text(struct st_blow *b, const char *text)
{
	char **slot = ST_PUSH(&b->texts);
	if (slot && !(*slot = strdup(text)))
		b->texts.n--;
	return slot ? *slot : NULL;
}

size_t
st_blow_functions(const struct st_blow *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		n += st_blow_is_function(&b->functions.v[i]) &&
		     !(b->functions.v[i].traits & ST_BLOW_IS_TARGET);
	return n;
}

struct st_blow_sample *
st_blow_sample_of(struct st_blow_run *r, uint32_t function, uint32_t thread)
{
	for (size_t i = 0; i < r->samples.n; i++)
		if (r->samples.v[i].function == function && r->samples.v[i].thread == thread)
			return &r->samples.v[i];
	struct st_blow_sample *s = ST_PUSH(&r->samples);
	if (s)
		*s = (struct st_blow_sample){.function = function, .thread = thread};
	return s;
}

static int
sample_order(const void *a, const void *b)
{
	const struct st_blow_sample *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

void
st_blow_sort_samples(struct st_blow_run *r)
{
	if (r->samples.n)
		qsort(r->samples.v, r->samples.n, sizeof *r->samples.v, sample_order);
}

struct st_blow_sample
st_blow_sum(const struct st_blow_run *r, uint32_t function)
{
	struct st_blow_sample sum = {.function = function};
	size_t low = 0, high = r->samples.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (r->samples.v[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < r->samples.n && r->samples.v[low].function == function; low++) {
		const struct st_blow_sample *s = &r->samples.v[low];
		sum.calls += s->calls;
		sum.ns += s->ns;
		sum.noises += s->noises;
		sum.noise_ns += s->noise_ns;
	}
	return sum;
}

struct st_blow_sample
st_blow_noise_of(const struct st_blow_run *r)
{
	struct st_blow_sample sum = {.function = r->function};
	for (size_t i = 0; i < r->samples.n; i++) {
		sum.noises += r->samples.v[i].noises;
		sum.noise_ns += r->samples.v[i].noise_ns;
	}
	return sum;
}

const char *
st_blow_mode(const struct st_blow *b)
{
	return b->causal ? ST_BLOW_CAUSAL : b->speedup ? ST_BLOW_SPEED_UP : ST_BLOW_SLOW_DOWN;
}
