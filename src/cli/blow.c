/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe blow: measures how the run time depends on functions. */
#include "cli/blow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "blow/live.h"
#include "blow/timeline.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "collect/collect.h"
#include "profile/output.h"
#include "report/json.h"
#include "report/text.h"
#include "timing/timing.h"

/* ---- writing ---- */

static st_status
print_blow_safely(const struct st_blow *b, const struct st_blow_arguments *a, FILE *out,
                  struct st_error *e)
{
	struct st_safe safe;
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the experiments");
	st_status status = ST_OK;
	if (a->shows)
		st_blow_functions_print(b, a->shows_time, safe.text.out);
	else if (st_blow_text_print(b, &a->view, safe.text.out))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to print the experiments");
	st_safe_end(&safe);
	return status;
}

static st_status
write_comparison(const struct st_blow *b, const struct st_blow_arguments *a,
                 const struct st_blow_comparison *c, FILE *out, struct st_error *e)
{
	struct st_safe safe;
	if (a->form == ST_BLOW_JSON)
		return st_blow_compare_json(b, c, out, e);
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the comparison");
	const st_status status = st_blow_compare_print(b, c, &a->view, safe.text.out);
	st_safe_end(&safe);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to print the comparison")
	              : ST_OK;
}

/* Compares the campaign with that of --compare. */
static st_status
compare_blow(const struct st_blow *b, const struct st_blow_arguments *a, FILE *out,
             struct st_error *e)
{
	struct st_blow other;
	struct st_blow_comparison c;
	struct st_profile *p = st_profile_load(a->compared, e);
	if (!p)
		return ST_FAILED;
	if (st_blow_read(&other, p, e)) {
		st_profile_free(p);
		return ST_FAILED;
	}
	st_status status = st_blow_compare(b, &other, &c, e);
	if (!status)
		status = write_comparison(b, a, &c, out, e);
	free(c.pairs.v);
	st_blow_free(&other);
	st_profile_free(p);
	return status;
}

/* The notes of the campaign. */
static st_status
print_notes_safely(const struct st_profile *p, FILE *out, struct st_error *e)
{
	struct st_safe safe;
	if (!p->notes.n)
		return ST_OK;
	if (!st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the notes");
	fputc('\n', safe.text.out);
	for (size_t i = 0; i < p->notes.n; i++)
		fprintf(safe.text.out, "%s\n", p->notes.v[i]);
	st_safe_end(&safe);
	return ST_OK;
}

static int
blow_write(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct st_blow_arguments *a = arg;
	struct st_blow b;
	if (st_blow_read(&b, p, e))
		return ST_FAILED;
	st_status status = a->view.wishes ? st_blow_wishes_find(a->view.wishes, &b, e) : ST_OK;
	if (!status && a->compared)
		status = compare_blow(&b, a, out, e);
	else if (!status)
		status = a->form == ST_BLOW_JSON ? st_blow_json(&b, p, &a->view, out, e)
		                                 : print_blow_safely(&b, a, out, e);
	if (!status && !a->compared && a->form != ST_BLOW_JSON)
		status = print_notes_safely(p, out, e);
	st_blow_free(&b);
	return status;
}

/* ---- a campaign ---- */

#define EXECUTED_TEXT                                                                              \
	"the program executed another one, %s, which is not measured: name that program itself"

struct blown {
	struct st_blow_arguments *a;
	struct st_progress progress;
	struct st_blow b;
	struct st_blow_far *far; /* NULL: there are no workers */
	struct st_blow_best best[ST_BLOW_BEST];
	size_t n_best;
	double best_at;              /* when they are to be found again */
	struct st_error state_error; /* the first failure to write the state; no text: none */
	bool said_time;              /* say_time_needed was called */
	double begin;
	int64_t start_ns;
};

/* Finds the best functions again, at most once a second, and for at most a fiftieth of the time. */
static void
refresh_best(struct blown *w, const struct st_blow *b, bool ended)
{
	const double begin = st_now_raw();
	if (begin < w->best_at && !ended)
		return;
	w->n_best = st_blow_best_rows(b, w->best);
	const double end = st_now_raw(), wait = 50 * (end - begin);
	w->best_at = end + (wait > 1 ? wait : 1);
}

/* Writes the state into the file of --state. What cannot be written is reported at the end. */
static void
write_state(struct blown *w, const struct st_blow *b, const struct st_blow_state *s)
{
	struct st_error e;
	char *text = st_json_document(st_blow_state_json(b, s, w->best, w->n_best),
	                              ST_JSON_DOCUMENT, "the state", &e);
	const st_status status = text ? st_output_text(w->a->state, text, &e) : ST_FAILED;
	if (status && !w->state_error.text[0])
		w->state_error = e;
	free(text);
}

/* When the first experiment is due: says how long one with each function takes, if the time is not
 * long enough for that. The runs until then are the estimate. */
static void
say_time_needed(struct blown *w, const struct st_blow *b)
{
	const struct st_blow_options *o = &w->a->options;
	const double passed = st_now_raw() - w->begin;
	size_t chosen = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		chosen += b->functions.v[i].chosen;
	const double each = passed / (double)(b->runs.n + b->plain.n + b->clock_runs +
	                                      1),                /* 1: the selection */
	        longer = o->how.causal ? 1 : 1 + o->most_slower, /* the longest noise is first */
	        needed = passed + each * longer * (double)chosen;
	const bool minutes = needed >= 120;
	w->said_time = true;
	if (w->a->quiet || !(o->most_seconds > 0) || needed <= o->most_seconds || o->workers)
		return;
	st_progress_erase(&w->progress);
	fprintf(stderr,
	        "strobe: one experiment with each of the %s chosen takes about %.0f %s, longer "
	        "than --timeout: those with the most time come first; choose fewer with --funcs, "
	        "or raise --timeout\n",
	        ST_COUNT(chosen, "function", "functions"), minutes ? needed / 60 : needed,
	        minutes ? "minutes" : "seconds");
}

/* Shows the number of experiments, the function of the next one, and the best ones. */
static void
show_blow(void *arg, const struct st_blow *b, const struct st_blow_state *s)
{
	struct blown *w = arg;
	struct st_text text;
	if (!w->said_time && s->left && !s->ended)
		say_time_needed(w, b);
	if (!w->progress.enabled && !w->a->state)
		return;
	refresh_best(w, b, s->ended);
	if (w->a->state && (s->done || s->left))
		write_state(w, b, s);
	if (s->ended || !w->progress.enabled || !st_text_begin(&text))
		return;
	st_blow_state_print(b, s, w->best, w->n_best, text.out);
	char *line = st_text_end(&text);
	if (line)
		st_progress_line(&w->progress, line);
	free(line);
}

/* The process that the name of the result has. */
static uint32_t
blow_process(const struct st_blow_arguments *a)
{
	return (uint32_t)(a->pid ? a->pid : getpid());
}

static bool
is_blow_interrupted(void *arg)
{
	const struct blown *w = arg;
	return st_timing_interrupted() || (w->a->live && st_blow_live_over(w->a->live));
}

static int64_t
realtime_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A journal can only be resumed with the options and the program that began it. malloc'ed; NULL:
 * memory is exhausted. */
static char *
blow_identity(const struct st_blow_arguments *a, const char *options)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	fprintf(text.out, "blow %s --", options);
	for (char *const *word = a->session.program; *word; word++)
		fprintf(text.out, " %s", *word);
	char *out = st_text_end(&text);
	for (char *at = out; at && *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	return out;
}

static struct st_profile *
profile_of_blow(const struct blown *w, const char *options)
{
	struct st_profile *p = st_profile_new();
	if (!p)
		return NULL;
	st_collect_machine(p);
	p->run.tool = ST_BLOW_TOOL;
	p->run.options = st_profile_text(p, options);
	p->run.start_ns = w->start_ns;
	p->run.wall_ns = (int64_t)((st_now_raw() - w->begin) * 1e9);
	st_profile_add_tool(p, ST_BLOW_TOOL);
	for (char *const *word = w->a->session.program; *word; word++) {
		const char **slot = ST_PUSH(&p->run.command);
		if (slot)
			*slot = st_profile_text(p, *word);
		else
			p->out_of_memory = true;
	}
	st_blow_settings_put(w->a, p);
	if (!(w->far && st_blow_far_note(w->far, p)) && !st_blow_put(&w->b, p))
		return p;
	st_profile_free(p);
	return NULL;
}

static st_status
save_blow(const struct blown *w, const char *options, enum st_blow_end end, struct st_error *e)
{
	const struct st_blow_arguments *a = w->a;
	const struct st_output_form form = {a->form == ST_BLOW_JSON ? "json" : "txt", blow_write,
	                                    a};
	const struct st_session_output output = {.name = a->session.program[0],
	                                         .path = a->output,
	                                         .form = a->form == ST_BLOW_DB ? NULL : &form};
	char *where = NULL;
	struct st_profile *p = profile_of_blow(w, options);
	if (!p)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to keep the experiments");
	if (w->b.executed)
		st_profile_note(p, EXECUTED_TEXT, w->b.executed);
	if (end == ST_BLOW_INTERRUPTED)
		st_profile_note(p, a->live && st_blow_live_ended(a->live)
		                           ? "the process ended during the campaign"
		                           : "the campaign was interrupted");
	st_status status = ST_OK;
	if (a->output && !strcmp(a->output, "-"))
		status = blow_write(p, a, stdout, e) ? ST_FAILED : st_output_flush(e);
	else
		status = st_session_output_save(&output, p, blow_process(w->a), &where, e);
	if (where && !a->quiet)
		fprintf(stderr, "strobe: result: %s\n", where);
	free(where);
	st_profile_free(p);
	return status;
}

static void
say_end(const struct blown *w, enum st_blow_end end)
{
	static const char *const texts[] = {
	        [ST_BLOW_COMPLETE] = "all noise was tried in all functions",
	        [ST_BLOW_RUNS] = "the limit of --iterations was reached",
	        [ST_BLOW_SECONDS] = "the limit of --timeout was reached",
	        [ST_BLOW_INTERRUPTED] = "it was interrupted",
	};
	const bool gone =
	        end == ST_BLOW_INTERRUPTED && w->a->live && st_blow_live_ended(w->a->live);
	const double seconds = st_now_raw() - w->begin;
	size_t noisy = 0;
	for (size_t i = 0; i < w->b.runs.n; i++)
		noisy += w->b.runs.v[i].function != ST_BLOW_NONE;
	printf("the campaign ended after %.1f s, with %.3g experiments per minute: %s\n", seconds,
	       (double)noisy * 60 / seconds, gone ? "the process has ended" : texts[end]);
}

/* Each name of the option needs a function that was called and takes a probe. */
static st_status
check_point_names(const struct st_blow *b, const char *option, const struct st_patterns *progress,
                  struct st_error *e)
{
	for (size_t i = 0; i < progress->n; i++) {
		const struct st_patterns one = {.text = &progress->text[i], .n = 1};
		const char *why = NULL;
		bool found = false, called = false;
		for (size_t k = 0; k < b->functions.n; k++) {
			const struct st_blow_function *f = &b->functions.v[k];
			if (!st_blow_fits(f->name, f->raw_name, &one))
				continue;
			found = true;
			called |= !f->why && f->calls > 0;
			why = f->why ? f->why : why;
		}
		if (!called)
			return st_fail(e, found ? ST_EXIT_FAILED : ST_EXIT_USAGE, "--%s %s: %s%s",
			               option, progress->text[i],
			               why     ? "the function takes no probe: "
			               : found ? "the function did not return in the run that "
			                         "selects functions: use another one"
			                       : "the program has no such function: "
			                         "--show-functions with --all lists them",
			               why ? why : "");
	}
	return ST_OK;
}

static st_status
check_progress_points(const struct st_blow *b, const struct st_blow_points *p, struct st_error *e)
{
	st_status status = check_point_names(b, "progress", &p->calls, e);
	for (size_t i = 0; i < p->latencies.n && !status; i++) {
		status = check_point_names(b, "latency", &p->latencies.v[i].begin, e);
		if (!status)
			status = check_point_names(b, "latency", &p->latencies.v[i].end, e);
	}
	return status;
}

static st_status
check_inferred(const struct st_blow *b, const struct st_blow_points *p, struct st_error *e)
{
	for (size_t i = 0; i < b->functions.n && p->automatic; i++)
		if (b->functions.v[i].traits & ST_BLOW_IS_INFERRED)
			return ST_OK;
	return p->automatic
	               ? st_fail(e, ST_EXIT_FAILED,
	                         "--progress auto: no function with a probe was called 100 to "
	                         "20,000 times per second, and no system call transferred data 20 "
	                         "times: name a function or a metric with --progress")
	               : ST_OK;
}

static st_status
check_corpus(const struct st_blow *b, const struct st_blow_arguments *a, struct st_error *e)
{
	size_t called = 0;
	if (check_inferred(b, &a->points, e) || check_progress_points(b, &a->points, e) ||
	    st_blow_check_location_names(b, a, e))
		return ST_FAILED;
	for (size_t i = 0; i < b->functions.n; i++) {
		if (b->functions.v[i].chosen)
			return ST_OK;
		called += b->functions.v[i].calls > 0;
	}
	if (b->executed)
		return st_fail(e, ST_EXIT_FAILED, EXECUTED_TEXT, b->executed);
	if (a->options.how.samples)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "no line or block of the program's own file had 1 %% of the samples: "
		        "name functions with --funcs, use --all, or give the program more to "
		        "do; lines also need debug information (-g)");
	if (!st_blow_points_empty(&a->points))
		return st_fail(e, ST_EXIT_FAILED,
		               "no function is left for experiments, since those of --progress "
		               "and --latency get none: name others with --funcs, or lower "
		               "--min-func-time");
	if (a->options.how.main && !called)
		return st_fail(e, ST_EXIT_FAILED,
		               "no function was called while '%s' of --main ran: name another one, "
		               "or leave out --main",
		               a->options.how.main);
	if (st_blow_frequent_of(b).n)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "all functions that meet a criterion are called so often that probes "
		        "would take more than --probe-overhead: raise --probe-overhead, or name "
		        "functions with --funcs");
	if (a->session.region.functions.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "no function that --funcs matches was called and can be timed: "
		               "--show-functions lists all functions");
	return st_fail(e, ST_EXIT_FAILED,
	               called ? "no function meets one of the criteria: lower --called-threshold "
	                        "or --min-func-time, add to --criteria, or name functions with "
	                        "--funcs"
	                      : "no function of the program itself was called that can be timed: "
	                        "use --all, or a program with symbols");
}

/* A campaign without a timeline is still a result: says why there is none. */
static void
record_blow(struct blown *w)
{
	const struct st_blow_arguments *a = w->a;
	struct st_error e;
	if (a->timeline && !strcmp(a->timeline, "none"))
		return;
	const st_status status = st_blow_record(&a->options, &w->b, a->timeline, &e);
	st_progress_erase(&w->progress);
	if (a->quiet || st_timing_interrupted())
		return;
	if (status)
		fprintf(stderr, "strobe: there is no timeline: %s\n", e.text);
	else if (!w->b.timeline && a->timeline)
		fprintf(stderr,
		        "strobe: there is no timeline, since no experiment with '%s' has an "
		        "indicator\n",
		        a->timeline);
}

static st_status
run_blow(struct blown *w, const char *options, struct st_error *e)
{
	enum st_blow_end end;
	const struct st_blow_arguments *a = w->a;
	struct st_blow_campaign *c = st_blow_open(&a->options, &w->b, e);
	if (c && st_blow_dropped(c) && !a->quiet)
		fprintf(stderr, "strobe: %s\n", st_blow_dropped(c));
	st_status status = !c ? ST_FAILED : a->shows ? ST_OK : check_corpus(&w->b, a, e);
	if (!status && w->b.executed && !a->quiet)
		fprintf(stderr, "strobe: " EXECUTED_TEXT "\n", w->b.executed);
	if (!status && !a->shows && !a->quiet)
		st_blow_say_unhidden(a);
	if (!status && a->shows) {
		status = a->live ? st_blow_live_leave(a->live, e) : ST_OK;
		if (!status)
			status = print_blow_safely(&w->b, a, stdout, e);
		st_blow_close(c);
		return status ? status : st_output_flush(e);
	}
	if (!status && a->view.wishes)
		status = st_blow_wishes_find(a->view.wishes, &w->b, e);
	if (!status)
		status = st_blow_run(c, &end, e);
	if (!status && a->live)
		status = st_blow_live_leave(a->live, e);
	st_blow_close(c);
	/* A running process cannot repeat an experiment with further probes. */
	if (!status && end != ST_BLOW_INTERRUPTED && !a->live && !w->far)
		record_blow(w);
	st_progress_erase(&w->progress);
	if (status)
		return ST_FAILED;
	if (w->state_error.text[0])
		fprintf(stderr, "strobe: %s\n", w->state_error.text);
	if (!a->quiet && !(a->output && !strcmp(a->output, "-"))) {
		say_end(w, end);
		status = print_blow_safely(&w->b, a, stdout, e);
	}
	if (!status)
		status = st_output_flush(e);
	return status ? status : save_blow(w, options, end, e);
}

static int
blow_program(struct st_blow_arguments *a, char *const *argv)
{
	struct blown w = {.a = a, .begin = st_now_raw(), .start_ns = realtime_ns()};
	struct st_error e;
	const struct st_output_form form = {"json", blow_write, a};
	const struct st_session_output output = {.name = a->session.program[0],
	                                         .path = a->output,
	                                         .form = a->form == ST_BLOW_DB ? NULL : &form};
	const bool writes = !a->shows && !(a->output && !strcmp(a->output, "-"));
	char *options = st_result_options(argv, a->session.program);
	char *identity = options ? blow_identity(a, options) : NULL;
	int code;
	a->options.journal = a->journal;
	a->options.identity = identity;
	a->options.show = show_blow;
	a->options.interrupted = is_blow_interrupted;
	a->options.arg = &w;
	st_progress_init(&w.progress, a->quiet || a->shows);
	st_timing_watch_signals();
	st_status status = identity ? ST_OK : st_fail(&e, ST_EXIT_FAILED, "no memory left");
	if (!status && a->state)
		status = st_output_check(a->state, &e);
	if (!status && writes)
		status = st_session_output_check(&output, blow_process(a), &e);
	if (!status && a->place.on)
		status = (w.far = st_blow_far_begin(a, argv, &e)) ? ST_OK : ST_FAILED;
	if (!status && a->options.how.causal && !a->quiet && a->place.on &&
	    !strncmp(a->place.on, "local", 5))
		fputs("strobe: a worker of --on local has one CPU, so the threads of the program "
		      "do not run in parallel, and gains do not hold for several CPUs\n",
		      stderr);
	if (!status)
		status = run_blow(&w, options, &e);
	st_progress_erase(&w.progress);
	code = status ? st_complain(&e) : ST_EXIT_OK;
	if (st_timing_interrupted())
		code = 128 + st_timing_interrupted();
	if (st_timing_interrupted() && a->journal && w.b.runs.n && !a->quiet)
		fprintf(stderr,
		        "strobe: the journal %s keeps the runs: repeat the command to "
		        "continue\n",
		        a->journal);
	st_blow_far_end(w.far, code == ST_EXIT_OK);
	st_blow_free(&w.b);
	free(identity);
	free(options);
	return code;
}

/* ---- the result of an earlier campaign ---- */

static st_status
blow_show(struct st_blow_arguments *a, struct st_error *e)
{
	const struct st_output_form form = {.write = blow_write, .arg = a};
	struct st_profile *p = st_profile_load(a->from, e);
	if (!p)
		return ST_FAILED;
	a->form = a->has_form ? a->form : ST_BLOW_TEXT;
	st_status status;
	if (a->output && strcmp(a->output, "-") != 0)
		status = st_output_check_input(a->output, a->from, e)
		                 ? ST_FAILED
		                 : st_output_form_write(&form, p, a->output, e);
	else
		status = blow_write(p, a, stdout, e) ? ST_FAILED : st_output_flush(e);
	st_profile_free(p);
	return status;
}

int
st_blow_main(char *const *argv)
{
	struct st_blow_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (st_blow_parse(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("blow"), false);
	else if (a.experiment)
		code = st_blow_far_work(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
	else if (a.makes_again)
		code = st_blow_make_again(&a, &e) ? st_complain(&e)
		       : st_timing_interrupted()  ? 128 + st_timing_interrupted()
		                                  : ST_EXIT_OK;
	else if (a.from)
		code = blow_show(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
	else
		code = blow_program(&a, argv);
	st_blow_arguments_free(&a);
	return code;
}
