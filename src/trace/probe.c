/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine `probe`: see rt/probe. */
#include "trace/probe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "collect/collect.h"
#include "session/session.h"
#include "trace/choose.h"
#include "trace/probe_processes.h"
#include "trace/probe_results.h"
#include "trace/probe_rows.h"
#include "trace/rates.h"
#include "trace/reduce.h"

struct choice {
	const struct st_trace_request *request;
	struct st_trace_chooser *chooser;
	struct st_probes *probes;
};

/* The functions of a program that the process has executed are its own as well; with --follow, so
 * are those of what its children have executed. */
static void
choose_executed(void *arg, const struct st_probed_image *image)
{
	const struct choice *c = arg;
	struct st_region *r = &c->request->session->region;
	struct st_error ignored;
	const bool follows = c->request->session->follow;
	if (r->own && (!follows || r->own_of_children) && image == &image->probes->images.v[0] &&
	    !st_region_chooses_image(r, image->path))
		/* Without memory for it, its functions take no probes. */
		ST_IGNORE(st_patterns_add_path(&r->images, "images", image->path, &ignored));
}

static struct st_probe_action
choose_action(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	const struct choice *c = arg;
	const bool is_scope = *c->request->main && st_trace_is_named(f, c->request->main);
	if (is_scope)
		return (struct st_probe_action){ST_PROBE_SCOPE, 0};
	if (st_trace_chosen(c->chooser, image->image, image->path, f))
		return (struct st_probe_action){ST_PROBE_TIME,
		                                st_trace_rate_of(c->request->rates, f)};
	return (struct st_probe_action){ST_PROBE_NOTHING, 0};
}

static double
seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int
exit_code_of_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* By what the probes have cost. Nothing is known where the CPU time is not, or is less than that.
 */
static struct st_slowdown
slowdown_of(const struct st_probes *p, double cpu_seconds)
{
	const struct st_probes *each;
	double ticks = 0;
	for (size_t k = 0; (each = st_probes_each(p, k)); k++) {
		const struct st_probe_area *a = each->process.area;
		for (uint32_t i = 0; a && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++)
			ticks += (double)a->records[i].spent / 256;
	}
	const double cost = ticks / p->process.tsc_hz, error = ST_TRACE_COST_ERROR;
	const double least = cpu_seconds - cost * (1 - error),
	             most = cpu_seconds - cost * (1 + error);
	if (!(most > 0) || !(cost > 0))
		return (struct st_slowdown){0};
	return (struct st_slowdown){cpu_seconds / least, cpu_seconds / (cpu_seconds - cost),
	                            cpu_seconds / most};
}

/* The number of processes without probes, and the reason of the first one. */
static char *
unfollowed_of(const struct st_probes *p, size_t *n)
{
	const struct st_probes *each;
	char *why = NULL;
	*n = 0;
	for (size_t i = 0; (each = st_probes_each(p, i)); i++) {
		*n += each->process.unfollowed;
		why = why ? why : each->process.unfollowed_why;
	}
	return why;
}

static struct st_profile *
make_profile(const struct st_trace_request *r, const struct st_probes *p, struct st_error *e)
{
	static const char *const tools[] = {"calltimes"};
	static const struct st_profile_option engine = {0, "engine", "probe"};
	const struct st_probing *process = &p->process;
	size_t unfollowed;
	char *why = unfollowed_of(p, &unfollowed);
	const struct st_run run = {.seconds = process->seconds,
	                           .unfollowed = unfollowed,
	                           .unfollowed_why = why,
	                           .cpu_user = seconds_of(process->usage.ru_utime),
	                           .cpu_system = seconds_of(process->usage.ru_stime),
	                           .tsc_hz = process->tsc_hz,
	                           .exit_code = exit_code_of_status(process->status)};
	const struct st_profile_origin origin = {.tool = "calltimes",
	                                         .argv = r->session->program,
	                                         .options = r->session->given,
	                                         .follow = r->session->follow,
	                                         .start_ns = process->start_ns,
	                                         .tools = tools,
	                                         .n_tools = 1,
	                                         .tool_options = &engine,
	                                         .n_tool_options = 1};
	struct st_trace t;
	struct st_profile *profile = st_profile_collect(&run, &origin, e);
	if (!profile)
		return NULL;
	profile->run.slowdown = slowdown_of(p, run.cpu_user + run.cpu_system);
	if (process->attached)
		profile->run.exit = -1; /* its end was not seen */
	else
		profile->run.signal = WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
	st_trace_put_processes(profile, p, r->session->program ? r->session->program[0] : "");
	if (!st_trace_of_probes(&t, p, true)) {
		const st_status status =
		        st_trace_add_left_out(r->reduction, &t) || st_trace_put(&t, profile)
		                ? ST_FAILED
		                : ST_OK;
		st_trace_free(&t);
		if (!status)
			return profile;
	}
	st_profile_free(profile);
	st_cause(e, ST_EXIT_FAILED, "no memory left to keep the trace");
	return NULL;
}

/* Names the requested functions that do not exist, so that no result is empty without its cause. */
static void
note_missing_names(const struct st_trace_request *r, const struct st_probes *probes,
                   struct st_trace_outcome *out)
{
	struct st_profile *p = out->profile;
	struct st_region *region = &r->session->region;
	if (region->functions.n || region->scope.n || region->excluded.n ||
	    st_trace_rates_miss(r->rates))
		for (size_t i = 0; i < probes->images.n; i++)
			st_region_image(region, probes->images.v[i].path);
	out->missing = p->notes.n;
	st_region_note_unknown(region, p);
	st_trace_rates_note(r->rates, region, p);
	out->n_missing = p->notes.n - out->missing;
	out->unmatched = st_region_fits_nothing(region, true);
}

static st_status
finish_probe(const struct st_trace_request *r, struct st_probes *p, struct st_trace_outcome *out,
             struct st_error *e)
{
	out->profile = make_profile(r, p, e);
	if (!out->profile)
		return ST_FAILED;
	out->pid = (uint32_t)p->process.pid;
	if (!p->process.attached)
		out->exit_code = exit_code_of_status(p->process.status);
	if (p->process.cut)
		st_profile_note(out->profile,
		                "the trace ended after %g s, as --for says: the program went on "
		                "without probes",
		                r->session->region.length);
	if (p->process.executed && !p->process.cut)
		st_profile_note(out->profile,
		                "the process executed another program, %s, which is not traced: "
		                "name that program itself, or use --engine jit",
		                p->process.executed);
	if (p->process.cleared)
		st_profile_note(
		        out->profile,
		        "the process had probes of a killed strobe, which were removed before "
		        "the trace began");
	note_missing_names(r, p, out);
	return ST_OK;
}

/* ---- entries and returns one by one ---- */

struct events {
	struct st_row_files files;
	struct st_probe_rows *rows; /* NULL: they are not recorded, or there is no memory for it */
};

static void
begin_events(struct events *v, const struct st_trace_request *r, struct st_probes *p)
{
	*v = (struct events){0};
	if (!r->events)
		return;
	st_session_open_rows(&v->files, r->session);
	if (v->files.writer)
		v->rows = st_probe_rows_begin(p, v->files.writer);
}

static void
note_events(const struct events *v, const struct st_trace_request *r, bool complete,
            struct st_profile *p)
{
	if (!r->events)
		return;
	if ((v->files.writer && st_row_writer_finish(v->files.writer, p)) || !complete)
		st_profile_note(p, "no memory left for entries and returns: they are missing, or "
		                   "incomplete");
}

static st_status
finish_events(struct events *v, const struct st_trace_request *r, struct st_probes *p,
              struct st_trace_outcome *out, st_status status, struct st_error *e)
{
	const bool complete = v->rows && !st_probe_rows_end(v->rows);
	if (!status)
		status = finish_probe(r, p, out, e);
	if (!status)
		note_events(v, r, complete, out->profile);
	st_session_close_rows(&v->files);
	return status;
}

static st_status
run_process(const struct st_trace_request *r, struct st_probes *p, struct st_trace_outcome *out,
            struct st_error *e)
{
	struct events events;
	if (st_probes_attach(p, r->session->pid, e))
		return ST_FAILED;
	begin_events(&events, r, p);
	const st_status status = st_probes_detach(p, r->session->seconds, e);
	return finish_events(&events, r, p, out, status, e);
}

static st_status
run_program(const struct st_trace_request *r, struct st_probes *p, struct st_trace_outcome *out,
            struct st_error *e)
{
	struct events events;
	if (st_probes_start(p, r->session->program, r->session->own_group, e))
		return ST_FAILED;
	begin_events(&events, r, p);
	const st_status status = st_probes_wait(p, r->session->region.length, e);
	return finish_events(&events, r, p, out, status, e);
}

/* As if it ended now. */
static st_status
read_now(void *from, struct st_trace *t)
{
	struct st_probes *p = from;
	const struct st_moment now = st_moment_now();
	p->process.end = now.ticks;
	p->process.tsc_hz = p->process.uses_cpu ? 1e9 : st_moments_frequency(p->process.begin, now);
	return st_trace_of_probes(t, p, false);
}

static void
watch_probes(void *arg)
{
	const struct choice *c = arg;
	const struct st_trace_watcher *w = c->request->watcher;
	const double elapsed = st_moment_now().seconds - c->probes->process.begin.seconds;
	w->watch(w->arg, elapsed, read_now, c->probes);
}

static void
pause_watching(void *arg, bool begins)
{
	const struct choice *c = arg;
	c->request->watcher->pause(c->request->watcher->arg, begins);
}

/* Is what the process executes traced, without its children? Where it is not possible the trace
 * ends with the program that was started. */
static bool
follows_exec(const struct st_trace_request *r)
{
	const struct st_session *s = r->session;
	return !s->follow && !s->pid && !r->events && !r->watcher && !s->budget.chosen &&
	       !(r->window > 0) && !(s->region.length > 0);
}

/* 0: there is no budget. */
static double
budget_share(const struct st_trace_request *r)
{
	const struct st_budget_choice *b = &r->session->budget;
	const double period = b->period > 0 ? b->period : ST_BUDGET_PERIOD;
	return b->chosen ? st_budget_seconds(&b->amount, period) / period : 0;
}

static st_status
run_probe(const struct st_trace_request *r, struct st_trace_outcome *out, struct st_error *e)
{
	if (r->watcher && r->session->follow)
		return st_fail(e, ST_EXIT_USAGE, "--top shows one process: leave out --follow");
	struct choice choice = {.request = r, .chooser = st_trace_chooser_new(r)};
	if (!choice.chooser)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	struct st_probes probes = {
	        .choose = choose_action,
	        .mapped = choose_executed,
	        .arg = &choice,
	        .watch = r->watcher ? watch_probes : NULL,
	        .pause = r->watcher ? pause_watching : NULL,
	        .budget = {.share = budget_share(r), .on = r->window, .period = r->window_period},
	        .process = {.most_depth = (uint32_t)r->depth,
	                    .scoped = *r->main != '\0',
	                    .uses_cpu = r->cpu,
	                    .records = r->events,
	                    .follows = r->session->follow || follows_exec(r),
	                    .only_exec = !r->session->follow,
	                    .tells_executed = !r->session->follow && !follows_exec(r),
	                    .samples = st_trace_rates_sample(r->rates) || budget_share(r) > 0 ||
	                               r->window > 0}};
	choice.probes = &probes;
	const st_status status =
	        r->session->pid ? run_process(r, &probes, out, e) : run_program(r, &probes, out, e);
	st_probes_free(&probes);
	st_trace_chooser_free(choice.chooser);
	return status;
}

/* Probes of all threads have one budget, which is always a share of CPU time; and what calls cost
 * that --depth and --main leave out is not known. */
static st_status
check_budget(const struct st_trace_request *r, struct st_error *e)
{
	const struct st_budget_choice *b = &r->session->budget;
	const char *with = r->depth             ? "--depth"
	                   : *r->main           ? "--main"
	                   : b->clock_chosen    ? "--period-clock"
	                   : b->policy_chosen   ? "--budget-policy"
	                   : b->sharing_chosen  ? "--budget-share"
	                   : r->session->follow ? "--follow"
	                                        : NULL;
	if (b->chosen && with)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--budget together with %s is not possible with --engine probe: leave "
		        "one of them out, or use --engine jit",
		        with);
	return st_budget_check(b, e);
}

static st_status
check_probe(const struct st_trace_request *r, struct st_error *e)
{
	const char *cannot = r->session->pid                 ? "--pid"
	                     : r->session->region.length > 0 ? "--for"
	                     : r->events                     ? "--events"
	                                                     : NULL;
	if (r->session->follow && cannot)
		return st_fail(e, ST_EXIT_USAGE,
		               "--follow together with %s is not possible with --engine probe: "
		               "leave one of them out, or use --engine jit",
		               cannot);
	const bool samples = st_trace_rates_sample(r->rates);
	const char *with = r->session->follow          ? "--follow"
	                   : r->session->budget.chosen ? "--budget"
	                   : r->events                 ? "--events"
	                                               : NULL;
	if (r->window > 0 && with)
		return st_fail(e, ST_EXIT_USAGE,
		               "--windows together with %s is not possible: leave one of them out",
		               with);
	if (r->events && (r->cpu || samples || r->session->budget.chosen))
		return st_fail(e, ST_EXIT_USAGE,
		               "--events records each call by the clock: leave out %s",
		               r->cpu    ? "--cpu"
		               : samples ? "--every"
		                         : "--budget");
	return check_budget(r, e) ? ST_FAILED : st_trace_refuse_options(r, "probe", e);
}

const struct st_trace_engine st_trace_probe = {
        .name = "probe", .check = check_probe, .run = run_probe};
