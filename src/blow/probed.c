/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run under probes, in the process made for that run: gives functions noise, and writes results.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "blow/contexts.h"
#include "blow/hidden.h"
#include "blow/latency.h"
#include "blow/listed.h"
#include "blow/locations.h"
#include "blow/origins.h"
#include "blow/run.h"
#include "blow/sampled.h"
#include "blow/sites.h"
#include "blow/timeline.h"
#include "blow/virtual.h"
#include "probe/probes.h"
#include "session/session.h"
#include "timing/timing.h"
#include "trace/choose.h"
#include "trace/probe_results.h"

/* Probe numbers of one function, which has several if its file is mapped more than once. */
enum { MOST_NUMBERS = 16 };

struct probe_numbers {
	uint32_t v[MOST_NUMBERS], n; /* n: atomic */
};

/* The seconds that a thread has paid for virtual speed-ups. */
struct paid_by {
	int64_t tid;
	double seconds;
};

struct probed {
	const struct st_blow_how *how;
	const struct st_blow *b; /* NULL: functions are selected */
	const struct st_blow_run *asked;
	struct st_blow_listing listing; /* of the selection */
	struct st_hashmap index;        /* of functions by their offsets */
	struct st_blow_contexts contexts;
	struct st_sampler sampler;
	bool has_locations; /* some locations of `b` are chosen */
	struct st_probes probes;
	struct st_moment begin;
	uint64_t word, word_at_end; /* the noise: st_probe_noise */
	/* For a virtual speed-up: the probe numbers of the function, and of the caller of a
	 * context; and the seconds that the first thread has paid. */
	struct probe_numbers function, caller;
	double paid;
	ST_VEC(struct paid_by) payers;
	struct st_flight *flights; /* of the latencies */
	struct st_blow_sites sites;
	bool no_memory;                      /* for the payers */
	struct st_blow_recording *recording; /* NULL: calls are not recorded */
};

/* ---- choice of functions ---- */

/* Whether a run with these options has a probe on the function. A recorded run also shows what else
 * the program does, as far as that does not cost too much. */
static bool
is_needed(const struct probed *r, uint32_t function)
{
	const struct st_blow_how *how = r->how;
	const struct st_blow_function *f = &r->b->functions.v[function];
	if (f->traits & ST_BLOW_IS_TARGET)
		return false; /* the functions of a context are */
	if (f->chosen || f->progress || r->contexts.timed[function])
		return true;
	if (!f->calls || f->why)
		return false;
	return how->speedup || (how->records && f->calls <= ST_BLOW_MOST_CALLS);
}

static st_status
index_functions(struct probed *r)
{
	if (r->b && st_blow_contexts_begin(&r->contexts, r->b))
		return ST_FAILED;
	for (uint32_t i = 0; r->b && i < r->b->functions.n; i++) {
		const struct st_blow_function *f = &r->b->functions.v[i];
		if (is_needed(r, i) && st_hashmap_add(&r->index, st_hash_number(f->offset), i))
			return ST_FAILED;
		r->has_locations |= f->chosen && f->traits & ST_BLOW_IS_INSIDE;
	}
	return ST_OK;
}

/* The chosen function there; ST_BLOW_NONE: there is none. */
static uint32_t
probed_function_at(const struct probed *r, const char *image, uint64_t offset)
{
	return ST_HASHMAP_FIND(&r->index, st_hash_number(offset), at,
	                       r->b->functions.v[at].offset == offset &&
	                               !strcmp(r->b->functions.v[at].image, image));
}

/* Whether the function contains a location that is chosen. Then its time is measured, too. */
static bool
is_around_location(const struct probed *r, const struct st_probed_image *image,
                   const struct st_function *f)
{
	for (size_t i = 0; r->has_locations && i < r->b->functions.n; i++) {
		const struct st_blow_function *l = &r->b->functions.v[i];
		if (l->traits & ST_BLOW_IS_INSIDE && l->chosen && !strcmp(l->image, image->path) &&
		    st_blow_function_around(image->image, l->offset) == f->offset)
			return true;
	}
	return false;
}

/* The selection looks for the locations in the image, which a run has as functions. */
static st_status
choose_locations(struct probed *r, const struct st_probed_image *image, struct st_wanted_points *to)
{
	const size_t before = r->listing.found.list.n;
	st_status status =
	        r->b ? ST_OK : st_blow_locations_find(r->how->locations, image, &r->listing.found);
	for (size_t i = before; i < r->listing.found.list.n && !status; i++)
		status = st_blow_want_location(to, r->listing.found.list.v[i].at);
	for (size_t i = 0; r->b && i < r->b->functions.n && !status; i++) {
		const struct st_blow_function *f = &r->b->functions.v[i];
		if (f->traits & ST_BLOW_IS_INSIDE && f->chosen && !strcmp(f->image, image->path))
			status = st_blow_want_location(to, f->offset);
	}
	return status;
}

static struct st_probe_action
choose_blown(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	const struct probed *r = arg;
	if (r->how->main && st_trace_is_named(f, r->how->main))
		return (struct st_probe_action){ST_PROBE_SCOPE, 0};
	bool chosen = r->b ? probed_function_at(r, image->path, f->offset) != ST_BLOW_NONE ||
	                              is_around_location(r, image, f)
	                   : st_blow_is_listed(&r->listing, image, f);
	if (r->how->records && !chosen)
		chosen = f->whole == f->offset && f->source != ST_SYM_PLT &&
		         f->source != ST_SYM_PERFMAP && st_blow_is_wait(f->raw_name);
	if (r->b && !r->how->records && st_blow_creates_threads(f))
		return (struct st_probe_action){ST_PROBE_CREATE, 0};
	return (struct st_probe_action){chosen ? ST_PROBE_TIME : ST_PROBE_NOTHING, 0};
}

static st_status
want_sites(void *arg, const struct st_probed_image *image, struct st_wanted_points *to)
{
	struct probed *r = arg;
	return st_blow_sites_add(&r->sites, r->how->points, image, to) ||
	                       choose_locations(r, image, to) ||
	                       (r->b && st_sampler_add(&r->sampler, r->b, image))
	               ? ST_FAILED
	               : ST_OK;
}

/* Adds a probe to those of the code that is sped up virtually, while the program runs. */
static void
add_probe_number(struct probe_numbers *to, uint32_t probe)
{
	if (to->n < MOST_NUMBERS) {
		to->v[to->n] = probe;
		__atomic_store_n(&to->n, to->n + 1, __ATOMIC_RELEASE);
	}
}

static void
note_numbers(struct probed *r, uint32_t function, uint32_t probe)
{
	const struct st_blow_function *target = &r->b->functions.v[r->asked->function];
	const bool is_context = target->traits & ST_BLOW_IS_CONTEXT;
	if (function == (is_context ? target->callee : r->asked->function))
		add_probe_number(&r->function, probe);
	if (is_context && function == target->caller)
		add_probe_number(&r->caller, probe);
}

static void
give_noise(void *arg, uint32_t function)
{
	struct probed *r = arg;
	const struct st_probed_function *f = &r->probes.functions.v[function];
	const char *image = r->probes.images.v[f->image].path;
	const uint32_t at = probed_function_at(r, image, f->offset);
	if (at != ST_BLOW_NONE)
		st_blow_flights_probe(r->flights, r->how->points, &r->b->functions.v[at], function);
	/* A recorded run also has probes on functions that take no noise. */
	if (r->asked->function == ST_BLOW_NONE || at == ST_BLOW_NONE)
		return;
	if (r->how->causal)
		note_numbers(r, at, function);
	else if ((at == r->asked->function) != r->how->speedup) {
		r->probes.process.area->yield_ticks =
		        (uint64_t)(r->how->yield_ns * 1e-9 * st_tsc_frequency());
		__atomic_store_n(&r->probes.process.area->noise[function],
		                 r->how->after && !f->is_point ? r->word_at_end : r->word,
		                 __ATOMIC_RELEASE);
	}
}

/* Whether the thread is in a call that a function with one of the probes has made. */
static bool
is_within_context(const struct probed *r, uint32_t record, uint32_t caller)
{
	const uint32_t n = __atomic_load_n(&r->function.n, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n; i++)
		if (st_probes_in_pair(&r->probes, record, caller, r->function.v[i]))
			return true;
	return false;
}

static bool
is_within_target(void *arg, uint32_t record)
{
	const struct probed *r = arg;
	if (r->asked->function == ST_BLOW_NONE)
		return false;
	const struct st_blow_function *target = &r->b->functions.v[r->asked->function];
	if (!(target->traits & ST_BLOW_IS_CONTEXT))
		return st_virtual_in_call(&r->probes, record, r->function.v,
		                          __atomic_load_n(&r->function.n, __ATOMIC_ACQUIRE));
	if (target->caller == ST_BLOW_NONE)
		return is_within_context(r, record, UINT32_MAX);
	const uint32_t n = __atomic_load_n(&r->caller.n, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n; i++)
		if (is_within_context(r, record, r->caller.v[i]))
			return true;
	return false;
}

static bool
look_at_sample(void *arg, pid_t tid, const struct user_regs_struct *regs)
{
	struct probed *r = arg;
	return st_sampler_look(&r->sampler, tid, regs);
}

static void
note_payer(void *arg, int64_t tid, double seconds)
{
	struct probed *r = arg;
	struct paid_by *payer = ST_PUSH(&r->payers);
	if (payer)
		*payer = (struct paid_by){tid, seconds};
	r->no_memory |= !payer;
}

static void
note_begin(void *arg, struct st_probes *probes)
{
	struct probed *r = arg;
	(void)probes;
	r->begin = st_moment_now();
}

/* ---- results ---- */

static uint64_t
hash_output(int output)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	unsigned char bytes[1 << 16];
	ssize_t n;
	off_t at = 0;
	while ((n = pread(output, bytes, sizeof bytes, at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			hash = (hash ^ bytes[i]) * 0x100000001b3;
		at += n;
	}
	return hash;
}

static uint64_t
ns_of_usage(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void
probed_fill_run(const struct probed *r, const struct st_blow_watchdog *w, int output,
                struct st_blow_run *run)
{
	const struct st_probing *p = &r->probes.process;
	const int status = p->status;
	run->exit = w->cut ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	run->fault = w->fault                         ? w->fault
	             : WIFSIGNALED(status) && !w->cut ? ST_BLOW_CRASH
	                                              : ST_BLOW_NO_FAULT;
	/* A run that Strobe ends has written an arbitrary part of its output. */
	run->output = w->cut ? 0 : hash_output(output);
	run->total_ns = (uint64_t)((double)(p->end - r->begin.ticks) / p->tsc_hz * 1e9);
	run->cpu_ns = ns_of_usage(p->usage.ru_utime) + ns_of_usage(p->usage.ru_stime);
}

static uint32_t
probed_record_of(const struct st_probe_area *a, int64_t tid)
{
	uint32_t i = 0;
	while (i < a->n_records && i < ST_PROBE_MOST_RECORDS && a->records[i].tid != tid)
		i++;
	return i;
}

static uint32_t
probed_thread_of(const struct st_probe_area *a, int64_t tid)
{
	return st_blow_thread_number(a, probed_record_of(a, tid));
}

static uint64_t
noise_ns_of(const struct probed *r, const struct st_probe_cell *c)
{
	return (uint64_t)((double)c->noise / r->probes.process.tsc_hz * 1e9);
}

/* Adds the function's noise in the thread. */
static void
add_noise_of(const struct probed *r, uint32_t record, struct st_blow_sample *s)
{
	const struct st_probes *p = &r->probes;
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct st_probed_function *f = &p->functions.v[i];
		if (probed_function_at(r, p->images.v[f->image].path, f->offset) != s->function)
			continue;
		const struct st_probe_cell *c = st_probes_cell(p, record, i);
		s->noises += c ? c->noises : 0;
		s->noise_ns += c ? noise_ns_of(r, c) : 0;
	}
}

static uint64_t
paid_ns_of(const struct probed *r, int64_t tid)
{
	double most = 0;
	for (size_t i = 0; i < r->payers.n; i++)
		if (r->payers.v[i].tid == tid && r->payers.v[i].seconds > most)
			most = r->payers.v[i].seconds;
	return (uint64_t)(most * 1e9 + 0.5);
}

static uint64_t
paid_ns_by(const void *arg, int64_t tid)
{
	return paid_ns_of(arg, tid);
}

/* The time of the function around a location, in the thread. */
static uint64_t
ns_around(const struct probed *r, const struct st_trace *t, const struct st_trace_function *at)
{
	uint64_t around = 0;
	for (size_t i = 0; i < r->probes.images.n && !around; i++) {
		const struct st_probed_image *image = &r->probes.images.v[i];
		if (image->image && !strcmp(image->path, at->image))
			around = st_blow_function_around(image->image, at->offset);
	}
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct st_trace_function *f = &t->functions.v[i];
		if (f->tid == at->tid && f->offset == around && !strcmp(f->image, at->image))
			return f->outermost_ns;
	}
	return 0;
}

/* Whether the run keeps what it measured of the entry. A run with noise in one function keeps only
 * that, and progress points. */
static bool
keeps_sample_of(const struct probed *r, const struct st_blow_run *run, uint32_t function)
{
	const struct st_blow_function *f = &r->b->functions.v[function];
	if (run->function == ST_BLOW_NONE || function == run->function || f->progress)
		return f->chosen || f->progress || !r->contexts.timed[function];
	return r->how->speedup;
}

static st_status
add_samples(const struct probed *r, const struct st_trace *t, struct st_blow_run *run)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct st_trace_function *f = &t->functions.v[i];
		const uint32_t function = probed_function_at(r, f->image, f->offset);
		if (function == ST_BLOW_NONE || !f->calls)
			continue;
		const bool progress = r->b->functions.v[function].progress;
		if (!keeps_sample_of(r, run, function))
			continue;
		struct st_blow_sample *s = ST_PUSH(&run->samples);
		if (!s)
			return ST_FAILED;
		*s = (struct st_blow_sample){
		        .function = function,
		        .thread = probed_thread_of(r->probes.process.area, f->tid),
		        .calls = f->calls,
		        .ns = r->b->functions.v[function].traits & ST_BLOW_IS_INSIDE
		                      ? ns_around(r, t, f)
		                      : f->outermost_ns};
		if (run->function != ST_BLOW_NONE && !r->how->causal &&
		    (function == run->function) != r->how->speedup)
			add_noise_of(r, probed_record_of(r->probes.process.area, f->tid), s);
		if (progress)
			s->noise_ns = paid_ns_of(r, f->tid);
	}
	return ST_OK;
}

/* ---- both clocks ---- */

/* Adds the call that was open at the end of the process. Its CPU time is known only if the process
 * had no other thread. */
static void
add_open_clock(const struct probed *r, uint32_t record, const struct st_probe_cell *c,
               struct st_blow_sample *s)
{
	const struct st_probing *p = &r->probes.process;
	const struct st_probe_area *a = p->area;
	const uint64_t cpu = ns_of_usage(p->usage.ru_utime) + ns_of_usage(p->usage.ru_stime);
	if (!c->active || !c->clock_begin)
		return;
	if (a->records[record].tid != (uint32_t)p->pid || a->n_records != 1 || a->rows ||
	    p->end <= c->clock_begin || cpu <= c->clock_cpu_begin) {
		s->noises = 1;
		return;
	}
	const uint64_t ns = (uint64_t)((double)(p->end - c->clock_begin) / p->tsc_hz * 1e9),
	               ran = cpu - c->clock_cpu_begin;
	s->ns += ns;
	s->noise_ns += ran < ns ? ran : ns;
}

static st_status
add_clock_sample(const struct probed *r, uint32_t record, const struct st_probe_cell *c,
                 uint32_t function, struct st_blow_run *run)
{
	struct st_blow_sample *s = st_blow_sample_of(run, function, 0);
	if (!s)
		return ST_FAILED;
	s->calls += c->calls;
	s->ns += (uint64_t)((double)c->clock_ticks / r->probes.process.tsc_hz * 1e9);
	s->noise_ns += c->clock_cpu;
	add_open_clock(r, record, c, s);
	return ST_OK;
}

/* The samples of the function with a probe, and of the locations within it. */
static st_status
add_clocks_of(const struct probed *r, uint32_t record, uint32_t probe, struct st_blow_run *run)
{
	const struct st_probed_function *f = &r->probes.functions.v[probe];
	const struct st_probed_image *image = &r->probes.images.v[f->image];
	const struct st_probe_cell *c = st_probes_cell(&r->probes, record, probe);
	if (!c || f->is_point || (!c->clock_ticks && !c->clock_begin))
		return ST_OK;
	const uint32_t at = probed_function_at(r, image->path, f->offset);
	st_status status = ST_OK;
	if (at != ST_BLOW_NONE && r->b->functions.v[at].chosen)
		status = add_clock_sample(r, record, c, at, run);
	for (uint32_t i = 0; r->has_locations && i < r->b->functions.n && !status; i++) {
		const struct st_blow_function *l = &r->b->functions.v[i];
		if (l->traits & ST_BLOW_IS_INSIDE && l->chosen && !strcmp(l->image, image->path) &&
		    st_blow_function_around(image->image, l->offset) == f->offset)
			status = add_clock_sample(r, record, c, i, run);
	}
	return status;
}

/* The samples of a run that reads both clocks: clocks.h. */
static st_status
add_clocks(const struct probed *r, struct st_blow_run *run)
{
	const uint32_t n = r->probes.process.area->n_records;
	for (uint32_t i = 0; i < n && i < ST_PROBE_MOST_RECORDS; i++)
		for (uint32_t k = 0; k < r->probes.functions.n; k++)
			if (add_clocks_of(r, i, k, run))
				return ST_FAILED;
	return ST_OK;
}

/* ---- contexts and threads ---- */

/* The pairs of a function that is mapped several times are added up. */
static st_status
add_context_samples(const struct probed *r, const struct st_trace *t, struct st_blow_run *run)
{
	for (size_t i = 0; r->contexts.index.n && i < t->pairs.n; i++) {
		const struct st_trace_pair *pair = &t->pairs.v[i];
		const struct st_trace_function *callee = &t->functions.v[pair->callee];
		uint32_t caller = ST_BLOW_NONE;
		if (pair->caller != ST_TRACE_NOBODY) {
			const struct st_trace_function *f = &t->functions.v[pair->caller];
			caller = probed_function_at(r, f->image, f->offset);
			if (caller == ST_BLOW_NONE)
				continue;
		}
		const uint32_t context = st_blow_context(
		        &r->contexts, probed_function_at(r, callee->image, callee->offset), caller);
		if (context == ST_BLOW_NONE || !pair->calls ||
		    (run->function != ST_BLOW_NONE && run->function != context))
			continue;
		struct st_blow_sample *s = st_blow_sample_of(
		        run, context, probed_thread_of(r->probes.process.area, callee->tid));
		if (!s)
			return ST_FAILED;
		s->calls += pair->calls;
		s->ns += pair->outermost_ns;
	}
	return ST_OK;
}

/* The span of the thread; NULL: memory is exhausted. */
static struct st_blow_span *
span_of(struct st_blow_run *run, uint32_t thread)
{
	for (size_t i = 0; i < run->spans.n; i++)
		if (run->spans.v[i].thread == thread)
			return &run->spans.v[i];
	struct st_blow_span *span = ST_PUSH(&run->spans);
	if (span)
		*span = (struct st_blow_span){.thread = thread};
	return span;
}

/* Adds the time of each thread in calls that no function with a probe has made. */
static st_status
probed_add_spans(const struct probed *r, const struct st_trace *t, struct st_blow_run *run)
{
	for (size_t i = 0; r->how->speedup && i < t->pairs.n; i++) {
		const struct st_trace_pair *pair = &t->pairs.v[i];
		const struct st_trace_function *callee = &t->functions.v[pair->callee];
		if (pair->caller != ST_TRACE_NOBODY ||
		    probed_function_at(r, callee->image, callee->offset) == ST_BLOW_NONE)
			continue;
		const uint32_t thread = probed_thread_of(r->probes.process.area, callee->tid);
		struct st_blow_span *span = span_of(run, thread);
		if (!span)
			return ST_FAILED;
		span->ns += pair->inclusive_ns;
	}
	return ST_OK;
}

/* Adds the time by which a virtual speed-up makes the run shorter. */
static st_status
add_paid(const struct probed *r, struct st_blow_run *run)
{
	if (!r->how->causal || run->function == ST_BLOW_NONE)
		return ST_OK;
	const uint64_t ns = (uint64_t)(r->paid * 1e9 + 0.5);
	for (size_t i = 0; i < run->samples.n; i++) {
		struct st_blow_sample *s = &run->samples.v[i];
		if (s->function == run->function && !s->thread) {
			s->noise_ns = ns;
			return ST_OK;
		}
	}
	struct st_blow_sample *s = ST_PUSH(&run->samples);
	if (!s)
		return ST_FAILED;
	*s = (struct st_blow_sample){.function = run->function, .noise_ns = ns};
	return ST_OK;
}

/* Takes over the note of the watchdog. */
static st_status
probed_write_run(struct probed *r, const struct st_blow_watchdog *w, int output, FILE *out)
{
	struct st_blow_run run = *r->asked;
	struct st_trace t;
	run.samples = (__typeof__(run.samples)){0};
	run.spans = (__typeof__(run.spans)){0};
	run.origins = (__typeof__(run.origins)){0};
	run.note = w->note;
	probed_fill_run(r, w, output, &run);
	st_status status = st_trace_of_probes(&t, &r->probes, false);
	if (!status && r->how->clocks)
		status = add_clocks(r, &run);
	else if (!status && r->b)
		status = add_samples(r, &t, &run) || add_context_samples(r, &t, &run) ||
		                         probed_add_spans(r, &t, &run) ||
		                         st_sampler_end(&r->sampler, &run) ||
		                         st_blow_origins_of(&r->probes, &run) ||
		                         add_paid(r, &run) ||
		                         st_blow_sites_end(&r->sites, r->how->points, &r->probes,
		                                           r->b, paid_ns_by, r, &run) ||
		                         st_blow_flights_end(r->flights, r->how->points, r->b, &run)
		                 ? ST_FAILED
		                 : ST_OK;
	if (!status && !r->b)
		status = st_blow_list(&r->listing, &t, out) ||
		                         st_sampler_list(&r->sampler, &r->listing, out)
		                 ? ST_FAILED
		                 : ST_OK;
	if (!r->b && r->probes.process.executed)
		st_blow_write_executed(r->probes.process.executed, out);
	if (!status)
		st_blow_write_line(&run, out);
	st_trace_free(&t);
	st_blow_run_clear(&run);
	return status;
}

/* ---- the run ---- */

/* In causal mode, runs the program to its end, with a virtual speed-up or without one: both kinds
 * of runs have the cost of being watched. */
static st_status
watch_virtually(struct probed *r, struct st_error *e)
{
	struct st_virtual v = {.probes = &r->probes,
	                       .speedup = r->asked->function == ST_BLOW_NONE
	                                          ? 0
	                                          : (double)r->asked->noise.strength / 100,
	                       .within = is_within_target,
	                       .look = r->how->samples ? look_at_sample : NULL,
	                       .thread_paid = note_payer,
	                       .arg = r,
	                       .flights = r->flights,
	                       .n_flights = r->how->points ? r->how->points->latencies.n : 0};
	if (!r->how->causal || (!r->b && !r->how->samples))
		return ST_OK;
	const st_status status = st_virtual_run(&v, e);
	r->paid = v.paid;
	if (!status && r->no_memory)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the threads");
	return status;
}

/* ---- the recording ---- */

static bool
is_blown_probe(void *arg, uint32_t function)
{
	const struct probed *r = arg;
	const struct st_probed_function *f = &r->probes.functions.v[function];
	const struct st_blow_function *asked = &r->b->functions.v[r->asked->function];
	return probed_function_at(r, r->probes.images.v[f->image].path, f->offset) ==
	       (asked->traits & ST_BLOW_IS_CONTEXT ? asked->callee : r->asked->function);
}

static st_status
begin_timeline_of(struct probed *r, struct st_error *e)
{
	if (!r->how->records)
		return ST_OK;
	r->recording = st_blow_recording_begin(&r->probes);
	return r->recording ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the timeline");
}

/* Writes the timeline, unless the run has failed. */
static st_status
end_timeline_of(struct probed *r, bool failed, FILE *out, struct st_error *e)
{
	if (!r->recording ||
	    !st_blow_recording_end(r->recording, is_blown_probe, r, failed ? NULL : out))
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the timeline");
}

static st_status
run_probed(struct probed *r, int output, FILE *out, struct st_error *e)
{
	struct st_blow_watchdog w = {.pidfd = -1, .stop = -1};
	if (st_probes_start(&r->probes, r->how->program, true, e))
		return ST_FAILED;
	if (st_timing_interrupted()) /* before signals were passed on to the program */
		kill(-r->probes.process.pid, SIGKILL);
	const st_status begun =
	        st_hidden_check(&r->probes, e) || begin_timeline_of(r, e) ? ST_FAILED : ST_OK;
	st_blow_watchdog_begin(&w, &r->probes, output, r->how);
	const st_status watched = begun ? begun : watch_virtually(r, e);
	const st_status status = st_probes_wait(&r->probes, 0, e);
	st_blow_watchdog_end(&w);
	if (end_timeline_of(r, watched || status, out, e) || watched || status ||
	    (!r->b && (st_blow_check_names(r->how, e) ||
	               st_blow_sites_check(&r->sites, r->how->points, &r->probes, e)))) {
		free(w.note);
		return ST_FAILED;
	}
	return probed_write_run(r, &w, output, out)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the results of the run")
	               : ST_OK;
}

st_status
st_blow_probed(const struct st_blow_how *how, const struct st_blow *b,
               const struct st_blow_run *asked, int output, FILE *out, struct st_error *e)
{
	struct probed r = {.how = how,
	                   .b = b,
	                   .asked = asked,
	                   .probes = {.choose = choose_blown,
	                              .points = want_sites,
	                              .installed = b ? give_noise : NULL,
	                              .taken = note_begin,
	                              .process = {.noisy = true,
	                                          .dies = true,
	                                          .tells_executed = !b,
	                                          .scoped = how->main != NULL,
	                                          .hides_pauses = how->hides_pauses,
	                                          .both_clocks = how->clocks,
	                                          .records = how->records}}};
	r.sampler = (struct st_sampler){.probes = &r.probes, .asked = asked->function, .keeps = !b};
	r.probes.arg = r.probes.taken_arg = &r;
	r.flights = st_blow_flights_new(how->points);
	if (b) {
		r.word = st_blow_noise_word(asked->noise, false, st_tsc_frequency());
		r.word_at_end = st_blow_noise_word(asked->noise, true, st_tsc_frequency());
	}
	st_status status = r.flights && (b || !st_blow_listing_begin(&r.listing, how, &r.probes)) &&
	                                   !index_functions(&r)
	                           ? ST_OK
	                           : st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!status)
		status = run_probed(&r, output, out, e);
	st_blow_listing_end(&r.listing);
	st_probes_free(&r.probes);
	st_hashmap_free(&r.index);
	st_blow_contexts_end(&r.contexts);
	st_sampler_free(&r.sampler);
	free(r.payers.v);
	free(r.flights);
	free(r.sites.list.v);
	return status;
}
