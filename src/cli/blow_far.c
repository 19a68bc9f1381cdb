/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe blow --on: each run of the campaign is a task, in which a worker starts strobe blow with
 * the same options for this run alone. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "batch/node.h"
#include "blow/experiment.h"
#include "cli/blow.h"
#include "cli/commands.h"
#include "cli/on.h"
#include "profile/output.h"
#include "timing/timing.h"

struct st_blow_far {
	const struct st_blow_arguments *a;
	char *const *argv;
	char strobe[PATH_MAX];
	char *identity, *selection; /* the path of its file */
	struct st_batch_options options;
	struct st_batch *batch;
	struct st_blow_workers workers;
	size_t begun, ended; /* runs */
	struct st_on_nodes nodes;
};

st_status
st_blow_far_check(const struct st_blow_arguments *a, struct st_error *e)
{
	const char *other = a->live       ? a->pid ? "--pid" : "--window"
	                    : a->journal  ? "--journal"
	                    : a->shows    ? "--show-functions"
	                    : a->timeline ? "--timeline"
	                                  : NULL;
	if (st_on_check(&a->place, e))
		return ST_FAILED;
	if (a->experiment && !a->output)
		return st_fail(e, ST_EXIT_USAGE, "--experiment needs a file for the run: -o FILE");
	if (!a->place.on || !other)
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE, "%s cannot be used with --on: leave out one%s", other,
	               a->journal ? ", since the folder of --campaign keeps the runs" : "");
}

/* ---- the worker's side ---- */

st_status
st_blow_far_work(const struct st_blow_arguments *a, struct st_error *e)
{
	const bool selects = !strcmp(a->experiment, ST_BLOW_SELECT);
	struct st_text text;
	if (!selects && !a->reference)
		return st_fail(e, ST_EXIT_USAGE,
		               "--experiment needs a selection: --reference FILE");
	st_timing_watch_signals();
	FILE *out = st_text_begin(&text);
	st_status status = out ? st_blow_experiment(&a->options, a->experiment,
	                                            selects ? NULL : a->reference, out, e)
	                       : ST_OK;
	char *lines = st_text_end(&text);
	if (!status && !lines)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the run");
	if (!status && st_timing_interrupted())
		status = st_fail(e, 128 + st_timing_interrupted(), "interrupted");
	if (!status)
		status = st_output_text(a->output, lines, e);
	free(lines);
	return status;
}

/* ---- tasks ---- */

static st_status
far_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

static st_status
far_add(struct st_blow_far *f, const char *asked, struct st_error *e)
{
	enum { OUTPUT = 5 }; /* its number among the further words */
	const char *const further[] = {
	        "--experiment", asked,    "--reference", f->selection ? f->selection : "",
	        "--output",     "OUTPUT", NULL};
	struct st_batch_command c = {0};
	json_t *task = st_batch_task_new();
	size_t number;
	char **words = st_on_experiment(f->strobe, "blow", f->argv, f->a->session.program, further,
	                                &c.output);
	c.argv = words;
	c.output += OUTPUT;
	const bool good = words && task && st_batch_task_run(task, &c);
	free(words);
	if (good)
		return st_batch_add(f->batch, task, &number, e);
	json_decref(task);
	return st_fail(e, ST_EXIT_FAILED,
	               "a word of the command is not UTF-8, or memory is exhausted: it cannot be "
	               "a campaign");
}

/* Waits for the next result in the order of the tasks; without a path after a signal. */
static st_status
far_next(struct st_blow_far *f, char **path, struct st_error *e)
{
	struct st_batch_result r;
	*path = NULL;
	if (st_batch_wait(f->batch, f->ended, &r, e))
		return ST_FAILED;
	st_status status = ST_OK;
	if (r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "%s", r.reason);
	else if (r.output && st_on_count(&f->nodes, r.worker))
		status = far_no_memory(e);
	if (!status && r.output) {
		*path = r.output;
		r.output = NULL;
		f->ended++;
	}
	st_batch_result_free(&r);
	return status;
}

static st_status
far_begin_run(void *arg, const struct st_blow_run *asked, double limit, struct st_error *e)
{
	struct st_blow_far *f = arg;
	char *text = st_blow_asked(asked, limit);
	const st_status status = text ? far_add(f, text, e) : far_no_memory(e);
	free(text);
	return status;
}

static st_status
far_end_run(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	char *path;
	if (far_next(arg, &path, e))
		return ST_FAILED;
	const st_status status =
	        path ? st_blow_read_experiment(path, NULL, b->functions.n, run, e) : ST_OK;
	free(path);
	return status;
}

/* The run that selects functions is a task, too, so that all data is of the same machines. */
static st_status
far_select(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_far *f = arg;
	if (far_add(f, ST_BLOW_SELECT, e) || far_next(f, &f->selection, e))
		return ST_FAILED;
	if (!f->selection)
		return st_fail(e, 128 + st_timing_interrupted(),
		               "interrupted before functions were selected");
	return st_blow_read_experiment(f->selection, b, 0, run, e);
}

/* ---- the campaign ---- */

static st_status
far_open(struct st_blow_far *f, struct st_error *e)
{
	const struct st_blow_arguments *a = f->a;
	f->identity = st_on_identity("blow", f->argv, a->session.program);
	if (!f->identity)
		return st_fail(e, ST_EXIT_FAILED,
		               "a word of the command is not UTF-8, or memory is exhausted: it "
		               "cannot be a campaign");
	f->options = (struct st_batch_options){.place = a->place,
	                                       .strobe = f->strobe,
	                                       .tool = "blow",
	                                       .identity = f->identity,
	                                       .command = f->argv};
	return st_on_strobe(f->strobe, sizeof f->strobe, e) ||
	                       st_batch_open(&f->batch, &f->options, e)
	               ? ST_FAILED
	               : ST_OK;
}

struct st_blow_far *
st_blow_far_begin(struct st_blow_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_blow_far *f = calloc(1, sizeof *f);
	if (!f) {
		ST_IGNORE(far_no_memory(e)); /* called to fill *e */
		return NULL;
	}
	*f = (struct st_blow_far){.a = a, .argv = argv};
	f->workers = (struct st_blow_workers){far_begin_run, far_end_run, far_select, f};
	if (far_open(f, e)) {
		st_blow_far_end(f, true);
		return NULL;
	}
	a->options.workers = &f->workers;
	return f;
}

st_status
st_blow_far_note(const struct st_blow_far *f, struct st_profile *p)
{
	char *machine = st_batch_machine(f->batch), *note = st_on_note(&f->nodes);
	if (machine)
		st_node_take_machine(p, machine);
	if (f->nodes.list.n == 1)
		p->run.host = st_profile_text(p, f->nodes.list.v[0].name);
	if (note)
		st_profile_note(p, "%s", note);
	free(machine);
	free(note);
	return note ? ST_OK : ST_FAILED;
}

void
st_blow_far_end(struct st_blow_far *f, bool complete)
{
	if (!f)
		return;
	char *folder = st_batch_close(f->batch, complete);
	st_on_say_resume(folder, f->a->quiet);
	st_on_nodes_free(&f->nodes);
	free(folder);
	free(f->identity);
	free(f->selection);
	free(f);
}
