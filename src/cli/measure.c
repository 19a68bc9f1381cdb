/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/text.h"
#include "session/output_name.h"
#include "session/stress.h"
#include "symbol/symbol.h"

enum {
#define O(id, letter, name, argument, shown, help) MEASURE_##id,
	ST_RESULT_OPTIONS(O) ST_MEASURE_OPTIONS(O) ST_TOP_OPTION(O)
#undef O
};
static const struct st_option shared[] = {ST_RESULT_OPTIONS(ST_OPTION_ROW) ST_MEASURE_OPTIONS(
        ST_OPTION_ROW) ST_TOP_OPTION(ST_OPTION_ROW)};

/* Those of the region of interest. */
static st_status
region_option(struct st_region *r, size_t option, const char *value, struct st_error *e)
{
	switch (option) {
	case MEASURE_start_at:
		return st_patterns_add(&r->start_at, "start-at", value, e);
	case MEASURE_stop_at:
		return st_patterns_add(&r->stop_at, "stop-at", value, e);
	case MEASURE_funcs:
		return st_patterns_add(&r->functions, "funcs", value, e);
	case MEASURE_images:
		return st_patterns_add(&r->images, "images", value, e);
	case MEASURE_delay:
		return st_region_time(&r->delay, "delay", value, e);
	case MEASURE_threads:
		return st_region_threads(&r->threads, value, e);
	case MEASURE_toggle:
		return st_region_signal(&r->toggle, value, e);
	default:
		r->by_program = true;
		return 0;
	}
}

static st_status
qos_option(struct st_qos_choice *q, size_t option, const char *value, struct st_error *e)
{
	switch (option) {
	case MEASURE_qos_min:
		return st_qos_choose_number(&q->min, &q->has_min, "qos-min", value, e);
	case MEASURE_qos_max:
		return st_qos_choose_number(&q->max, &q->has_max, "qos-max", value, e);
	case MEASURE_qos_policy:
		return st_qos_choose_policy(q, value, e);
	case MEASURE_qos_below:
		q->has_below = true;
		return st_budget_parse(&q->below, "qos-below", value, e);
	case MEASURE_qos_start:
		q->has_start = true;
		return st_budget_parse(&q->start, "qos-start", value, e);
	default:
		q->source = value;
		return 0;
	}
}

st_status
st_measure_option(struct st_measure *w, const char *name, const char *value, struct st_error *e)
{
	size_t option = 0;
	while (strcmp(shared[option].name, name))
		option++;
	switch (option) {
	case MEASURE_tool:
		return st_toolset_add(&w->session.tools, value, e);
	case MEASURE_output:
		return st_result_output(value, &w->session.output.path, e);
	case MEASURE_format:
		return st_result_format(value, &w->session.output, e);
	case MEASURE_top:
		return st_option_number("top", value, 0, 1000000, &w->result.top, e);
	case MEASURE_sample_hz:
		return st_option_number("sample-hz", value, 0, 20000, &w->session.sample_hz, e);
	case MEASURE_budget:
		w->session.budget.chosen = true;
		if (st_budget_parse(&w->session.budget.amount, "budget", value, e))
			return -1;
		w->session.unique.fixed |= w->session.budget.amount.share <= 0;
		return 0;
	case MEASURE_period_clock:
		return st_budget_clock(&w->session.budget, value, e);
	case MEASURE_budget_policy:
		return st_budget_policy(&w->session.budget, value, e);
	case MEASURE_budget_share:
		return st_budget_sharing(&w->session.budget, value, e);
	case MEASURE_sampling:
		return st_sampling_choose(&w->session.sampling, value, e);
	case MEASURE_period:
		w->session.unique.fixed = true;
		return st_budget_period(&w->session.budget, value, e);
	case MEASURE_unique:
		w->session.unique.chosen = true;
		return 0;
	case MEASURE_unique_last:
		w->session.unique.chosen = true;
		return st_option_number("unique-last", value, 1, ST_MOST_LAST,
		                        &w->session.unique.last, e);
	case MEASURE_unique_log:
		w->session.unique.chosen = true;
		w->session.unique.log = value;
		return 0;
	case MEASURE_qos:
	case MEASURE_qos_min:
	case MEASURE_qos_max:
	case MEASURE_qos_policy:
	case MEASURE_qos_below:
	case MEASURE_qos_start:
		w->session.unique.fixed = true;
		return qos_option(&w->session.qos, option, value, e);
	case MEASURE_debuginfod:
		w->session.asks_servers = true;
		return st_debuginfod_enable(e);
	case MEASURE_quiet:
		w->result.quiet = true;
		return 0;
	case MEASURE_stress:
		return st_stress_parse(value, &w->session.stress, e);
	default:
		return region_option(&w->session.region, option, value, e);
	}
}

/* Notes that name what is missing are said even with --quiet. */
static void
say_missing(const struct st_session_outcome *o)
{
	for (size_t i = 0; i < o->n_missing; i++) {
		char *text = st_printable(o->profile->notes.v[o->missing + i]);
		fprintf(stderr, "strobe: %s\n", text ? text : "");
		free(text);
	}
}

/* While it runs: a line that tells so, or the live view in its place. */
struct watch {
	struct st_progress progress;
	struct st_top top;
};

static st_status
begin_watch(struct watch *watch, struct st_measure *w, struct st_session_run *r,
            void (*attached)(size_t threads, double seconds), struct st_error *e)
{
	struct st_session *s = &w->session;
	struct st_session_listener l = {.attached = w->result.quiet ? NULL : attached};
	*watch = (struct watch){0};
	st_progress_init(&watch->progress, w->result.quiet);
	watch->progress.qos = r->options.qos;
	watch->progress.period = (double)r->options.budget.period_ns / 1e9;
	l.progress = watch->progress.enabled ? st_progress_show : NULL;
	l.arg = &watch->progress;
	if (w->top.chosen) {
		if (st_top_begin(&watch->top, &w->top, s->output.name, (uint32_t)s->pid, &s->region,
		                 e))
			return -1;
		watch->top.line = &watch->progress;
		l.progress = st_top_show;
		l.pause = st_top_pause;
		l.arg = &watch->top;
	}
	st_session_listen(r, &l);
	return 0;
}

static void
end_watch(struct watch *watch)
{
	st_top_end(&watch->top);
	st_progress_erase(&watch->progress);
}

/* Runs the session. */
static st_status
measure(struct st_measure *w, void (*attached)(size_t threads, double seconds),
        struct st_measured *out, struct st_error *e)
{
	struct st_session_run r;
	struct watch watch;
	if (st_session_begin(&r, &w->session, e))
		return ST_FAILED;
	st_status status = begin_watch(&watch, w, &r, attached, e);
	if (!status) {
		status = st_session_execute(&r, e);
		end_watch(&watch);
	}
	if (!status)
		status = st_session_collect(&r, &out->outcome, e);
	out->pid = st_session_pid(&r);
	out->exit_code = w->session.pid ? ST_EXIT_OK : r.run.exit_code;
	st_session_end(&r);
	return status;
}

/* The result into a file and onto the terminal. 0, or -1 with *e. */
static st_status
report(const struct st_measure *w, const struct st_measured *m, struct st_error *e)
{
	const struct st_session_outcome *o = &m->outcome;
	char *saved;
	if (w->result.quiet)
		say_missing(o);
	int status = st_session_output_save(&w->session.output, o->profile, m->pid, &saved, e);
	st_result_print(&w->result, &w->session.output, o->profile, saved);
	free(saved);
	st_profile_free(o->profile);
	if (!status && o->unmatched)
		status =
		        st_fail(e, ST_EXIT_FAILED,
		                "nothing was measured, because nothing in the program matches --%s",
		                o->unmatched);
	return status;
}

int
st_measure_session(struct st_measure *w, void (*attached)(size_t threads, double seconds))
{
	struct st_measured m = {0};
	struct st_error e;
	st_status status = w->by ? w->by(w->by_arg, &m, &e) : measure(w, attached, &m, &e);
	if (!status)
		status = report(w, &m, &e);
	if (!status)
		return m.exit_code;
	return w->session.program ? st_complain_running(&e) : st_complain(&e);
}

/* The output must not be the input of the program, nor the program itself. */
static st_status
is_argument(const char *output, char *const *program, struct st_error *e)
{
	for (char *const *word = program; output && *word; word++)
		if (st_output_check_input(output, *word, NULL))
			return st_fail(e, ST_EXIT_USAGE,
			               "the result would replace %s, an argument of the program: "
			               "give -o another file",
			               *word);
	return 0;
}

/* The names of the tools, joined by "+"; malloc'ed. */
static char *
tool_names(const struct st_toolset *tools)
{
	char *names = strdup("");
	for (size_t i = 0; i < tools->n && names; i++) {
		char *longer = st_text_of("%s%s%s", names, i ? "+" : "", tools->about[i]->name);
		free(names);
		names = longer;
	}
	return names;
}

static st_status
name_result(struct st_measure *w, struct st_error *e)
{
	const char *template = w->session.output.path;
	if (!template || !strchr(template, '%'))
		return ST_OK;
	char *tools = tool_names(&w->session.tools);
	const struct st_output_words words = {
	        .collector = w->collector ? w->collector
	                     : tools      ? tools
	                                  : "",
	        .program = w->session.program,
	        .date = time(NULL),
	};
	w->name = st_output_name(template, &words, e);
	free(tools);
	w->session.output.path = w->name;
	return w->name ? ST_OK : ST_FAILED;
}

int
st_measure_program(struct st_measure *w, char *const *argv)
{
	struct st_error e;
	if (name_result(w, &e) || is_argument(w->session.output.path, w->session.program, &e))
		return st_complain_running(&e);
	char *given = st_result_options(argv, w->session.program);
	w->session.given = given;
	int code = st_measure_session(w, NULL);
	free(given);
	return code;
}

void
st_measure_free(struct st_measure *w)
{
	st_session_free(&w->session);
	free(w->name);
}
