/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe blow --on: each run is a task of a campaign, in which a worker starts strobe blow with the
 * same options for this run alone. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "batch/node.h"
#include "blow/experiment.h"
#include "campaign/calibrate.h"
#include "cli/blow.h"
#include "cli/commands.h"
#include "cli/on_tasks.h"
#include "profile/output.h"
#include "timing/timing.h"

struct st_blow_far {
	const struct st_blow_arguments *a;
	struct st_on_tasks tasks;
	char *selection; /* the path of the result of the run that selects functions */
	struct st_blow_workers workers;
};

st_status
st_blow_far_check(const struct st_blow_arguments *a, struct st_error *e)
{
	const char *other = a->live      ? a->pid ? "--pid" : "--window"
	                    : a->journal ? "--journal"
	                    : a->shows   ? "--show-functions"
	                    : (a->timeline && strcmp(a->timeline, "none") != 0) ? "--timeline"
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
far_begin_run(void *arg, const struct st_blow_run *asked, double limit, struct st_error *e)
{
	struct st_blow_far *f = arg;
	return st_on_tasks_plan(&f->tasks, st_blow_asked(asked, limit), f->selection, e);
}

static st_status
far_end_run(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_far *f = arg;
	char *path;
	if (st_on_tasks_take(&f->tasks, &path, e))
		return ST_FAILED;
	const st_status status =
	        path ? st_blow_read_experiment(path, NULL, b->functions.n, run, e) : ST_OK;
	free(path);
	return status;
}

/* The run that selects functions is a task, too, so that all data comes from the same machines. */
static st_status
far_select(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_far *f = arg;
	if (st_on_tasks_plan(&f->tasks, strdup(ST_BLOW_SELECT), NULL, e) ||
	    st_on_tasks_take(&f->tasks, &f->selection, e))
		return ST_FAILED;
	if (!f->selection)
		return st_fail(e, 128 + st_timing_interrupted(),
		               "interrupted before functions were selected");
	return st_blow_read_experiment(f->selection, b, 0, run, e);
}

/* ---- the campaign ---- */

/* If all workers are on this machine, there is no quieter one: unless --node-noise says what is
 * allowed, it is not left out, but the user is told. */
static void
admit_this_machine(struct st_blow_arguments *a)
{
	bool slurm = true;
	struct st_error e;
	if (a->place.noise_set || st_batch_is_slurm(a->place.on, &slurm, &e) || slurm)
		return;
	const double limit = a->place.noise, noise = a->quiet ? 0 : st_node_noise(limit);
	a->place.noise = 0;
	if (noise > limit)
		fprintf(stderr,
		        "strobe: equal work differs by up to %.2g %% on this machine, more than "
		        "%.2g %%: the campaign goes on, since all workers are here, but its "
		        "intervals may be wide; --node-noise sets a limit\n",
		        noise * 100, limit * 100);
}

struct st_blow_far *
st_blow_far_begin(struct st_blow_arguments *a, char *const *argv, struct st_error *e)
{
	char *const *program = a->session.program;
	struct st_blow_far *f = calloc(1, sizeof *f);
	if (!f) {
		st_cause(e, ST_EXIT_FAILED, "no memory left for the campaign");
		return NULL;
	}
	f->a = a;
	admit_this_machine(a);
	f->tasks = (struct st_on_tasks){.tool = "blow", .command = argv, .program = program};
	f->workers = (struct st_blow_workers){far_begin_run, far_end_run, far_select, f};
	if (st_on_tasks_open(&f->tasks, &a->place,
	                     st_on_identity("blow", argv, program, json_null()), e)) {
		st_blow_far_end(f, true);
		return NULL;
	}
	a->options.workers = &f->workers;
	return f;
}

st_status
st_blow_far_note(const struct st_blow_far *f, struct st_profile *p)
{
	char *machine = st_batch_machine(f->tasks.batch), *note = st_on_note(&f->tasks.nodes);
	if (machine)
		st_node_take_machine(p, machine);
	if (f->tasks.nodes.list.n == 1)
		p->run.host = st_profile_text(p, f->tasks.nodes.list.v[0].name);
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
	char *folder = st_on_tasks_close(&f->tasks, complete);
	st_on_say_resume(folder, f->a->quiet);
	free(folder);
	free(f->selection);
	free(f);
}
