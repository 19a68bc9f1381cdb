/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune --on: what each program does without a budget, and then each pair, is a task, in
 * which a worker starts strobe tune with the same options for this part alone. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/on.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "profile/output.h"
#include "timing/timing.h"
#include "tune/part.h"

struct tune_far {
	struct st_tune_arguments *a;
	char strobe[PATH_MAX];
	char *identity;
	char **references; /* of each program, the path of its result */
	struct st_batch_options options;
	struct st_batch *batch;
	struct st_progress progress;
	struct st_on_nodes nodes;
	size_t taken, all; /* results */
};

static st_status
tune_far_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

st_status
st_tune_far_check(const struct st_tune_arguments *a, struct st_error *e)
{
	if (st_on_check(&a->place, e))
		return ST_FAILED;
	if (a->experiment && !a->output)
		return st_fail(e, ST_EXIT_USAGE,
		               "--experiment needs a file for its result: -o FILE");
	if (a->place.on && a->mode != ST_TUNE_STUDY)
		return st_fail(e, ST_EXIT_USAGE,
		               "--on is for a study: each run of %s follows from the one before",
		               a->mode == ST_TUNE_THRESHOLD ? "--max-threshold" : "--max");
	return ST_OK;
}

/* ---- the worker's side ---- */

st_status
st_tune_far_work(struct st_tune_arguments *a, struct st_error *e)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	st_status status =
	        out ? st_tune_part(&a->study, &a->how, a->experiment, a->reference, out, e) : ST_OK;
	char *lines = st_text_end(&text);
	if (st_tune_interrupted())
		status = st_fail(e, 128 + st_tune_interrupted(), "interrupted");
	else if (!status && !lines)
		status = tune_far_memory(e);
	if (!status)
		status = st_output_text(a->output, lines, e);
	free(lines);
	return status;
}

/* ---- tasks ---- */

/* Releases `asked`. */
static st_status
tune_far_plan(struct tune_far *f, char *asked, const char *reference, struct st_error *e)
{
	enum { OUTPUT = 5 }; /* its number among the further words */
	const char *const further[] = {"--experiment", asked,    "--reference", reference,
	                               "--output",     "OUTPUT", NULL};
	struct st_batch_command c = {0};
	json_t *task = st_batch_task_new();
	size_t number;
	char **words = asked ? st_on_experiment(f->strobe, "tune", f->a->command, f->a->program,
	                                        further, &c.output)
	                     : NULL;
	c.argv = words;
	c.output += OUTPUT;
	const bool good = words && task && st_batch_task_run(task, &c);
	free(words);
	free(asked);
	if (good)
		return st_batch_add(f->batch, task, &number, e);
	json_decref(task);
	return st_fail(e, ST_EXIT_FAILED,
	               "a word of the command is not UTF-8, or memory is exhausted: it cannot be "
	               "a campaign");
}

/* The path of the next result in the order of the tasks; NULL after a signal. */
static st_status
tune_far_take(struct tune_far *f, char **path, struct st_error *e)
{
	struct st_batch_result r;
	char line[64];
	snprintf(line, sizeof line, "result %zu of %zu", f->taken + 1, f->all);
	st_progress_line(&f->progress, line);
	*path = NULL;
	if (st_batch_wait(f->batch, f->taken, &r, e))
		return ST_FAILED;
	st_status status = ST_OK;
	if (r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "%s", r.reason);
	else if (r.output && st_on_count(&f->nodes, r.worker))
		status = tune_far_memory(e);
	if (!status && r.output) {
		*path = r.output;
		r.output = NULL;
		f->taken++;
	}
	st_batch_result_free(&r);
	return status;
}

static st_status
tune_far_programs(struct tune_far *f, struct st_error *e)
{
	struct st_study *s = &f->a->study;
	for (size_t i = 0; i < s->programs.n; i++)
		if (tune_far_plan(f, st_tune_ask_program(i), "", e))
			return ST_FAILED;
	for (size_t i = 0; i < s->programs.n && !st_timing_interrupted(); i++)
		if (tune_far_take(f, &f->references[i], e) ||
		    (f->references[i] && st_tune_take_program(s, i, f->references[i], e)))
			return ST_FAILED;
	return ST_OK;
}

static st_status
tune_far_plan_pairs(struct tune_far *f, struct st_error *e)
{
	struct st_study *s = &f->a->study;
	const size_t n = st_study_steps(s);
	struct st_study_step *steps = calloc(n, sizeof *steps);
	st_status status = steps ? ST_OK : tune_far_memory(e);
	for (size_t r = 0; r < s->repeat && !status; r++) {
		st_study_plan(s, r, steps);
		for (size_t i = 0; i < n && !status; i++)
			status = tune_far_plan(f, st_tune_ask_pair(&steps[i], r),
			                       f->references[steps[i].program], e);
	}
	free(steps);
	return status;
}

static st_status
tune_far_pairs(struct tune_far *f, struct st_error *e)
{
	struct st_study *s = &f->a->study;
	const size_t n = st_study_steps(s) * s->repeat;
	if (st_timing_interrupted())
		return ST_OK;
	if (tune_far_plan_pairs(f, e))
		return ST_FAILED;
	for (size_t i = 0; i < n && !st_timing_interrupted(); i++) {
		char *path;
		if (tune_far_take(f, &path, e))
			return ST_FAILED;
		const st_status status = path ? st_tune_take_pair(s, path, e) : ST_OK;
		free(path);
		if (status)
			return ST_FAILED;
	}
	s->complete = !st_timing_interrupted();
	return ST_OK;
}

/* ---- the campaign ---- */

/* What the results depend on: with a list of programs, also these. */
static char *
tune_far_identity(const struct st_tune_arguments *a)
{
	char *options = st_on_identity("tune", a->command, a->program);
	json_t *programs = json_array();
	for (size_t i = 0; i < a->study.programs.n; i++)
		json_array_append_new(programs,
		                      st_batch_command_identity(a->study.programs.v[i].argv, NULL));
	json_t *all = json_pack("[s, o]", options ? options : "", programs);
	char *text = all && options ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	free(options);
	return text;
}

static st_status
tune_far_open(struct tune_far *f, struct st_error *e)
{
	const struct st_tune_arguments *a = f->a;
	f->references = calloc(a->study.programs.n, sizeof *f->references);
	f->identity = tune_far_identity(a);
	if (!f->references || !f->identity)
		return st_fail(e, ST_EXIT_FAILED,
		               "a word of the command is not UTF-8, or memory is exhausted: it "
		               "cannot be a campaign");
	f->options = (struct st_batch_options){.place = a->place,
	                                       .strobe = f->strobe,
	                                       .tool = "tune",
	                                       .identity = f->identity,
	                                       .command = a->command};
	return st_on_strobe(f->strobe, sizeof f->strobe, e) ||
	                       st_batch_open(&f->batch, &f->options, e)
	               ? ST_FAILED
	               : ST_OK;
}

static void
tune_far_end(struct tune_far *f, char **campaign, bool complete)
{
	char *note = complete && !f->a->quiet ? st_on_note(&f->nodes) : NULL;
	st_progress_erase(&f->progress);
	*campaign = st_batch_close(f->batch, complete);
	if (note)
		fprintf(stderr, "strobe: %s\n", note);
	for (size_t i = 0; f->references && i < f->a->study.programs.n; i++)
		free(f->references[i]);
	st_on_nodes_free(&f->nodes);
	free(f->references);
	free(f->identity);
	free(note);
}

st_status
st_tune_far_study(struct st_tune_arguments *a, char **campaign, struct st_error *e)
{
	const struct st_study *s = &a->study;
	struct tune_far f = {.a = a};
	f.all = s->programs.n + st_study_steps(s) * s->repeat;
	st_progress_init(&f.progress, a->quiet);
	st_timing_watch_signals();
	st_status status = tune_far_open(&f, e);
	if (!status)
		status = tune_far_programs(&f, e);
	if (!status)
		status = tune_far_pairs(&f, e);
	tune_far_end(&f, campaign, (!status && s->complete) || !f.batch);
	return status;
}
