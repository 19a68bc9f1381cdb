/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "trace/texts.h"

struct activation {
	uint32_t function;
	uint64_t begin_ns, callees_ns;
	uint64_t around; /* index + 1 of the activation of the same function around it; 0: none */
	uint64_t within_ns; /* inclusive, of activations of the function that it is around */
	uint64_t sp, back;  /* where the return address lies, and what it is; sp 0: not told */
	bool is_followed;   /* the engine will see its return: it is not nested too deep */
};

struct thread {
	int64_t tid;
	uint32_t process;  /* whose activations of the scope count for it */
	uint64_t followed; /* activations whose returns the engine will see */
	ST_VEC(struct activation) stack;
};

struct process {
	int64_t pid;
	uint64_t running; /* activations of the scope */
};

/* Whether a function is under way in a thread. */
struct active {
	uint32_t thread, function;
	uint64_t innermost; /* index + 1 of its innermost activation; 0: it is not */
};

struct st_trace_aggregate {
	bool per_thread;
	struct st_trace t;
	struct st_hashmap functions, pairs; /* of t */
	ST_VEC(struct thread) threads;
	struct st_hashmap by_tid;
	ST_VEC(struct active) active;
	struct st_hashmap active_index;
	ST_VEC(uint64_t) keys; /* of each function: its name's number, or DECLARED + its own */
	ST_VEC(struct st_trace_function) declared;
	ST_VEC(struct process) processes;
	struct st_trace_limits limits;
	int64_t last_tid; /* of `last`: most events are of the thread of the one before */
	uint32_t last;    /* index of a thread + 1; 0: none */
};

#define DECLARED (1ull << 32)
/* In the number of a thread: what static probes enclose there. */
#define STATIC ((int64_t)1 << 40)

struct st_trace_aggregate *
st_trace_aggregate_new(bool per_thread)
{
	struct st_trace_aggregate *a = calloc(1, sizeof *a);
	if (a)
		a->t.texts = calloc(1, sizeof *a->t.texts);
	if (a && a->t.texts) {
		a->per_thread = per_thread;
		return a;
	}
	free(a);
	return NULL;
}

void
st_trace_aggregate_free(struct st_trace_aggregate *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->threads.n; i++)
		free(a->threads.v[i].stack.v);
	free(a->threads.v);
	free(a->keys.v);
	free(a->declared.v);
	free(a->processes.v);
	free(a->active.v);
	st_hashmap_free(&a->active_index);
	st_hashmap_free(&a->functions);
	st_hashmap_free(&a->pairs);
	st_hashmap_free(&a->by_tid);
	st_trace_free(&a->t);
	free(a);
}

static struct thread *
aggregate_thread_of(struct st_trace_aggregate *a, int64_t tid)
{
	if (a->last && a->last_tid == tid)
		return &a->threads.v[a->last - 1];
	const uint32_t hash = st_hash_number((uint64_t)tid);
	const uint32_t at = ST_HASHMAP_FIND(&a->by_tid, hash, i, a->threads.v[i].tid == tid);
	a->last_tid = tid;
	a->last = at + 1;
	if (at != ST_HASHMAP_NONE)
		return &a->threads.v[at];
	struct thread *new = ST_PUSH(&a->threads);
	if (!new || st_hashmap_add(&a->by_tid, hash, (uint32_t)a->threads.n - 1))
		return NULL;
	new->tid = tid;
	return new;
}

/* ST_TRACE_NOBODY: memory is exhausted. */
static uint32_t
function_of_key(struct st_trace_aggregate *a, int64_t tid, uint64_t key)
{
	tid = a->per_thread ? tid & ~STATIC : -1;
	const uint32_t hash = st_hash_numbers(key, (uint64_t)tid);
	const uint32_t at = ST_HASHMAP_FIND(&a->functions, hash, i,
	                                    a->keys.v[i] == key && a->t.functions.v[i].tid == tid);
	if (at != ST_HASHMAP_NONE)
		return at;
	struct st_trace_function *f = ST_PUSH(&a->t.functions);
	uint64_t *of = ST_PUSH(&a->keys);
	if (!f || !of || st_hashmap_add(&a->functions, hash, (uint32_t)a->t.functions.n - 1))
		return ST_TRACE_NOBODY;
	*of = key;
	if (key >= DECLARED)
		*f = a->declared.v[key - DECLARED];
	else
		f->name = a->t.texts->v.v[key];
	f->tid = tid;
	return (uint32_t)a->t.functions.n - 1;
}

/* ST_TRACE_NOBODY: memory is exhausted. */
static uint32_t
aggregate_function_of(struct st_trace_aggregate *a, int64_t tid, const char *name, size_t n)
{
	const uint32_t text = st_trace_intern(a->t.texts, name, n);
	return text == UINT32_MAX ? ST_TRACE_NOBODY : function_of_key(a, tid, text);
}

/* NULL: memory is exhausted. */
static struct active *
active_of(struct st_trace_aggregate *a, const struct thread *t, uint32_t function)
{
	const uint32_t thread = (uint32_t)(t - a->threads.v),
	               hash = st_hash_numbers(thread, function);
	const uint32_t at = ST_HASHMAP_FIND(&a->active_index, hash, i,
	                                    a->active.v[i].thread == thread &&
	                                            a->active.v[i].function == function);
	if (at != ST_HASHMAP_NONE)
		return &a->active.v[at];
	struct active *new = ST_PUSH(&a->active);
	if (!new || st_hashmap_add(&a->active_index, hash, (uint32_t)a->active.n - 1))
		return NULL;
	new->thread = thread;
	new->function = function;
	return new;
}

static struct activation *
push_activation(struct st_trace_aggregate *a, struct thread *t, uint32_t function, uint64_t ns)
{
	struct active *active = function != ST_TRACE_NOBODY ? active_of(a, t, function) : NULL;
	struct activation *new = active ? ST_PUSH(&t->stack) : NULL;
	if (!new)
		return NULL;
	*new = (struct activation){
	        .function = function, .begin_ns = ns, .around = active->innermost};
	active->innermost = t->stack.n;
	return new;
}

st_status
st_trace_enter(struct st_trace_aggregate *a, int64_t tid, const char *name, size_t n, uint64_t ns)
{
	struct thread *t = aggregate_thread_of(a, tid);
	const uint32_t function = t ? aggregate_function_of(a, tid, name, n) : ST_TRACE_NOBODY;
	return t && push_activation(a, t, function, ns) ? ST_OK : ST_FAILED;
}

static bool
is_scope_function(const struct st_trace_aggregate *a, uint32_t function)
{
	return a->limits.has_scope && a->keys.v[function] == DECLARED + a->limits.scope;
}

/* The innermost activation is no longer under way; within_ns: what counts once for its function,
 * however many of its activations are around it. When one of these returns it has it all, and when
 * none does it is a total of its own. */
static void
pop_activation(struct st_trace_aggregate *a, struct thread *t, uint64_t within_ns)
{
	const struct activation done = t->stack.v[--t->stack.n];
	struct active *active = active_of(a, t, done.function); /* it is there */
	if (active)
		active->innermost = done.around;
	t->followed -= done.is_followed;
	if (is_scope_function(a, done.function))
		a->processes.v[t->process].running--;
	if (done.around)
		t->stack.v[done.around - 1].within_ns += within_ns;
	else
		a->t.functions.v[done.function].outermost_ns += within_ns;
}

static st_status
count_pair(struct st_trace_aggregate *a, uint32_t caller, const struct activation *done,
           uint64_t ns)
{
	const uint32_t callee = done->function;
	const uint32_t hash = st_hash_numbers(caller, callee);
	uint32_t at = ST_HASHMAP_FIND(&a->pairs, hash, i,
	                              a->t.pairs.v[i].caller == caller &&
	                                      a->t.pairs.v[i].callee == callee);
	if (at == ST_HASHMAP_NONE) {
		at = (uint32_t)a->t.pairs.n;
		struct st_trace_pair *new = ST_PUSH(&a->t.pairs);
		if (!new || st_hashmap_add(&a->pairs, hash, at))
			return ST_FAILED;
		*new = (struct st_trace_pair){.caller = caller, .callee = callee};
	}
	a->t.pairs.v[at].calls++;
	a->t.pairs.v[at].inclusive_ns += ns;
	if (!done->around)
		a->t.pairs.v[at].outermost_ns += ns;
	return ST_OK;
}

/* The innermost activation ends. */
static st_status
end_activation(struct st_trace_aggregate *a, struct thread *t, uint64_t ns)
{
	const struct activation done = t->stack.v[t->stack.n - 1];
	const uint64_t took = ns > done.begin_ns ? ns - done.begin_ns : 0;
	pop_activation(a, t, took);
	struct activation *above = t->stack.n ? &t->stack.v[t->stack.n - 1] : NULL;
	struct st_trace_function *f = &a->t.functions.v[done.function];
	f->min_ns = !f->calls || took < f->min_ns ? took : f->min_ns;
	f->max_ns = took > f->max_ns ? took : f->max_ns;
	f->calls++;
	f->inclusive_ns += took;
	f->exclusive_ns += took > done.callees_ns ? took - done.callees_ns : 0;
	if (above)
		above->callees_ns += took;
	if (st_trace_count(f, took))
		return ST_FAILED;
	return count_pair(a, above ? above->function : ST_TRACE_NOBODY, &done, took);
}

static void
lose(struct st_trace_aggregate *a, struct thread *t)
{
	const struct activation *left = &t->stack.v[t->stack.n - 1];
	a->t.functions.v[left->function].lost++;
	a->t.lost_returns++;
	a->t.nested_returns += left->sp && !left->is_followed;
	pop_activation(a, t, left->within_ns);
}

static st_status
return_of(struct st_trace_aggregate *a, struct thread *t, uint32_t function, uint64_t ns)
{
	const struct active *active =
	        function != ST_TRACE_NOBODY ? active_of(a, t, function) : NULL;
	if (!active)
		return ST_FAILED;
	if (!active->innermost) {
		a->t.stray_returns++;
		return ST_OK;
	}
	while (t->stack.v[t->stack.n - 1].function != function)
		lose(a, t);
	return end_activation(a, t, ns);
}

st_status
st_trace_return(struct st_trace_aggregate *a, int64_t tid, const char *name, size_t n, uint64_t ns)
{
	struct thread *t = aggregate_thread_of(a, tid);
	const uint32_t function = t ? aggregate_function_of(a, tid, name, n) : ST_TRACE_NOBODY;
	return t ? return_of(a, t, function, ns) : ST_FAILED;
}

/* ---- entries and returns of an engine ---- */

void
st_trace_limit(struct st_trace_aggregate *a, const struct st_trace_limits *limits)
{
	a->limits = *limits;
}

uint32_t
st_trace_declare(struct st_trace_aggregate *a, const struct st_trace_function *about)
{
	struct st_trace_function *new = ST_PUSH(&a->declared);
	if (!new)
		return ST_TRACE_NOBODY;
	*new = *about;
	return (uint32_t)a->declared.n - 1;
}

/* The process of a thread that is seen for the first time. UINT32_MAX: no memory. */
static uint32_t
aggregate_process_of(struct st_trace_aggregate *a, int64_t pid)
{
	for (size_t i = 0; i < a->processes.n; i++)
		if (a->processes.v[i].pid == pid)
			return (uint32_t)i;
	struct process *new = ST_PUSH(&a->processes);
	if (!new)
		return UINT32_MAX;
	new->pid = pid;
	return (uint32_t)a->processes.n - 1;
}

static struct thread *
thread_of_event(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	const size_t known = a->threads.n;
	struct thread *t = aggregate_thread_of(a, event->tid);
	if (t && a->threads.n > known &&
	    (t->process = aggregate_process_of(a, event->pid)) == UINT32_MAX)
		return NULL;
	return t;
}

/* Drops the activations below the stack pointer. */
static void
leave_below(struct st_trace_aggregate *a, struct thread *t, uint64_t sp)
{
	while (t->stack.n && t->stack.v[t->stack.n - 1].sp < sp)
		lose(a, t);
}

static const struct activation *
activation_at(const struct thread *t, uint64_t sp)
{
	const struct activation *top = t->stack.n ? &t->stack.v[t->stack.n - 1] : NULL;
	return top && top->sp == sp ? top : NULL;
}

/* Has the activation that began where the entry does jumped there? Or has it returned without being
 * seen, and this is a call? */
static bool
has_jumped(const struct st_trace_aggregate *a, const struct activation *here,
           const struct st_trace_event *event)
{
	const bool is_same = a->keys.v[here->function] == DECLARED + event->function;
	/* An engine that waits for returns by replacing their addresses knows it. */
	if (!event->back || a->limits.followed)
		return !event->back;
	return here->back == event->back && !(is_same && !event->jumps_to_itself);
}

static bool
may_enter(const struct st_trace_aggregate *a, const struct thread *t,
          const struct st_trace_event *event)
{
	const struct st_trace_limits *l = &a->limits;
	if (l->depth && t->stack.n >= l->depth)
		return false;
	return !l->has_scope || l->scope == event->function || a->processes.v[t->process].running;
}

st_status
st_trace_event_entry(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	struct thread *t = thread_of_event(a, event);
	if (!t)
		return ST_FAILED;
	leave_below(a, t, event->sp);
	const struct activation *here = activation_at(t, event->sp);
	if (here && has_jumped(a, here, event)) {
		/* One to its own beginning is no call. */
		if (a->keys.v[here->function] == DECLARED + event->function)
			return ST_OK;
	} else {
		while (activation_at(t, event->sp))
			lose(a, t);
	}
	if (!may_enter(a, t, event))
		return ST_OK;
	const uint32_t function = function_of_key(a, event->tid, DECLARED + event->function);
	struct activation *new = push_activation(a, t, function, event->ns);
	if (!new)
		return ST_FAILED;
	new->sp = event->sp;
	new->back = event->back ? event->back : here ? here->back : 0;
	new->is_followed = !a->limits.followed || t->followed < a->limits.followed;
	t->followed += new->is_followed;
	if (is_scope_function(a, function))
		a->processes.v[t->process].running++;
	return ST_OK;
}

st_status
st_trace_event_return(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	struct thread *t = thread_of_event(a, event);
	if (!t)
		return ST_FAILED;
	leave_below(a, t, event->sp);
	/* A function that jumped to another one at its end returns with that one. */
	while (activation_at(t, event->sp))
		if (end_activation(a, t, event->ns))
			return ST_FAILED;
	return ST_OK;
}

static st_status
end_traced_thread(struct st_trace_aggregate *a, struct thread *t, uint64_t ns)
{
	while (t->stack.n) {
		/* Nobody knows of one that is nested too deep whether it has returned. */
		const struct activation *top = &t->stack.v[t->stack.n - 1];
		if (top->sp && !top->is_followed)
			lose(a, t);
		else if (end_activation(a, t, ns))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_trace_event_end(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	struct thread *t = thread_of_event(a, event);
	return t ? end_traced_thread(a, t, event->ns) : ST_FAILED;
}

st_status
st_trace_events_end(struct st_trace_aggregate *a, uint64_t ns)
{
	for (size_t i = 0; i < a->threads.n; i++)
		if (end_traced_thread(a, &a->threads.v[i], ns))
			return ST_FAILED;
	return ST_OK;
}

st_status
st_trace_static_begin(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	struct thread *t = aggregate_thread_of(a, event->tid | STATIC);
	const uint32_t function = function_of_key(a, event->tid, DECLARED + event->function);
	return t && push_activation(a, t, function, event->ns) ? ST_OK : ST_FAILED;
}

st_status
st_trace_static_end(struct st_trace_aggregate *a, const struct st_trace_event *event)
{
	struct thread *t = aggregate_thread_of(a, event->tid | STATIC);
	const uint32_t function = function_of_key(a, event->tid, DECLARED + event->function);
	return t ? return_of(a, t, function, event->ns) : ST_FAILED;
}

static bool
is_lane(const struct st_trace_lane *x, const struct st_trace_lane *y)
{
	return x->is_process == y->is_process && x->tid == y->tid && x->end_ns < 0;
}

st_status
st_trace_lane(struct st_trace_aggregate *a, const struct st_trace_lane *lane, const char *name,
              size_t n)
{
	const uint32_t text = st_trace_intern(a->t.texts, name, n);
	if (text == UINT32_MAX)
		return ST_FAILED;
	for (size_t i = a->t.lanes.n; i-- > 0 && lane->end_ns >= 0;)
		if (is_lane(&a->t.lanes.v[i], lane)) {
			a->t.lanes.v[i].end_ns = lane->end_ns;
			return ST_OK;
		}
	struct st_trace_lane *new = ST_PUSH(&a->t.lanes);
	if (!new)
		return ST_FAILED;
	*new = *lane;
	new->name = a->t.texts->v.v[text];
	return ST_OK;
}

/* Functions that have neither returned nor been lost say nothing: those of stray returns. */
static st_status
drop_empty(struct st_trace *t)
{
	uint32_t *at = calloc(t->functions.n + 1, sizeof *at), n = 0;
	if (!at)
		return ST_FAILED;
	for (size_t i = 0; i < t->functions.n; i++) {
		at[i] = n;
		if (t->functions.v[i].calls || t->functions.v[i].lost)
			t->functions.v[n++] = t->functions.v[i];
	}
	t->functions.n = n;
	for (size_t i = 0; i < t->pairs.n; i++) {
		struct st_trace_pair *pair = &t->pairs.v[i];
		pair->callee = at[pair->callee];
		if (pair->caller != ST_TRACE_NOBODY)
			pair->caller = at[pair->caller];
	}
	/* A caller that was lost is there; one that only stray returns name is in no pair. */
	free(at);
	return ST_OK;
}

st_status
st_trace_aggregate_end(struct st_trace_aggregate *a, struct st_trace *t)
{
	for (size_t i = 0; i < a->threads.n; i++)
		while (a->threads.v[i].stack.n)
			lose(a, &a->threads.v[i]);
	if (drop_empty(&a->t) || st_trace_sort(&a->t))
		return ST_FAILED;
	*t = a->t;
	a->t = (struct st_trace){0};
	return ST_OK;
}
