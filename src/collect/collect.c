/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/collect.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "collect/slowdown.h"
#include "control/run.h"
#include "insn/shape.h"

static double
own_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t
nanoseconds(double seconds)
{
	return (int64_t)llround(seconds * 1e9);
}

static int64_t
ticks_to_ns(const struct st_run *run, uint64_t from, uint64_t to)
{
	if (!to || to < from || !(run->tsc_hz > 0))
		return -1;
	return nanoseconds((double)(to - from) / run->tsc_hz);
}

static void
describe_run(struct st_profile *p, const struct st_run *run, const struct st_profile_origin *origin)
{
	struct st_profile_run *r = &p->run;
	r->tool = st_profile_text(p, origin->tool);
	r->options = st_profile_text(p, origin->options ? origin->options : "");
	for (char *const *arg = origin->argv; *arg; arg++) {
		const char **slot = ST_PUSH(&r->command);
		if (slot)
			*slot = st_profile_text(p, *arg);
		else
			p->out_of_memory = true;
	}
	for (size_t i = 0; i < origin->n_tools; i++)
		st_profile_add_tool(p, origin->tools[i]);
	for (size_t i = 0; i < origin->n_tool_options; i++)
		st_profile_add_option(p, origin->tool_options[i].tool, origin->tool_options[i].name,
		                      origin->tool_options[i].value);
	r->start_ns = origin->start_ns;
	r->wall_ns = nanoseconds(run->seconds);
	r->cpu_user_ns = nanoseconds(run->cpu_user);
	r->cpu_system_ns = nanoseconds(run->cpu_system);
	r->tsc_hz = run->tsc_hz;
	r->exit = run->exit_code;
	const struct st_process *last = run->n_processes ? st_run_last(run) : NULL;
	r->signal = last && !last->exited ? last->signal : 0;
	r->sample_hz = origin->sample_hz;
	r->follow = origin->follow;
	r->has_functions = origin->keep_blocks;
	st_collect_machine(p);
}

static void
collect_add_threads(struct st_profile *p, const struct st_run *run, const struct st_view *v,
                    uint32_t process)
{
	for (uint32_t i = 0; i < v->n_threads; i++) {
		const struct st_thread *t = &v->threads[i];
		struct st_profile_thread *out = ST_PUSH(&p->threads);
		if (!out) {
			p->out_of_memory = true;
			return;
		}
		out->process = process;
		out->tid = t->tid;
		out->name = st_profile_textf(p, "%.*s", (int)sizeof t->name, t->name);
		out->state = t->state;
		out->begin_ns = ticks_to_ns(run, v->header->run.tsc_begin, t->tsc_begin);
		out->end_ns = ticks_to_ns(run, v->header->run.tsc_begin, t->tsc_end);
		out->samples = t->samples;
	}
}

/* A row that was not written whole, because the program was killed meanwhile, is left out. */
static void
add_overshoots(struct st_profile *p, const struct st_run *run, const struct st_view *v,
               uint32_t process)
{
	for (uint32_t i = 0; i < v->n_overshoots; i++) {
		const struct st_overshoot_row *row = &v->overshoots[i];
		uint64_t tsc = __atomic_load_n(&row->tsc, __ATOMIC_ACQUIRE);
		struct st_profile_overshoot *out = tsc ? ST_PUSH(&p->overshoots) : NULL;
		if (tsc && !out) {
			p->out_of_memory = true;
			return;
		}
		if (tsc)
			*out = (struct st_profile_overshoot){
			        process, ticks_to_ns(run, v->header->run.tsc_begin, tsc),
			        row->over_ns < INT64_MAX ? (int64_t)row->over_ns : INT64_MAX};
	}
}

static struct st_profile_counter *
add_counter(struct st_profile *p, void *list, uint32_t process, const char *name, const char *help,
            uint64_t total)
{
	__typeof__(p->counters) *counters = list;
	struct st_profile_counter *out = ST_PUSH(counters);
	if (!out) {
		p->out_of_memory = true;
		return NULL;
	}
	*out = (struct st_profile_counter){process, st_profile_text(p, name),
	                                   st_profile_text(p, help), total};
	return out;
}

/* Does a tool before this one have a counter of the name? */
static bool
collect_is_taken(const struct st_collect *c, const struct st_view *v, uint32_t tool,
                 const char *name)
{
	const struct st_results_header *h = v->header;
	for (uint32_t i = 0; i < v->n_counters; i++)
		if (h->counters.tools[i] < tool &&
		    !strcmp(st_view_string(v, h->counters.names[i]), name))
			return true;
	for (size_t i = 0; i < c->origin->n_counters; i++)
		if (c->origin->counters[i].tool < tool &&
		    !strcmp(c->origin->counters[i].name, name))
			return true;
	return false;
}

/* Counters of one name: the first tool's has it, the others' have their tool's before it. */
static const char *
counter_name(const struct st_collect *c, const struct st_view *v, uint32_t tool, const char *name)
{
	if (tool < c->origin->n_tools && collect_is_taken(c, v, tool, name))
		return st_profile_textf(c->profile, "%s_%s", c->origin->tools[tool], name);
	return name;
}

/* Counters that nothing has used are there, too. */
static void
add_unused(struct st_collect *c, const struct st_view *v, uint32_t process)
{
	const struct st_results_header *h = v->header;
	for (size_t k = 0; k < c->origin->n_counters; k++) {
		const struct st_profile_declared *d = &c->origin->counters[k];
		bool used = false;
		for (uint32_t i = 0; i < v->n_counters && !used; i++)
			used = h->counters.tools[i] == d->tool &&
			       !strcmp(st_view_string(v, h->counters.names[i]), d->name);
		if (!used)
			add_counter(c->profile, &c->profile->counters, process,
			            counter_name(c, v, d->tool, d->name), d->help, 0);
	}
}

/* They can be added up over the processes, but for the largest; what is the same for all is the
 * first one's. */
static void
collect_add_budget(struct st_profile *p, const struct st_view *v, uint32_t process)
{
	const struct st_budget_plan *plan = &v->header->plan.budget;
	const struct st_budget_results *b = &v->header->budget;
	if (!plan->period_ns)
		return;
	double ns = 1e9 / (double)plan->ticks_per_second / ST_BUDGET_UNITS;
	const struct {
		const char *name, *help;
		uint64_t total;
	} rows[] = {
	        {"budget_ns", "of each period", (uint64_t)((double)plan->most * ns + 0.5)},
	        {"budget_period_ns", "how long a period is", plan->period_ns},
	        {"budget_clock", "periods are in: 0 CPU time, 1 elapsed time", plan->clock},
	        {"budget_share", "0 each thread's, 1 the process', 2 by priority, 3 the tree's",
	         plan->share},
	        {"budget_sampling", "0 a window, 1 bursts, 2 adaptive", plan->sampling},
	        {"budget_bursts", "of each period; 0: a window", plan->bursts},
	        {"budget_native", "when spent: 1 natively, 0 in the engine",
	         plan->policy == ST_BUDGET_NATIVE && !b->no_native},
	        {"budget_charged_ns", "what measuring has cost, by the budget's account",
	         (uint64_t)((double)b->charged * ns + 0.5)},
	        {"budget_model_ns", "what it would be without the clock's corrections",
	         (uint64_t)((double)((int64_t)b->charged - b->corrected) * ns + 0.5)},
	        {"budget_controller_ns", "of what was charged, the CPU time of strobe itself",
	         st_budget_elsewhere(&v->header->control)},
	        {"budget_periods", "periods that were over", b->periods},
	        {"budget_own_periods", "of them, whole ones of threads with their own budget",
	         b->own_periods},
	        {"budget_own_periods_used", "of these, those with nine tenths of it used",
	         b->own_periods_used},
	        {"budget_windows", "times that measuring began", b->windows},
	        {"budget_rests", "times that a block was not measured for a while", b->backed_off},
	        {"budget_cpu_ns", "CPU time of the threads", b->cpu_ns},
	        {"budget_measured_ns", "of it while measured", b->measured_ns},
	        {"budget_audited_ns", "of that compared with what was charged", b->audited_ns},
	        {"budget_ticks_measured", "ticks of CPU time while measured",
	         b->ticks[ST_TICK_MEASURED]},
	        {"budget_ticks_plain", "in the engine, not measured", b->ticks[ST_TICK_PLAIN]},
	        {"budget_ticks_native", "in native execution", b->ticks[ST_TICK_NATIVE]},
	        {"budget_most_overshoot_ns", "the largest overshoot", b->most_overshoot},
#define ST_OVERSHOOT(name, below, text)                                                            \
	{"overshoots_" #name, text, b->overshoots[ST_OVERSHOOT_##name]},
	        ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (process == 0 || i > 1)
			add_counter(p, &p->statistics, process, rows[i].name, rows[i].help,
			            rows[i].total);
}

static void
collect_add_counters(struct st_collect *c, const struct st_view *v, const uint64_t *totals,
                     uint32_t process)
{
	struct st_profile *p = c->profile;
	for (uint32_t i = 0; i < v->n_counters; i++)
		add_counter(p, &p->counters, process,
		            counter_name(c, v, v->header->counters.tools[i],
		                         st_view_string(v, v->header->counters.names[i])),
		            st_view_string(v, v->header->counters.helps[i]), totals[i]);
	add_unused(c, v, process);
#define ST_STAT(name, text)                                                                        \
	add_counter(p, &p->statistics, process, #name, text, v->header->stats[ST_STAT_##name]);
	ST_STATS(ST_STAT)
#undef ST_STAT
	collect_add_budget(p, v, process);
}

/* The mapping an address belongs to, the latest when several held it one after the other; -1: none.
 */
static int64_t
mapping_of(const struct st_view *v, uint64_t address)
{
	for (uint32_t m = v->n_maps; m-- > 0;)
		if (address >= v->maps[m].start && address < v->maps[m].end)
			return m;
	return -1;
}

static st_status
collect_add_fallbacks(struct st_collect *c, const struct st_view *v, uint32_t process)
{
	for (uint32_t i = 0; i < v->n_fallbacks; i++) {
		const struct st_fallback *f = &v->header->fallbacks.v[i];
		struct st_profile_fallback *out = ST_PUSH(&c->profile->fallbacks);
		if (!out)
			return -1;
		out->process = process;
		out->image = UINT32_MAX;
		out->offset = f->pc;
		out->cause = f->cause;
		out->count = f->count;
		int64_t map = mapping_of(v, f->pc);
		if (map >= 0 &&
		    st_collect_place(c, v, (uint32_t)map, f->pc, &out->image, &out->offset))
			return -1;
	}
	return 0;
}

/* What the process used of the run's CPU time after a thread of it had left the engine: exact for a
 * single process with one thread, else too much. */
static void
add_native(struct st_profile_run *r, const struct st_view *v)
{
	int64_t cpu = r->cpu_user_ns + r->cpu_system_ns;
	uint64_t left = v->header->run.left_ns;
	if (left == 0 || left >= (uint64_t)cpu)
		return;
	r->native_ns += cpu - (int64_t)left;
	if (r->native_ns > cpu)
		r->native_ns = cpu;
}

static struct st_profile_process *
collect_add_process(struct st_profile *p, const struct st_run *run, const struct st_process *in,
                    const struct st_view *v)
{
	struct st_profile_process *out = ST_PUSH(&p->processes);
	if (!out)
		return NULL;
	out->pid = in->pid;
	out->ppid = in->ppid;
	out->command = st_profile_text(p, in->command ? in->command : "");
	out->exit = in->exit_code;
	out->signal = in->signal;
	out->exited = in->exited;
	out->core_dumped = in->core_dumped;
	out->wall_ns = -1;
	out->state = ST_RUN_STARTING;
	if (v) {
		out->state = in->running ? ST_RUN_GOES_ON : v->header->run.state;
		out->wall_ns = ticks_to_ns(run, v->header->run.tsc_begin, v->header->run.tsc_end);
	}
	return out;
}

/* Collects the counts of the process. 0, or -1. */
static st_status
collect_add_counts(struct st_collect *c, const struct st_view *v, uint32_t process,
                   bool keep_blocks)
{
	struct st_profile_process *out = &c->profile->processes.v[process];
	struct st_view_counts counts;
	struct st_view_totals totals;
	if (st_view_count(v, &counts))
		return -1;
	for (uint32_t b = ST_FIRST_ID; v->counting && b < v->n_blocks; b++) {
		if (!st_view_is_block(v, b))
			continue;
		out->executions += counts.executions[b];
		out->instructions +=
		        counts.executions[b] * v->blocks[b].n_insns + counts.partial[b];
	}
	int status = st_view_total(v, &counts, &totals);
	if (!status)
		collect_add_counters(c, v, totals.counters, process);
	if (!status)
		status = st_collect_tables(c, v, &totals, c->profile->run.tsc_hz);
	if (!status && keep_blocks && v->counting)
		status = st_collect_blocks(c, v, &counts);
	st_view_totals_free(&totals);
	st_view_counts_free(&counts);
	return status;
}

/* 0, or -1 when memory is exhausted; results that cannot be read become a note. */
static st_status
collect_read_process(struct st_collect *c, const struct st_run *run, const struct st_process *in,
                     bool keep_blocks)
{
	struct st_profile *p = c->profile;
	struct st_view v;
	struct st_error e;
	c->process = in;
	c->anon = UINT32_MAX;
	if (st_view_open(&v, in->results, in->results_size, &e)) {
		st_profile_note(p, "process %u: %s", in->pid, e.text);
		return collect_add_process(p, run, in, NULL) ? 0 : -1;
	}
	uint32_t index = (uint32_t)p->processes.n;
	if (!collect_add_process(p, run, in, &v) || collect_add_counts(c, &v, index, keep_blocks))
		return -1;
	uint32_t first_thread = (uint32_t)p->threads.n;
	collect_add_threads(p, run, &v, index);
	add_overshoots(p, run, &v, index);
	if (st_collect_forest(c, &v, first_thread))
		return -1;
	add_native(&p->run, &v);
	p->run.samples_dropped += v.n_dropped;
	if (collect_add_fallbacks(c, &v, index))
		return -1;
	if (keep_blocks && st_collect_samples(c, &v))
		return -1;
	if (keep_blocks && st_collect_frames(c, &v, st_stacks_of(c->origin->stacks, in->results),
	                                     index, first_thread))
		return -1;
	return 0;
}

static st_status
resolve_images(struct st_collect *c)
{
	struct st_profile *p = c->profile;
	struct st_collect_range r = {0};
	if (st_collect_keep_processes(c))
		return -1;
	st_collect_merge(c);
	for (uint32_t image = 0; image < p->images.n; image++) {
		r.image = image;
		r.block = r.block_end;
		while (r.block_end < p->blocks.n && p->blocks.v[r.block_end].image == image)
			r.block_end++;
		r.hit = r.hit_end;
		while (r.hit_end < c->hits.n && c->hits.v[r.hit_end].image == image)
			r.hit_end++;
		int status = st_collect_functions(c, &r) || st_collect_calls(c, &r) ||
		             st_collect_lines(c, &r);
		st_collect_range_release(&r);
		if (status)
			return -1;
	}
	if (st_collect_stretches(c))
		return -1;
	st_collect_finish_forest(c);
	const bool bad = st_collect_totals(c) || st_collect_shares(c) ||
	                 st_collect_finish_tables(c) || st_collect_waits(c);
	return bad ? ST_FAILED : ST_OK;
}

static void
note_stacks(struct st_profile *p)
{
	const struct st_profile_run *run = &p->run;
	const double tolerable = 0.02;
	if ((double)run->stacks_cut > tolerable * (double)run->stacks)
		st_profile_note(p,
		                "%.1f %% of the stacks could not be followed to their end: the "
		                "totals of their outer functions may be too low by that much",
		                100.0 * (double)run->stacks_cut / (double)run->stacks);
}

/* Execution that the counts do not cover, beyond the fallbacks. */
static void
note_processes(struct st_profile *p, const struct st_run *run)
{
	if (run->unfollowed)
		st_profile_note(
		        p, "%s not measured and ran natively; the first: %s",
		        ST_COUNT(run->unfollowed, "child process was", "child processes were"),
		        run->unfollowed_why ? run->unfollowed_why : "out of memory");
	const uint64_t children = st_profile_statistic(p, "children");
	if (children)
		st_profile_note(p, "%s not measured%s",
		                ST_COUNT(children, "child process ran natively and was",
		                         "child processes ran natively and were"),
		                p->run.exit < 0 ? ""
		                : children == 1 ? ": --follow measures it, too"
		                                : ": --follow measures them, too");
	for (size_t i = 0; i < p->processes.n; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		if (in->state == ST_RUN_GOES_ON)
			st_profile_note(
			        p,
			        "process %lld was still running a second after the program's "
			        "end: what it did later is not counted",
			        (long long)in->pid);
		if (in->state == ST_RUN_STARTING)
			st_profile_note(p, "process %lld ended before its first instruction",
			                (long long)in->pid);
	}
}

/* Rows that a tool consumes wait in the process until there are many: SIGKILL takes them along. */
static void
note_killed(struct st_profile *p, const struct st_run *run)
{
	for (size_t i = 0; i < run->n_processes; i++) {
		const struct st_results_header *h = run->processes[i].results;
		bool consumes = false;
		for (uint32_t s = 0; h && s < h->streams.n && s < ST_MAX_STREAMS; s++)
			consumes |= h->streams.v[s].consumed != 0;
		if (consumes && h->run.state == ST_RUN_CACHE && !run->processes[i].running)
			st_profile_note(p,
			                "process %u ended suddenly: the last events for its tools, "
			                "up to 64 KiB for each thread, are lost",
			                h->layout.pid);
	}
}

/* Where a table or a ring had no space. Basic blocks of which no more can be told apart run on
 * without being counted. */
static void
note_full(struct st_profile *p, const struct st_run *run)
{
	uint64_t stacks = 0;
	for (size_t i = 0; i < run->n_processes; i++) {
		const struct st_results_header *h = run->processes[i].results;
		if (h && h->blocks.n >= ST_MAX_BLOCKS)
			st_profile_note(
			        p,
			        "process %u has executed more than %s basic blocks: blocks that "
			        "it executed for the first time later are not counted",
			        h->layout.pid, ST_NUMBER(ST_MAX_BLOCKS));
		stacks += h ? h->samples.stacks_dropped : 0;
	}
	if (stacks)
		st_profile_note(p,
		                "%s dropped, because strobe did not read them in time: the totals "
		                "of their functions are too low",
		                ST_COUNT(stacks, "call stack was", "call stacks were"));
}

static void
note_left(struct st_profile *p, const struct st_run *run)
{
	if (run->left_to_runtime)
		st_profile_note(p,
		                "the process could not be detached at once: it leaves the engine "
		                "by itself, and some memory of strobe stays mapped in it");
}

static void
add_notes(struct st_profile *p, const struct st_run *run)
{
	if (p->run.has_functions && !st_profile_share_is_time(p) && p->functions.n)
		st_profile_note(p,
		                "%s in the code of the program: too few to tell where time goes, "
		                "so shares are of instructions",
		                ST_COUNT(p->run.samples_code, "sample", "samples"));
	if (st_debuginfod_problem())
		st_profile_note(p, "%s", st_debuginfod_problem());
	note_processes(p, run);
	st_collect_note_executed(p, run);
	note_killed(p, run);
	note_left(p, run);
	note_full(p, run);
	st_collect_note_rate(p, run);
	note_stacks(p);
	st_collect_note_waits(p);
	st_collect_note_pruned(p);
	if (p->run.samples_dropped)
		st_profile_note(p, "%s dropped for lack of space: ask for fewer with --sample-hz",
		                ST_COUNT(p->run.samples_dropped, "sample was", "samples were"));
	for (size_t i = 0; i < p->fallbacks.n; i++)
		if (p->fallbacks.v[i].cause == ST_FALLBACK_RESOURCES) {
			st_profile_note(p, "the engine ran out of memory or thread slots: what ran "
			                   "natively after that is not counted");
			break;
		}
}

void
st_collect_release(struct st_collect *c)
{
	for (size_t i = 0; i < c->opened.n; i++)
		if (c->opened.v[i])
			st_image_close(c->opened.v[i]);
	for (size_t i = 0; i < c->maps.n; i++)
		st_perf_map_free(c->maps.v[i]);
	for (size_t i = 0; i < c->stacks.n; i++)
		free(c->stacks.v[i].places);
	for (size_t i = 0; i < c->rows.n; i++)
		st_rows_free(&c->rows.v[i]);
	free(c->rows.v);
	free(c->stacks.v);
	free(c->ends.v);
	free(c->totals.v);
	free(c->unmerged_blocks);
	free(c->unmerged_hits);
	free(c->sampled_labels);
	st_shapes_free(c->shapes);
	free(c->opened.v);
	free(c->maps.v);
	free(c->hits.v);
	free(c->stretches.v);
	free(c->interned.v);
	st_hashmap_free(&c->interned_index);
}

/* The estimate knows what counts cost, and not what a tool does at each call. */
static bool
is_timing_calls(const struct st_profile *p)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!strcmp(p->tables.v[i].tool, "calltimes"))
			return true;
	return false;
}

/* At the end, because what it took to collect is a part of what the run costs. */
static void
estimate_slowdown(struct st_profile *p, const struct st_run *run, double begin)
{
	struct st_run all = *run;
	if (is_timing_calls(p))
		return;
	if (run->cpu_controller > 0)
		all.cpu_controller += own_seconds() - begin;
	size_t rows = p->blocks.n + p->lines.n + p->functions.n;
	for (size_t i = 0; i < p->tables.n; i++)
		rows += st_profile_rows(&p->tables.v[i]);
	p->run.slowdown = st_slowdown_estimate(&all, rows);
}

struct st_profile *
st_profile_collect(const struct st_run *run, const struct st_profile_origin *origin,
                   struct st_error *e)
{
	struct st_collect c = {
	        .profile = st_profile_new(), .origin = origin, .run = run, .nameless = UINT32_MAX};
	bool failed = !c.profile;
	double begin = own_seconds();
	if (!failed)
		describe_run(c.profile, run, origin);
	for (size_t i = 0; i < run->n_processes && !failed; i++)
		failed = collect_read_process(&c, run, &run->processes[i], origin->keep_blocks) ||
		         st_collect_end_process(&c);
	failed = failed || st_collect_entries(&c) || st_collect_pieces(&c) || resolve_images(&c) ||
	         st_collect_alloc(&c);
	if (!failed) {
		add_notes(c.profile, run);
		if (origin->qos)
			st_collect_qos(c.profile, origin->qos);
		estimate_slowdown(c.profile, run, begin);
	}
	st_collect_release(&c);
	if (!failed && !c.profile->out_of_memory)
		return c.profile;
	st_profile_free(c.profile);
	st_cause(e, ST_EXIT_FAILED, "no memory left to read the results of the run");
	return NULL;
}
