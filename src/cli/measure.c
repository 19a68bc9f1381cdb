/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/measure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/option.h"
#include "cli/commands.h"
#include "collect/ahead.h"
#include "profile/output.h"
#include "report/text.h"
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
		return st_toolset_add(&w->tools, value, e);
	case MEASURE_output:
		return st_result_output(value, &w->result.output, e);
	case MEASURE_format:
		return st_result_format(value, &w->result.json, e);
	case MEASURE_top:
		return st_option_number("top", value, 0, 1000000, &w->result.top, e);
	case MEASURE_sample_hz:
		return st_option_number("sample-hz", value, 0, 20000, &w->sample_hz, e);
	case MEASURE_budget:
		w->budget.chosen = true;
		if (st_budget_parse(&w->budget.amount, "budget", value, e))
			return -1;
		w->unique.fixed |= w->budget.amount.share <= 0;
		return 0;
	case MEASURE_period_clock:
		return st_budget_clock(&w->budget, value, e);
	case MEASURE_budget_policy:
		return st_budget_policy(&w->budget, value, e);
	case MEASURE_budget_share:
		return st_budget_sharing(&w->budget, value, e);
	case MEASURE_sampling:
		return st_sampling_choose(&w->sampling, value, e);
	case MEASURE_period:
		w->unique.fixed = true;
		return st_budget_period(&w->budget, value, e);
	case MEASURE_unique:
		w->unique.chosen = true;
		return 0;
	case MEASURE_unique_last:
		w->unique.chosen = true;
		return st_option_number("unique-last", value, 1, ST_MOST_LAST, &w->unique.last, e);
	case MEASURE_unique_log:
		w->unique.chosen = true;
		w->unique.log = value;
		return 0;
	case MEASURE_qos:
	case MEASURE_qos_min:
	case MEASURE_qos_max:
	case MEASURE_qos_policy:
	case MEASURE_qos_below:
	case MEASURE_qos_start:
		w->unique.fixed = true;
		return qos_option(&w->qos, option, value, e);
	case MEASURE_debuginfod:
		w->asks_servers = true;
		return st_debuginfod_enable(e);
	case MEASURE_quiet:
		w->result.quiet = true;
		return 0;
	case MEASURE_stress:
		return st_stress_parse(value, &w->stress, e);
	default:
		return region_option(&w->region, option, value, e);
	}
}

/* Rows lie beside the result, if that is a file: JSON may go into a pipe or a terminal. */
static bool
is_place(const char *output)
{
	struct stat st;
	return output && (stat(output, &st) || S_ISREG(st.st_mode));
}

static void
open_rows(struct st_row_files *rows, const struct st_measure *w)
{
	*rows = (struct st_row_files){0};
	bool beside = is_place(w->result.output);
	rows->prefix = beside ? strdup(w->result.output) : st_result_prefix(&w->result);
	for (size_t i = 0; i < w->tools.n; i++)
		rows->tools[i] = w->tools.tools[i].name;
	struct st_row_place place = {.before = rows->prefix,
	                             .behind = beside || w->result.json ? "" : ".db",
	                             .with_pid = !beside};
	if (rows->prefix)
		rows->writer = st_row_writer_new(&place, rows->tools, w->tools.n);
	rows->sink = (struct st_row_sink){.begin = st_row_writer_begin,
	                                  .take = st_row_writer_take,
	                                  .end = st_row_writer_end,
	                                  .arg = rows->writer};
}

/* Whole stacks are worth their price where the result is by function. */
static void
take_stacks(struct st_measuring *m)
{
	m->stacks = m->keep_blocks && m->hz ? st_stacks_new() : NULL;
	if (!m->stacks)
		return;
	m->options.on_stack = st_stacks_take;
	m->options.on_moved = st_stacks_moved;
	m->options.stack_arg = m->stacks;
}

static void
on_process(void *arg, pid_t pid)
{
	(void)arg;
	st_held_look_at(pid);
}

static void
on_turn(void *arg, const struct st_process *processes, size_t n)
{
	struct st_measuring *m = arg;
	st_held_look(&m->held, processes, n);
	st_ahead_look(m->ahead, processes, n);
}

/* Who asks servers for debug information asks them at the end: that may take long, and they are
 * asked by one thread. */
static void
read_ahead(struct st_measuring *m)
{
	if (m->what->asks_servers)
		return;
	bool lines = m->keep_blocks || st_toolset_shows(&m->what->tools, ST_VALUE_LINE),
	     functions = lines || st_toolset_shows(&m->what->tools, ST_VALUE_PLACE);
	m->ahead = st_ahead_new(functions, lines);
}

/* The live view, in the place of the line. */
static st_status
begin_top(struct st_measuring *m, uint32_t pid, struct st_error *e)
{
	if (st_top_begin(&m->top, &m->what->top, m->what->result.name, pid, &m->what->region, e))
		return -1;
	m->top.line = &m->progress;
	m->options.progress = st_top_show;
	m->options.pause = st_top_pause;
	m->options.progress_arg = &m->top;
	return 0;
}

st_status
st_measure_begin(struct st_measuring *m, struct st_measure *what, uint32_t pid, bool follow,
                 struct st_error *e)
{
	/* Without a wish of the tool's, so many that the slowdown can be estimated. */
	uint32_t liked = st_toolset_sample_hz(&what->tools);
	*m = (struct st_measuring){.what = what,
	                           .hz = what->sample_hz >= 0 ? (uint32_t)what->sample_hz
	                                 : liked              ? liked
	                                                      : 250,
	                           .keep_blocks = st_toolset_keeps_blocks(&what->tools)};
	if (st_result_check(&what->result, pid, e))
		return -1;
	st_progress_init(&m->progress, what->result.quiet);
	m->options =
	        (struct st_run_options){.tools = what->tools.tools,
	                                .n_tools = what->tools.n,
	                                .follow = follow,
	                                .sample_hz = m->hz,
	                                .stress = what->stress,
	                                .progress = m->progress.enabled ? st_progress_show : NULL,
	                                .progress_arg = &m->progress};
	st_region_apply(&what->region, &what->tools, &m->options);
	st_qos_complete(&what->qos, &what->budget);
	if (st_budget_apply(&what->budget, &m->options, e) ||
	    st_sampling_apply(&what->sampling, what->unique.chosen, &m->options, e) ||
	    st_unique_begin(&m->unique, &what->unique, what->result.name, &m->options, e))
		return -1;
	if (st_keep_begin(&m->keep, &what->keep, what->result.name, pid, &m->options, e) ||
	    st_qos_apply(&what->qos, &m->options, e)) {
		st_keep_end(&m->keep);
		st_unique_end(&m->unique);
		return -1;
	}
	m->progress.qos = m->options.qos;
	m->progress.period = (double)m->options.budget.period_ns / 1e9;
	if (what->top.chosen && begin_top(m, pid, e)) {
		st_qos_free(m->options.qos);
		st_keep_end(&m->keep);
		st_unique_end(&m->unique);
		return -1;
	}
	take_stacks(m);
	read_ahead(m);
	m->options.on_process = on_process;
	m->options.on_turn = on_turn;
	m->options.turn_arg = m;
	open_rows(&m->rows, what);
	m->options.rows = m->rows.writer ? &m->rows.sink : NULL;
	clock_gettime(CLOCK_REALTIME, &m->start);
	return 0;
}

/* Notes from the first one on, said even with --quiet: something that was asked for is missing. */
static void
say_missing(const struct st_profile *p, size_t first)
{
	for (size_t i = first; i < p->notes.n; i++) {
		char *text = st_printable(p->notes.v[i]);
		fprintf(stderr, "strobe: %s\n", text ? text : "");
		free(text);
	}
}

st_status
st_measure_report(struct st_measuring *m, const struct st_run *run, char *const *argv,
                  const char *given, struct st_error *e)
{
	const struct st_measure *w = m->what;
	size_t n_counters;
	struct st_profile_declared *counters = st_toolset_counters(&w->tools, &n_counters);
	struct st_profile_origin origin = {.tool = w->tools.text,
	                                   .argv = argv,
	                                   .options = given,
	                                   .sample_hz = m->hz,
	                                   .follow = m->options.follow,
	                                   .keep_blocks = m->keep_blocks,
	                                   .start_ns = (int64_t)m->start.tv_sec * 1000000000 +
	                                               m->start.tv_nsec,
	                                   .stacks = m->stacks,
	                                   .qos = m->options.qos,
	                                   .tools = m->rows.tools,
	                                   .n_tools = w->tools.n,
	                                   .counters = counters,
	                                   .n_counters = n_counters,
	                                   .ahead = m->ahead};
	st_top_end(&m->top);
	st_progress_erase(&m->progress);
	struct st_profile *p = st_profile_collect(run, &origin, e);
	free(counters);
	if (!p)
		return -1;
	st_toolset_note_failures(&w->tools, run, p);
	st_region_note_lists(&w->region, p);
	size_t n_notes = p->notes.n;
	const char *nothing = st_region_note(&w->region, run, p);
	if (w->result.quiet)
		say_missing(p, n_notes);
	st_unique_report(&m->unique, run, p);
	st_keep_report(&m->keep, run, p);
	if (m->rows.writer && st_row_writer_finish(m->rows.writer, p))
		st_profile_note(p, "no memory left to check the rows: they may be incomplete");
	int status =
	        st_result_report(&w->result, p, run->n_processes ? run->processes[0].pid : 0, e);
	st_profile_free(p);
	if (!status && nothing)
		status =
		        st_fail(e, ST_EXIT_FAILED,
		                "nothing was measured, because nothing in the program matches --%s",
		                nothing);
	return status;
}

void
st_measure_end(struct st_measuring *m)
{
	st_top_end(&m->top);
	st_keep_end(&m->keep);
	st_unique_end(&m->unique);
	st_qos_free(m->options.qos);
	st_row_writer_free(m->rows.writer);
	st_ahead_free(m->ahead);
	st_held_free(&m->held);
	free(m->rows.prefix);
	st_stacks_free(m->stacks);
}

/* What the program is given to read, or is, is not what is to be written. */
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

int
st_measure_program(struct st_measure *what, char *const *argv, char *const *program, bool follow)
{
	struct st_measuring m;
	struct st_error e;
	struct st_run run = {0};
	if (is_argument(what->result.output, program, &e) ||
	    st_measure_begin(&m, what, 0, follow, &e))
		return st_complain(&e);
	m.options.argv = program;
	int code;
	if (st_run_program(&m.options, &run, &e)) {
		code = st_complain(&e);
	} else {
		char *given = st_result_options(argv, program);
		code = st_measure_report(&m, &run, program, given, &e) ? st_complain(&e)
		                                                       : run.exit_code;
		free(given);
	}
	st_measure_end(&m);
	st_run_free(&run);
	return code;
}

void
st_measure_free(struct st_measure *what)
{
	st_region_free(&what->region);
	st_toolset_free(&what->tools);
}
