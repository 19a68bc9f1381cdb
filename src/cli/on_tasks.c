/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/on_tasks.h"

#include <stdlib.h>

#include "timing/timing.h"

static st_status
tasks_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

static st_status
tasks_bad_words(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "workers cannot run the command: one of its words is not UTF-8, or no "
	               "memory is left");
}

st_status
st_on_tasks_open(struct st_on_tasks *t, const struct st_batch_place *place, char *identity,
                 struct st_error *e)
{
	t->identity = identity;
	if (!identity)
		return tasks_bad_words(e);
	if (st_on_strobe(t->strobe, sizeof t->strobe, e))
		return ST_FAILED;
	t->options = (struct st_batch_options){.place = *place,
	                                       .strobe = t->strobe,
	                                       .tool = t->tool,
	                                       .identity = identity,
	                                       .command = t->command,
	                                       .planned = t->planned};
	return st_batch_open(&t->batch, &t->options, e);
}

st_status
st_on_tasks_add(struct st_on_tasks *t, const char *const *further, size_t output,
                struct st_error *e)
{
	struct st_batch_command c = {0};
	size_t number;
	json_t *task = st_batch_task_new();
	char **words =
	        st_on_experiment(t->strobe, t->tool, t->command, t->program, further, &c.output);
	c.argv = words;
	c.output += output;
	const bool good = words && task && st_batch_task_run(task, &c);
	free(words);
	if (good)
		return st_batch_add(t->batch, task, &number, e);
	json_decref(task);
	return tasks_bad_words(e);
}

st_status
st_on_tasks_plan(struct st_on_tasks *t, char *experiment, const char *reference, struct st_error *e)
{
	enum { OUTPUT = 5 }; /* the number of this word */
	const char *const further[] = {
	        "--experiment", experiment, "--reference", reference ? reference : "",
	        "--output",     "OUTPUT",   NULL};
	const st_status status =
	        experiment ? st_on_tasks_add(t, further, OUTPUT, e) : tasks_no_memory(e);
	free(experiment);
	return status;
}

st_status
st_on_tasks_wait(struct st_on_tasks *t, struct st_batch_result *r, struct st_error *e)
{
	if (st_batch_wait(t->batch, t->taken, r, e))
		return ST_FAILED;
	const bool whole = r->reason || r->output;
	if (!whole && !st_timing_interrupted())
		return st_fail(e, ST_EXIT_FAILED,
		               "result %zu of the campaign is damaged: remove results/%zu from its "
		               "folder, then resume it",
		               t->taken, t->taken);
	t->taken += whole;
	return ST_OK;
}

st_status
st_on_tasks_take(struct st_on_tasks *t, char **path, struct st_error *e)
{
	struct st_batch_result r;
	st_status status = st_on_tasks_wait(t, &r, e);
	*path = NULL;
	if (!status && r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "%s", r.reason);
	else if (!status && r.output && st_on_count(&t->nodes, r.worker))
		status = tasks_no_memory(e);
	if (!status) {
		*path = r.output;
		r.output = NULL;
	}
	st_batch_result_free(&r);
	return status;
}

char *
st_on_tasks_close(struct st_on_tasks *t, bool complete)
{
	char *folder = st_batch_close(t->batch, complete);
	st_on_nodes_free(&t->nodes);
	free(t->identity);
	t->batch = NULL;
	t->identity = NULL;
	return folder;
}
