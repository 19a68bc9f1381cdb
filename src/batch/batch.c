/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "batch/folder.h"
#include "campaign/slurm.h"
#include "campaign/worker.h"
#include "campaign/workers.h"
#include "timing/timing.h"

struct st_batch {
	const struct st_batch_options *o;
	struct st_workers_place place;
	struct st_campaign c;
	struct st_workers pool;
	size_t tasks;
	FILE *file; /* of the tasks */
	struct st_controller controller;
	bool begun, own_folder;
	bool idle; /* no worker could be begun */
};

static const double slurm_patience = 40; /* s; Slurm kills a job 30 s after it was cancelled */

/* The result of a task that the loop does not need. */
static const char batch_skipped[] = "skipped";

static st_status
batch_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
}

st_status
st_batch_is_slurm(const char *on, bool *slurm, struct st_error *e)
{
	struct st_workers_place place;
	st_status status = st_workers_place_read(&place, on, e);
	*slurm = place.slurm;
	return status;
}

size_t
st_batch_workers(const char *on)
{
	struct st_workers_place place;
	struct st_error e;
	cpu_set_t set;
	if (st_workers_place_read(&place, on, &e) || place.slurm)
		return 0;
	const int all = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return place.workers ? place.workers : all > 1 ? (size_t)all - 1 : 1;
}

bool
st_batch_is(const json_t *about)
{
	return json_is_object(json_object_get(about, "batch"));
}

/* ---- the description ---- */

/* The command that continues the campaign: strobe TOOL --campaign FOLDER FURTHER... and the words
 * of the user. */
static json_t *
batch_command(const struct st_batch_options *o, const char *folder)
{
	json_t *words = json_pack("[s, s, s, s]", o->strobe, o->tool, "--campaign", folder);
	for (const char *const *word = o->further; word && *word; word++)
		json_array_append_new(words, json_string(*word));
	for (char *const *word = o->command; *word; word++)
		json_array_append_new(words, json_string(*word));
	return words;
}

static json_t *
batch_about(const struct st_batch_options *o, const char *folder)
{
	char *here = realpath(".", NULL);
	json_t *words = batch_command(o, folder);
	json_t *about =
	        json_pack("{s:{si, ss, ss}, si, sI, sf, sf, ss*, ss, so, si, s:{ss}}", "strobe",
	                  "version", 1, "kind", "campaign", "of", o->tool, "tasks", 0, "planned",
	                  (json_int_t)o->planned, "lease", o->place.lease, "noise", o->place.noise,
	                  "noise_option", o->place.noise_option, "directory", here ? here : ".",
	                  "command", words, "options_at", 2, "batch", "identity", o->identity);
	free(here);
	return about;
}

/* Refuses the folder of another campaign. */
static st_status
batch_check_old(const struct st_batch *b, const char *folder, struct st_error *e)
{
	const char *identity = NULL;
	char *path = st_text_of("%s/campaign.json", folder);
	json_t *old = path ? json_load_file(path, 0, NULL) : NULL;
	bool other = old && (json_unpack(old, "{s:{s:s}}", "batch", "identity", &identity) ||
	                     strcmp(identity, b->o->identity) != 0);
	other |= !old && path && !access(path, F_OK);
	json_decref(old);
	free(path);
	return other ? st_fail(e, ST_EXIT_FAILED,
	                       "%s has the campaign of another command, or of other versions or "
	                       "programs: name another folder with --campaign, or remove it",
	                       folder)
	             : ST_OK;
}

static st_status
batch_make(struct st_batch *b, const char *folder, struct st_error *e)
{
	json_t *about = batch_about(b->o, folder);
	st_status status = about ? st_campaign_make(folder, about, e)
	                         : st_fail(e, ST_EXIT_FAILED,
	                                   "workers cannot run the command: one of its words is "
	                                   "not UTF-8, or no memory is left");
	json_decref(about);
	return status ? status : st_campaign_open(&b->c, folder, e);
}

/* The tasks are written again, since the folders in which versions are built may have changed. */
static st_status
batch_open_tasks(struct st_batch *b, struct st_error *e)
{
	char *path = st_campaign_path(&b->c, "tasks");
	if (path)
		unlink(path);
	b->file = path ? fopen(path, "wxe") : NULL;
	st_status status = b->file ? ST_OK
	                           : st_fail(e, ST_EXIT_FAILED, "cannot write %s/tasks: %s",
	                                     b->c.folder, strerror(errno));
	free(path);
	return status;
}

static st_status
batch_begin(struct st_batch *b, struct st_error *e)
{
	const char *named = b->o->place.campaign;
	char *folder = named ? strdup(named) : NULL;
	st_status status = ST_OK;
	b->own_folder = !named;
	if (!named)
		status = st_batch_new_folder(b->o->tool, &folder, e);
	if (!status && !folder)
		status = batch_no_memory(e);
	if (!status)
		status = batch_check_old(b, folder, e);
	if (!status)
		status = batch_make(b, folder, e);
	free(folder);
	if (!status)
		status = st_controller_begin(&b->controller, &b->c, e);
	if (status)
		return ST_FAILED;
	st_campaign_forgive(&b->c);
	st_worker_sweep(&b->c);
	return batch_open_tasks(b, e);
}

st_status
st_batch_open(struct st_batch **b, const struct st_batch_options *o, struct st_error *e)
{
	*b = calloc(1, sizeof **b);
	if (!*b)
		return batch_no_memory(e);
	**b = (struct st_batch){.o = o};
	st_status status = st_workers_place_read(&(*b)->place, o->place.on, e);
	if (!status)
		status = st_workers_place_check(&(*b)->place, o->cpus, e);
	if (!status)
		status = batch_begin(*b, e);
	if (!status)
		return ST_OK;
	free(st_batch_close(*b, true));
	*b = NULL;
	return ST_FAILED;
}

/* ---- tasks ---- */

st_status
st_batch_add(struct st_batch *b, json_t *task, size_t *number, struct st_error *e)
{
	char *line = task ? json_dumps(task, JSON_COMPACT) : NULL;
	json_decref(task);
	if (!line)
		return batch_no_memory(e);
	bool failed = fprintf(b->file, "%s\n", line) < 0;
	free(line);
	if (failed)
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s/tasks: %s", b->c.folder,
		               strerror(errno));
	*number = b->tasks++;
	return ST_OK;
}

static st_status
batch_flush(struct st_batch *b, struct st_error *e)
{
	return fflush(b->file) ? st_fail(e, ST_EXIT_FAILED, "cannot write %s/tasks: %s",
	                                 b->c.folder, strerror(errno))
	                       : ST_OK;
}

st_status
st_batch_skip(struct st_batch *b, size_t from, struct st_error *e)
{
	char name[64], text[32];
	bool first;
	snprintf(text, sizeof text, "%s\nend\n", batch_skipped);
	for (size_t i = from; i < b->tasks; i++) {
		snprintf(name, sizeof name, "results/%zu", i);
		if (!st_campaign_has(&b->c, name) &&
		    st_campaign_put(&b->c, "controller", name, text, &first, e))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- results ---- */

void
st_batch_result_free(struct st_batch_result *r)
{
	free(r->runs);
	free(r->reason);
	free(r->worker);
	free(r->output);
	*r = (struct st_batch_result){0};
}

static bool
batch_take_run(struct st_batch_run *r, const json_t *at)
{
	return !json_unpack((json_t *)(uintptr_t)at, "{s:i, s:i, s:F, s:F, s:F}", "exit", &r->exit,
	                    "signal", &r->signal, "wall", &r->wall, "user", &r->user, "system",
	                    &r->system);
}

static st_status
batch_take(const struct st_batch *b, const char *text, struct st_batch_result *r,
           struct st_error *e)
{
	json_t *root = json_loads(text, 0, NULL), *runs = NULL;
	const char *reason = NULL, *worker = "", *output = NULL;
	bool good = !json_unpack(root, "{s:o, s?s, s:s, s?s}", "runs", &runs, "reason", &reason,
	                         "worker", &worker, "output", &output);
	const size_t n = good ? json_array_size(runs) : 0;
	r->runs = calloc(n + 1, sizeof *r->runs);
	for (r->n = 0; good && r->runs && r->n < n; r->n++)
		good = batch_take_run(&r->runs[r->n], json_array_get(runs, r->n));
	r->reason = reason ? strdup(reason) : NULL;
	r->worker = strdup(worker);
	r->output = output ? st_campaign_path(&b->c, "%s", output) : NULL;
	const bool memory =
	        r->runs && r->worker && (!reason || r->reason) && (!output || r->output);
	json_decref(root);
	if (good && memory)
		return ST_OK;
	st_batch_result_free(r);
	return good ? batch_no_memory(e)
	            : st_fail(e, ST_EXIT_FAILED,
	                      "a result of the campaign %s is damaged: name another folder with "
	                      "--campaign",
	                      b->c.folder);
}

static st_status
batch_given_up(const struct st_batch *b, size_t number, struct st_error *e)
{
	char *reason = st_campaign_given_up(&b->c, number);
	if (!reason)
		return ST_OK;
	st_cause(e, ST_EXIT_FAILED,
	         "task %zu of the campaign was given up, because %s; the results of all others "
	         "are kept: strobe campaign resume %s tries it again",
	         number + 1, reason, b->c.folder);
	free(reason);
	return ST_FAILED;
}

/* A task that was skipped may be needed when the loop runs again: its result is removed. */
static char *
batch_read_result(const struct st_batch *b, size_t number)
{
	char *text = st_campaign_result(&b->c, number);
	if (!text || strcmp(text, batch_skipped) != 0)
		return text;
	char *path = st_campaign_path(&b->c, "results/%zu", number);
	if (path)
		unlink(path);
	free(path);
	free(text);
	return NULL;
}

/* Whether no worker or pilot has begun, so that there is nothing to continue. */
static bool
batch_is_untouched(const struct st_batch *b)
{
	static const char *const folders[] = {"results", "failed", "quarantine", "workers",
	                                      "pilots"};
	size_t n = 0;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		n += st_campaign_each(&b->c, folders[i], NULL, NULL);
	return !n;
}

/* Workers also end when no task is left: then the result is there. */
static st_status
batch_attend(struct st_batch *b, size_t number, char **text, struct st_error *e)
{
	struct st_error better;
	if (batch_given_up(b, number, e))
		return ST_FAILED;
	if (!st_workers_attend(&b->pool, e))
		return ST_OK;
	*text = batch_read_result(b, number);
	if (*text)
		return ST_OK;
	if (batch_given_up(b, number, &better))
		*e = better;
	b->idle = !st_timing_interrupted() && batch_is_untouched(b);
	return ST_FAILED;
}

/* The workers begin when the first results are wanted, so that they know most of the tasks. */
static st_status
batch_start(struct st_batch *b, struct st_error *e)
{
	if (batch_flush(b, e))
		return ST_FAILED;
	if (b->begun)
		return ST_OK;
	b->begun = true;
	b->c.tasks = b->tasks; /* bounds the number of pilots */
	return st_workers_begin(&b->pool, &b->c, &b->place, b->o->strobe, b->o->cpus, e);
}

st_status
st_batch_wait(struct st_batch *b, size_t number, struct st_batch_result *r, struct st_error *e)
{
	enum { SHORTEST_NS = 500000, LONGEST_NS = 100000000 };
	struct timespec pause = {0, SHORTEST_NS};
	char *text = NULL;
	*r = (struct st_batch_result){0};
	if (batch_start(b, e))
		return ST_FAILED;
	while (!(text = batch_read_result(b, number)) && !st_timing_interrupted()) {
		if (batch_attend(b, number, &text, e))
			return ST_FAILED;
		if (text)
			break;
		if (st_campaign_is_cancelled(&b->c))
			kill(getpid(), SIGTERM); /* as if this process had been told to end */
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec < LONGEST_NS / 2 ? pause.tv_nsec * 2 : LONGEST_NS;
	}
	st_status status = text ? batch_take(b, text, r, e) : ST_OK;
	free(text);
	return status;
}

char *
st_batch_file(const struct st_batch *b, const char *name)
{
	return st_campaign_path(&b->c, "%s", name);
}

char *
st_batch_machine(const struct st_batch *b)
{
	return st_campaign_read(&b->c, "machine");
}

char *
st_batch_close(struct st_batch *b, bool complete)
{
	char *folder = NULL;
	if (!b)
		return NULL;
	if (b->begun)
		st_workers_end(&b->pool);
	/* Pilots must not write to the folder after it was removed. */
	if (b->begun && complete && b->place.slurm && b->own_folder)
		st_slurm_end(&b->c, slurm_patience, st_timing_interrupted);
	else if (b->begun && complete && b->place.slurm)
		st_slurm_cancel(&b->c);
	if (b->file)
		fclose(b->file);
	st_controller_end(&b->controller);
	const bool useless = b->c.folder && (complete || b->idle);
	if (useless && b->own_folder)
		st_batch_remove_folder(b->c.folder);
	else if (b->c.folder && !useless)
		folder = strdup(b->c.folder);
	st_campaign_close(&b->c);
	free(b);
	return folder;
}
