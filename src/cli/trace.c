/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe trace: the run time of functions. */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/show_stored.h"
#include "cli/trace_live.h"
#include "export/trace_callgrind.h"
#include "profile/output.h"
#include "report/text.h"
#include "report/trace.h"
#include "trace/changed.h"

/* In what is printed to a terminal, names are not to play tricks on it. */
static st_status
print_safely(const struct st_trace *t, const struct st_trace_arguments *a, FILE *out,
             struct st_error *e)
{
	struct st_safe safe;
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the trace");
	st_trace_text(t, (size_t)a->measure.result.top, a->refused, safe.text.out);
	st_safe_end(&safe);
	return ST_OK;
}

static st_status
write_trace(const struct st_trace *t, const struct st_profile *p,
            const struct st_trace_arguments *a, FILE *out, struct st_error *e)
{
	if (st_trace_needs_events(a->form))
		return st_trace_write_events(p, a->from, a, out, e);
	if (a->form == ST_TRACE_JSON)
		return st_trace_json(t, p, out, e);
	if (a->form == ST_TRACE_CALLGRIND)
		return st_trace_callgrind(t, p, out)
		               ? st_fail(e, ST_EXIT_FAILED, "no memory left to write the trace")
		               : ST_OK;
	return print_safely(t, a, out, e);
}

/* ---- a run ---- */

static st_status
write_profile(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct st_trace_arguments *a = arg;
	struct st_trace t;
	if (st_trace_needs_events(a->form))
		return st_trace_write_events(p, NULL, a, out, e);
	if (st_trace_read(&t, p, a->per_thread, e))
		return ST_FAILED;
	st_status status = write_trace(&t, p, a, out, e);
	st_trace_free(&t);
	return status;
}

static void
summarize_trace(const struct st_profile *p, const void *arg, size_t top, FILE *out)
{
	const struct st_trace_arguments *a = arg;
	struct st_trace t;
	struct st_error e;
	if (st_trace_read(&t, p, a->per_thread, &e)) {
		fprintf(out, "\n  note: %s\n", e.text);
		return;
	}
	st_trace_text(&t, top, a->refused, out);
	if (a->own && !a->measure.session.region.excluded.n && !*a->main && !a->depth &&
	    t.functions.n <= 1)
		fprintf(out,
		        "\n  note: %s of the program's own file was called; --all traces the "
		        "functions of its libraries, too\n",
		        t.functions.n ? "only one function" : "no function");
	st_trace_free(&t);
}

/* So that no result is empty without its cause. */
static void
say_without_counterpart(const struct st_trace_arguments *a)
{
	if (a->changed && st_trace_changed_fits_nothing(a->changed))
		fprintf(stderr,
		        "strobe: --changed-since %s: none of the files whose functions are chosen "
		        "has the name of a file of that build, so nothing is known to have "
		        "changed\n",
		        a->changed_since);
}

/* An engine of its own measures. */
static st_status
trace_by_engine(void *arg, struct st_measured *out, struct st_error *e)
{
	struct st_trace_arguments *a = arg;
	struct st_trace_request request = st_trace_request_of(a);
	struct st_trace_outcome o = {0};
	struct st_trace_live live = {0};
	if (st_session_output_check(&a->measure.session.output, (uint32_t)a->measure.session.pid,
	                            e))
		return ST_FAILED;
	st_status status = a->measure.top.chosen ? st_trace_live_begin(&live, &a->measure.top,
	                                                               &a->measure.session, e)
	                                         : ST_OK;
	request.watcher = a->measure.top.chosen ? &live.watcher : NULL;
	if (!status)
		status = a->engine->run(&request, &o, e);
	st_trace_live_end(&live);
	if (status)
		return ST_FAILED;
	say_without_counterpart(a);
	*out = (struct st_measured){.outcome = {.profile = o.profile,
	                                        .missing = o.missing,
	                                        .n_missing = o.n_missing,
	                                        .unmatched = o.unmatched},
	                            .pid = o.pid,
	                            .exit_code = o.exit_code};
	return ST_OK;
}

static st_status
use_engine(struct st_trace_arguments *a, struct st_error *e)
{
	const struct st_trace_request request = st_trace_request_of(a);
	a->engine = st_trace_engine_for(a->engine, &request);
	/* Where another option needs another engine, or all calls, all are timed. */
	if (a->preset == ST_TRACE_QUICK && !a->rates.rates.n && !a->events &&
	    !strcmp(a->engine->name, "probe") &&
	    st_trace_rates_add(&a->rates, ST_TRACE_QUICK_EVERY, e))
		return ST_FAILED;
	if (a->usdt.n && strcmp(a->engine->name, "ebpf"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--usdt needs the probes of the kernel: use --engine ebpf, or "
		               "leave out --engine %s",
		               a->engine->name);
	if (a->measure.top.chosen && strcmp(a->engine->name, "probe"))
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--top shows what probes measure: leave it out, or use --engine probe "
		        "and no option that this engine does not have");
	if (a->engine->run) {
		a->measure.by = trace_by_engine;
		a->measure.by_arg = a;
	}
	return a->engine->check ? a->engine->check(&request, e) : ST_OK;
}

/* Of the names of files, by form. */
static const char *const trace_ends[] = {[ST_TRACE_DB] = NULL,
                                         [ST_TRACE_TEXT] = "txt",
                                         [ST_TRACE_JSON] = "json",
                                         [ST_TRACE_CALLGRIND] = "callgrind",
                                         [ST_TRACE_TIMELINE] = "timeline.json",
                                         [ST_TRACE_RAW] = "raw",
                                         [ST_TRACE_FOLDED] = "folded",
                                         [ST_TRACE_SPEEDSCOPE] = "speedscope",
                                         [ST_TRACE_PPROF] = "pprof"};

static int
measure_trace(struct st_trace_arguments *a, char *const *argv)
{
	const struct st_output_form form = {trace_ends[a->form], write_profile, a};
	a->measure.session.output.form = a->form == ST_TRACE_DB ? NULL : &form;
	a->measure.result.summary = summarize_trace;
	a->measure.result.summary_arg = a;
	struct st_error e;
	if (use_engine(a, &e))
		return st_complain_running(&e);
	if (a->pid)
		return st_measure_process(&a->measure, argv, a->pid, a->seconds);
	a->measure.collector = "trace";
	return st_measure_program(&a->measure, argv);
}

/* ---- a file ---- */

static st_status
print_trace(const struct st_trace *t, const struct st_profile *p,
            const struct st_trace_arguments *a, struct st_error *e)
{
	if (write_trace(t, p, a, stdout, e))
		return ST_FAILED;
	return st_output_flush(e);
}

struct shown {
	const struct st_trace_arguments *a;
	const struct st_trace *t;
};

static st_status
write_shown(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct shown *s = arg;
	return write_trace(s->t, p, s->a, out, e);
}

static st_status
show_trace(const struct st_trace_arguments *a, const struct st_profile *p, const struct st_trace *t,
           struct st_error *e)
{
	const char *output = a->measure.session.output.path,
	           *from = a->from ? a->from : a->from_raw;
	const struct shown shown = {a, t};
	const struct st_output_form form = {trace_ends[a->form], write_shown, &shown};
	if (!output)
		return print_trace(t, p, a, e);
	if (st_output_check_input(output, from, e))
		return ST_FAILED;
	return st_output_form_write(&form, p, output, e);
}

static st_status
show_file(const struct st_trace_arguments *a, struct st_error *e)
{
	struct st_trace t;
	struct st_profile *p = a->from ? st_show_load(a->from, e) : NULL;
	if (a->from && !p)
		return ST_FAILED;
	st_status status = p ? st_trace_read(&t, p, a->per_thread, e)
	                     : st_trace_read_raw(&t, a->from_raw, a->unit, a->per_thread, e);
	if (!status) {
		status = show_trace(a, p, &t, e);
		st_trace_free(&t);
	}
	if (p)
		st_profile_free(p);
	return status;
}

/* ---- what would be traced ---- */

static st_status
write_plan(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct st_trace_plan *plan = arg;
	(void)p;
	struct st_safe safe;
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the functions");
	st_trace_plan_text(plan, safe.text.out);
	st_safe_end(&safe);
	return ST_OK;
}

static st_status
write_plan_json(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	(void)p;
	return st_trace_plan_json(arg, out, e);
}

static st_status
put_plan(const struct st_trace_arguments *a, const struct st_trace_plan *plan, struct st_error *e)
{
	const char *output = a->measure.session.output.path;
	const struct st_output_form form = {
	        .write = a->form == ST_TRACE_JSON ? write_plan_json : write_plan, .arg = plan};
	if (output && strcmp(output, "-"))
		return st_output_form_write(&form, NULL, output, e);
	if (form.write(NULL, plan, stdout, e))
		return ST_FAILED;
	return st_output_flush(e);
}

/* The names that no function has, as a run reports them. */
static st_status
complain_of_names(struct st_region *region, struct st_error *e)
{
	struct st_profile *p = st_profile_new();
	if (!p)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	st_region_note_unknown(region, p);
	for (size_t i = 0; i < p->notes.n; i++)
		fprintf(stderr, "strobe: %s\n", p->notes.v[i]);
	st_profile_free(p);
	const char *nothing = st_region_fits_nothing(region, true);
	return nothing ? st_fail(e, ST_EXIT_FAILED,
	                         "nothing would be traced, because nothing in the program "
	                         "matches --%s",
	                         nothing)
	               : ST_OK;
}

static st_status
plan_trace(struct st_trace_arguments *a, struct st_error *e)
{
	const struct st_trace_request request = st_trace_request_of(a);
	struct st_trace_plan plan;
	a->measure.session.pid = (pid_t)a->pid;
	st_status status = st_trace_plan_make(&plan, &request, a->program, e);
	if (!status)
		say_without_counterpart(a);
	if (!status)
		status = complain_of_names(&a->measure.session.region, e);
	if (!status)
		status = put_plan(a, &plan, e);
	st_trace_plan_free(&plan);
	return status;
}

int
st_trace_main(char *const *argv)
{
	struct st_trace_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (st_trace_parse(&a, argv, &e))
		code = st_complain_running(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("trace"), false);
	else if (a.removes)
		code = st_trace_remove(&a, &e) ? st_complain_running(&e) : ST_EXIT_OK;
	else if (a.lists_usdt)
		code = st_trace_list_usdt(&a, &e) ? st_complain_running(&e) : ST_EXIT_OK;
	else if (a.from || a.from_raw)
		code = show_file(&a, &e) ? st_complain_running(&e) : ST_EXIT_OK;
	else if (a.dry_run)
		code = plan_trace(&a, &e) ? st_complain_running(&e) : ST_EXIT_OK;
	else
		code = measure_trace(&a, argv);
	st_trace_arguments_free(&a);
	return code;
}
