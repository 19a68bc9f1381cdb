/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/trace_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "export/trace_events.h"
#include "rows/rowfile.h"

/* A call that is under way. */
struct call {
	uint32_t node;
	uint64_t depth; /* 1: the outermost */
	uint64_t begin_ns, callees_ns;
};

/* A thread, by the index of its group. */
struct thread {
	uint32_t process; /* another one after execve */
	int64_t pid, tid;
	ST_VEC(struct call) calls; /* the innermost last */
};

struct label_key {
	uint32_t image;
	uint64_t offset;
};

struct stacks {
	const struct st_profile *run;
	struct st_contexts c;
	ST_VEC(struct st_context_label) labels;
	ST_VEC(struct label_key) keys; /* of labels, while rows are read */
	ST_VEC(struct thread) threads;
	struct st_hashmap label_index, thread_index;
};

/* ---- functions ---- */

/* Where it stands in the source, if the run knows it. */
static void
find_source(const struct st_profile *run, struct st_context_label *l)
{
	for (size_t i = 0; l->image && i < run->functions.n; i++) {
		const struct st_profile_function *f = &run->functions.v[i];
		if (f->offset != l->offset || f->image >= run->images.n ||
		    strcmp(run->images.v[f->image].path, l->image))
			continue;
		l->file = f->file;
		l->line = f->line;
		return;
	}
}

/* Of a function without a name it is where its code is. */
static const char *
name_of_label(struct stacks *s, const struct st_trace_call_event *v)
{
	char **kept = ST_PUSH(&s->c.texts);
	if (kept)
		*kept = strdup(v->name);
	return kept ? *kept : NULL;
}

static uint32_t
stack_label(struct stacks *s, const struct st_trace_call_event *v)
{
	const uint32_t hash = st_hash_numbers(v->image_index, v->offset);
	const uint32_t at = ST_HASHMAP_FIND(&s->label_index, hash, i,
	                                    s->keys.v[i].image == v->image_index &&
	                                            s->keys.v[i].offset == v->offset);
	if (at != ST_HASHMAP_NONE)
		return at;
	const uint32_t new = (uint32_t)s->labels.n;
	struct label_key *key = ST_PUSH(&s->keys);
	struct st_context_label *l = key ? ST_PUSH(&s->labels) : NULL;
	const char *name = l ? name_of_label(s, v) : NULL;
	if (!name || st_hashmap_add(&s->label_index, hash, new))
		return ST_NO_NODE;
	*key = (struct label_key){v->image_index, v->offset};
	*l = (struct st_context_label){.name = name,
	                               .image = v->image,
	                               .offset = v->offset,
	                               .in_image = UINT32_MAX,
	                               .in_function = UINT32_MAX,
	                               .seen = true};
	find_source(s->run, l);
	return new;
}

/* ---- threads ---- */

static uint32_t
thread_of_run(const struct st_profile *run, int64_t pid, int64_t tid)
{
	for (size_t i = 0; i < run->threads.n; i++) {
		const struct st_profile_thread *t = &run->threads.v[i];
		if (t->tid == tid && t->process < run->processes.n &&
		    run->processes.v[t->process].pid == pid)
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* The index of the thread and of its group; ST_NO_NODE: no memory. */
static uint32_t
stack_thread(struct stacks *s, const struct st_trace_call_event *v)
{
	const uint32_t hash = st_hash_numbers(v->process, (uint64_t)v->tid);
	const uint32_t at = ST_HASHMAP_FIND(&s->thread_index, hash, i,
	                                    s->threads.v[i].process == v->process &&
	                                            s->threads.v[i].tid == v->tid);
	if (at != ST_HASHMAP_NONE)
		return at;
	const uint32_t new = (uint32_t)s->threads.n;
	struct thread *t = ST_PUSH(&s->threads);
	struct st_context_group *g = t ? ST_PUSH(&s->c.groups) : NULL;
	if (!g || st_hashmap_add(&s->thread_index, hash, new))
		return ST_NO_NODE;
	*t = (struct thread){.process = v->process, .pid = v->pid, .tid = v->tid};
	*g = (struct st_context_group){.thread = thread_of_run(s->run, v->pid, v->tid),
	                               .function = UINT32_MAX,
	                               .begun = new};
	st_forest_init(&g->ksf);
	st_forest_init(&g->kccf);
	return new;
}

/* ---- calls ---- */

/* Calls that are deeper have been left without a return: they have no time. */
static void
drop_deeper(struct thread *t, uint64_t depth)
{
	while (t->calls.n && t->calls.v[t->calls.n - 1].depth > depth)
		t->calls.n--;
}

static st_status
begin_call(struct stacks *s, uint32_t thread, const struct st_trace_call_event *v)
{
	struct thread *t = &s->threads.v[thread];
	drop_deeper(t, v->depth ? v->depth - 1 : 0);
	const uint32_t label = stack_label(s, v),
	               parent = t->calls.n ? t->calls.v[t->calls.n - 1].node : ST_NO_NODE;
	const uint32_t node = label == ST_NO_NODE
	                              ? ST_NO_NODE
	                              : st_forest_child(&s->c.groups.v[thread].ksf, parent, label);
	struct call *call = node == ST_NO_NODE ? NULL : ST_PUSH(&t->calls);
	if (!call)
		return ST_FAILED;
	*call = (struct call){.node = node, .depth = v->depth, .begin_ns = v->ns};
	return ST_OK;
}

static void
end_call(struct stacks *s, uint32_t thread, const struct st_trace_call_event *v)
{
	struct thread *t = &s->threads.v[thread];
	drop_deeper(t, v->depth);
	if (!t->calls.n || t->calls.v[t->calls.n - 1].depth != v->depth)
		return; /* it began before the trace */
	const struct call done = t->calls.v[--t->calls.n];
	const uint64_t took = v->ns > done.begin_ns ? v->ns - done.begin_ns : 0;
	const struct st_weight own = {
	        .count = 1, .self_ns = took > done.callees_ns ? took - done.callees_ns : 0};
	st_forest_add(&s->c.groups.v[thread].ksf, done.node, &own);
	if (t->calls.n)
		t->calls.v[t->calls.n - 1].callees_ns += took;
}

static st_status
add_events_of_rows(struct stacks *s, struct st_row_reader *rows, struct st_error *e)
{
	struct st_trace_call_event v;
	int more;
	while ((more = st_trace_next_event(rows, &v, e)) > 0) {
		const uint32_t thread = stack_thread(s, &v);
		if (thread != ST_NO_NODE && v.returns)
			end_call(s, thread, &v);
		else if (thread == ST_NO_NODE || begin_call(s, thread, &v))
			return st_fail(e, ST_EXIT_FAILED, "no memory left to write the stacks");
	}
	return more < 0 ? ST_FAILED : ST_OK;
}

/* ---- the order that writers want ---- */

static int
by_label_place(const void *a, const void *b)
{
	const struct st_context_label *x = a, *y = b;
	/* Those of one image share its path. */
	if (x->image != y->image)
		return (x->image > y->image) - (x->image < y->image);
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int
by_thread(const void *a, const void *b)
{
	const struct st_context_group *x = a, *y = b;
	if (x->thread != y->thread)
		return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->begun > y->begun) - (x->begun < y->begun);
}

/* Labels by place and groups by thread. */
static st_status
order_stacks(struct stacks *s)
{
	struct st_contexts *c = &s->c;
	uint32_t *place_of = calloc(s->labels.n + 1, sizeof *place_of);
	if (!place_of)
		return ST_FAILED;
	for (size_t i = 0; i < s->labels.n; i++)
		s->labels.v[i].function = (uint32_t)i;
	if (s->labels.n)
		qsort(s->labels.v, s->labels.n, sizeof *s->labels.v, by_label_place);
	for (size_t i = 0; i < s->labels.n; i++) {
		place_of[s->labels.v[i].function] = (uint32_t)i;
		s->labels.v[i].function = (uint32_t)i;
	}
	for (size_t i = 0; i < c->groups.n; i++) {
		struct st_forest *f = &c->groups.v[i].ksf;
		for (uint32_t k = 0; k < f->n; k++)
			f->nodes[k].label = place_of[f->nodes[k].label];
		st_forest_total(f);
		c->n_ksf += f->n;
	}
	if (c->groups.n)
		qsort(c->groups.v, c->groups.n, sizeof *c->groups.v, by_thread);
	c->labels = s->labels.v;
	c->n_labels = c->n_functions = s->labels.n;
	c->n_threads = c->groups.n;
	free(place_of);
	return ST_OK;
}

static void
free_stacks(struct stacks *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		free(s->threads.v[i].calls.v);
	free(s->threads.v);
	free(s->keys.v);
	st_hashmap_free(&s->label_index);
	st_hashmap_free(&s->thread_index);
	s->c.labels = s->labels.v;
	st_contexts_free(&s->c);
}

st_status
st_trace_write_stacks(const struct st_profile *run, struct st_row_reader *rows,
                      const struct st_context_format *format, const struct st_context_limit *limit,
                      struct st_context_cut *cut, FILE *out, struct st_error *e)
{
	struct stacks s = {.run = run,
	                   .c = {.profile = run, .mode = ST_CONTEXT_FUNC, .timed = true}};
	st_status status = rows ? st_trace_check_events(rows, e) : ST_OK;
	if (!status && rows)
		status = add_events_of_rows(&s, rows, e);
	if (!status && order_stacks(&s))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to write the stacks");
	if (!status)
		status = st_contexts_cut(&s.c, format->cost, limit, cut, e);
	if (!status)
		format->write(&s.c, out);
	free_stacks(&s);
	return status;
}
