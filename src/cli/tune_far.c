/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune --on: the runs of a program without a budget are a task, and then each pair is one,
 * in which a worker starts strobe tune with the same options for this part alone. A search is one
 * task, because each of its runs depends on the ones before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/on_tasks.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "profile/output.h"
#include "timing/timing.h"
#include "tune/limit_part.h"
#include "tune/part.h"

struct st_tune_far {
	struct st_tune_arguments *a;
	struct st_on_tasks tasks;
	char **references; /* of each program, the path of its result */
	struct st_progress progress;
	size_t all; /* results */
};

/* The task of a search. */
static const char search_task[] = "search";

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
	if (a->experiment && a->mode != ST_TUNE_STUDY && strcmp(a->experiment, search_task) != 0)
		return st_fail(e, ST_EXIT_USAGE, "'%s' is no part of this search", a->experiment);
	return ST_OK;
}

/* ---- the worker's side ---- */

/* status: of what has written the text, which is released. */
static st_status
tune_far_write(const struct st_tune_arguments *a, char *lines, st_status status, struct st_error *e)
{
	if (st_tune_interrupted())
		status = st_fail(e, 128 + st_tune_interrupted(), "interrupted");
	else if (!status && !lines)
		status = tune_far_memory(e);
	if (!status)
		status = st_output_text(a->output, lines, e);
	free(lines);
	return status;
}

st_status
st_tune_far_work(struct st_tune_arguments *a, struct st_error *e)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	st_status status =
	        out ? st_tune_part(&a->study, &a->how, a->experiment, a->reference, out, e) : ST_OK;
	return tune_far_write(a, st_text_end(&text), status, e);
}

st_status
st_tune_far_found(const struct st_tune_arguments *a, const struct st_limit *l, struct st_error *e)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out)
		st_limit_part_write(l, out);
	return tune_far_write(a, st_text_end(&text), ST_OK, e);
}

/* ---- tasks ---- */

static st_status
tune_far_take(struct st_tune_far *f, char **path, struct st_error *e)
{
	char line[64];
	snprintf(line, sizeof line, "result %zu of %zu", f->tasks.taken + 1, f->all);
	st_progress_line(&f->progress, line);
	return st_on_tasks_take(&f->tasks, path, e);
}

static st_status
tune_far_programs(struct st_tune_far *f, struct st_error *e)
{
	struct st_study *s = &f->a->study;
	for (size_t i = 0; i < s->programs.n; i++)
		if (st_on_tasks_plan(&f->tasks, st_tune_ask_program(i), NULL, e))
			return ST_FAILED;
	for (size_t i = 0; i < s->programs.n && !st_timing_interrupted(); i++)
		if (tune_far_take(f, &f->references[i], e) ||
		    (f->references[i] && st_tune_take_program(s, i, f->references[i], e)))
			return ST_FAILED;
	return ST_OK;
}

static st_status
tune_far_plan_pairs(struct st_tune_far *f, struct st_error *e)
{
	struct st_study *s = &f->a->study;
	const size_t n = st_study_steps(s);
	struct st_study_step *steps = calloc(n, sizeof *steps);
	st_status status = steps ? ST_OK : tune_far_memory(e);
	for (size_t r = 0; r < s->repeat && !status; r++) {
		st_study_plan(s, r, steps);
		for (size_t i = 0; i < n && !status; i++)
			status = st_on_tasks_plan(&f->tasks, st_tune_ask_pair(&steps[i], r),
			                          f->references[steps[i].program], e);
	}
	free(steps);
	return status;
}

static st_status
tune_far_pairs(struct st_tune_far *f, struct st_error *e)
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

/* The results also depend on the programs in the file of --program-file. */
static char *
tune_far_identity(const struct st_tune_arguments *a)
{
	json_t *programs = json_array();
	for (size_t i = 0; i < a->study.programs.n; i++)
		json_array_append_new(programs,
		                      st_batch_command_identity(a->study.programs.v[i].argv, NULL));
	return st_on_identity("tune", a->command, a->program, programs);
}

static st_status
tune_far_open(struct st_tune_far *f, struct st_error *e)
{
	const struct st_tune_arguments *a = f->a;
	f->references = calloc(a->study.programs.n, sizeof *f->references);
	if (!f->references)
		return tune_far_memory(e);
	return st_on_tasks_open(&f->tasks, &a->place, tune_far_identity(a), e);
}

/* all: results that there will be. */
static st_status
tune_far_begin(struct st_tune_arguments *a, size_t all, struct st_error *e)
{
	struct st_tune_far *f = a->far = calloc(1, sizeof *f);
	if (!f)
		return tune_far_memory(e);
	f->a = a;
	f->tasks =
	        (struct st_on_tasks){.tool = "tune", .command = a->command, .program = a->program};
	f->all = all;
	st_progress_init(&f->progress, a->quiet);
	st_timing_watch_signals();
	return tune_far_open(f, e);
}

st_status
st_tune_far_limit(struct st_tune_arguments *a, struct st_limit *l, struct st_error *e)
{
	char *path = NULL;
	st_status status = tune_far_begin(a, 1, e);
	struct st_tune_far *f = a->far;
	if (!status)
		status = st_on_tasks_plan(&f->tasks, strdup(search_task), NULL, e);
	if (!status)
		status = tune_far_take(f, &path, e);
	if (!status && path)
		status = st_limit_part_read(l, path, e);
	free(path);
	if (f)
		st_progress_erase(&f->progress);
	return status;
}

st_status
st_tune_far_study(struct st_tune_arguments *a, struct st_error *e)
{
	const struct st_study *s = &a->study;
	st_status status = tune_far_begin(a, s->programs.n + st_study_steps(s) * s->repeat, e);
	struct st_tune_far *f = a->far;
	if (!f)
		return ST_FAILED;
	if (!status)
		status = tune_far_programs(f, e);
	if (!status)
		status = tune_far_pairs(f, e);
	st_progress_erase(&f->progress);
	return status;
}

void
st_tune_far_end(struct st_tune_far *f, bool complete)
{
	if (!f)
		return;
	char *note = complete && !f->a->quiet ? st_on_note(&f->tasks.nodes) : NULL;
	char *folder = st_on_tasks_close(&f->tasks, complete);
	if (note)
		fprintf(stderr, "strobe: %s\n", note);
	st_on_say_resume(folder, f->a->quiet);
	for (size_t i = 0; f->references && i < f->a->study.programs.n; i++)
		free(f->references[i]);
	free(f->references);
	free(folder);
	free(note);
	free(f);
}
