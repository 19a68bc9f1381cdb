/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampled stacks as contexts. The frames of the tree are instructions; frames in one function
 * become one label, and so nodes that differ only in where a function called become one context.
 */
#include <stdlib.h>

#include "base/number.h"
#include "collect/collect.h"
#include "profile/waits.h"
#include "wire/results/contexts.h"

struct sampled {
	struct st_collect *c;
	const struct st_collect_stacks *in;
	const uint32_t *functions;
	uint32_t *labels;         /* by frame */
	uint32_t unknown, pruned; /* labels; UINT32_MAX: not needed yet */
	uint32_t kinds[ST_STACK_KIND_COUNT];
	uint64_t sample_ns;      /* CPU time for which a sample stands; 0: times are not kept */
	uint32_t *contexts;      /* by node; UINT32_MAX: it is the root of a thread */
	uint32_t *threads;       /* by node */
	uint32_t first;          /* context of this process */
	struct st_hashmap index; /* of its contexts, by parent or thread, and label */
};

static st_status
sampled_add_label(struct st_profile *p, const struct st_profile_label *label, uint32_t *number)
{
	struct st_profile_label *out = ST_PUSH(&p->labels);
	if (!out)
		return ST_FAILED;
	*out = *label;
	out->next = UINT32_MAX;
	*number = (uint32_t)p->labels.n - 1;
	return ST_OK;
}

/* The label of a function, which all processes share. */
static st_status
sampled_label_of_function(struct st_collect *c, uint32_t function, uint32_t *label)
{
	struct st_profile *p = c->profile;
	const struct st_profile_function *f = &p->functions.v[function];
	const struct st_profile_label new = {.image = f->image,
	                                     .function = function,
	                                     .offset = f->offset,
	                                     .file = f->file,
	                                     .line = f->line};
	if (!c->sampled_labels)
		c->sampled_labels = calloc(p->functions.n, sizeof *c->sampled_labels);
	if (!c->sampled_labels)
		return ST_FAILED;
	uint32_t *known = &c->sampled_labels[function];
	if (!*known) {
		if (sampled_add_label(p, &new, label))
			return ST_FAILED;
		*known = *label + 1;
	}
	*label = *known - 1;
	return ST_OK;
}

/* Of a frame in a function, that of the function; else that of its place. */
static st_status
sampled_label_frames(struct sampled *s)
{
	struct st_profile *p = s->c->profile;
	for (size_t i = 0; i < s->in->stacks->frames.n; i++) {
		const struct st_place *place = &s->in->places[i];
		const struct st_profile_label at = {
		        .image = place->image, .function = UINT32_MAX, .offset = place->offset};
		const uint32_t f = s->functions[i];
		if (f < p->functions.n ? sampled_label_of_function(s->c, f, &s->labels[i])
		                       : sampled_add_label(p, &at, &s->labels[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

/* The label of what is no place. */
static st_status
sampled_label_sign(struct sampled *s, uint64_t sign, uint32_t *known)
{
	const struct st_profile_label new = {
	        .image = UINT32_MAX, .function = UINT32_MAX, .offset = sign};
	return *known == UINT32_MAX ? sampled_add_label(s->c->profile, &new, known) : ST_OK;
}

static st_status
sampled_label_of(struct sampled *s, uint32_t frame, uint32_t *label)
{
	st_status status = ST_OK;
	if (frame == ST_FRAME_UNKNOWN) {
		status = sampled_label_sign(s, ST_LABEL_UNKNOWN, &s->unknown);
		*label = s->unknown;
	} else if (frame == ST_FRAME_PRUNED) {
		status = sampled_label_sign(s, ST_LABEL_PRUNED, &s->pruned);
		*label = s->pruned;
	} else if (st_frame_is_kind(frame)) {
		const uint32_t kind = (uint32_t)st_frame_kind(frame);
		status = sampled_label_sign(s, ST_LABEL_KINDS + kind, &s->kinds[kind]);
		*label = s->kinds[kind];
	} else {
		*label = s->labels[frame];
	}
	return status;
}

/* The context of a label below another one, or below the root of its thread. */
static st_status
sampled_context(struct sampled *s, uint32_t thread, uint32_t parent, uint32_t label,
                uint32_t *context)
{
	struct st_profile *p = s->c->profile;
	const struct st_profile_context *v = &p->contexts.v[s->first];
	const uint64_t above = parent == UINT32_MAX ? ~(uint64_t)thread : parent;
	const uint32_t hash = st_hash_numbers(above, label);
	const uint32_t known = ST_HASHMAP_FIND(&s->index, hash, i,
	                                       v[i].parent == parent && v[i].label == label &&
	                                               v[i].thread == thread);
	if (known != ST_HASHMAP_NONE) {
		*context = s->first + known;
		return ST_OK;
	}
	struct st_profile_context *new = ST_PUSH(&p->contexts);
	if (!new)
		return ST_FAILED;
	*new = (struct st_profile_context){
	        .thread = thread, .parent = parent, .label = label, .link = UINT32_MAX};
	*context = (uint32_t)p->contexts.n - 1;
	return st_hashmap_add(&s->index, hash, *context - s->first) ? ST_FAILED : ST_OK;
}

/* Only samples in the program's code are counted; times are those of the wall clock. */
static void
sampled_weigh(const struct sampled *s, const struct st_stack_node *n,
              struct st_profile_context *context)
{
	const bool waits = st_stack_kind_waits(st_frame_kind(n->frame));
	if (!st_frame_is_kind(n->frame))
		context->count += n->count;
	context->self_ns += waits ? n->waited : n->count * s->sample_ns;
}

/* The CPU time for which a sample stands. Timers of the CPU clock run out with the kernel's tick,
 * so there may be fewer samples than asked for; under a time budget few are taken at all. */
static uint64_t
sampled_time_of_one(const struct st_profile *p)
{
	enum { SECOND_NS = 1000000000 };
	const struct st_profile_run *r = &p->run;
	const uint64_t n = r->samples_code + r->samples_kernel + r->samples_engine,
	               nominal = r->sample_hz > 0 ? SECOND_NS / (uint64_t)r->sample_hz : 0,
	               real = n ? (uint64_t)(r->cpu_user_ns + r->cpu_system_ns) / n : 0;
	if (!st_profile_has_waits(p))
		return 0;
	return !real || st_profile_statistic(p, "budget_ns") ? nominal : real;
}

static st_status
sampled_add_nodes(struct sampled *s)
{
	const struct st_stack_tree *t = &s->in->stacks->tree;
	struct st_profile *p = s->c->profile;
	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct st_stack_node *n = &t->nodes.v[i];
		uint32_t label;
		s->contexts[i] = UINT32_MAX;
		if (n->parent == ST_STACK_NO_PARENT) {
			/* The program may have written over the number of its thread. */
			s->threads[i] = n->frame < s->in->n_threads ? s->in->first_thread + n->frame
			                                            : UINT32_MAX;
			continue;
		}
		s->threads[i] = s->threads[n->parent];
		if (s->threads[i] == UINT32_MAX)
			continue;
		if (sampled_label_of(s, n->frame, &label) ||
		    sampled_context(s, s->threads[i], s->contexts[n->parent], label,
		                    &s->contexts[i]))
			return ST_FAILED;
		sampled_weigh(s, n, &p->contexts.v[s->contexts[i]]);
	}
	return ST_OK;
}

st_status
st_collect_sampled(struct st_collect *c, const struct st_collect_stacks *in,
                   const uint32_t *functions)
{
	struct sampled s = {.c = c,
	                    .in = in,
	                    .functions = functions,
	                    .unknown = UINT32_MAX,
	                    .pruned = UINT32_MAX,
	                    .sample_ns = sampled_time_of_one(c->profile),
	                    .first = (uint32_t)c->profile->contexts.n};
	for (size_t i = 0; i < ST_STACK_KIND_COUNT; i++)
		s.kinds[i] = UINT32_MAX;
	const size_t n_frames = in->stacks->frames.n, n_nodes = in->stacks->tree.nodes.n;
	s.labels = calloc(n_frames + 1, sizeof *s.labels);
	s.contexts = calloc(n_nodes + 1, sizeof *s.contexts);
	s.threads = calloc(n_nodes + 1, sizeof *s.threads);
	st_status status = s.labels && s.contexts && s.threads ? ST_OK : ST_FAILED;
	if (!status)
		status = sampled_label_frames(&s) || sampled_add_nodes(&s) ? ST_FAILED : ST_OK;
	if (!status && in->stacks->tree.pruned)
		st_profile_note(
		        c->profile,
		        "a process had too many different stacks: the inner functions of %s "
		        "are one frame, __pruned__, and are missing in the totals",
		        ST_COUNT(in->stacks->tree.pruned, "stack", "stacks"));
	st_hashmap_free(&s.index);
	free(s.labels);
	free(s.contexts);
	free(s.threads);
	return status;
}
