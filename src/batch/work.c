/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker of a batch: reads the tasks, executes their runs and writes the results. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "batch/batch.h"
#include "batch/node.h"
#include "batch/output.h"
#include "campaign/worker.h"
#include "timing/timing.h"

struct batch_work {
	struct st_campaign c;
	char *machine;
	cpu_set_t cpus; /* that the worker may use */
	char *tasks;    /* the path of the file */
	off_t read;     /* bytes of the file that were read */
	ST_VEC(char *) lines;
};

static st_status
work_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the worker of the campaign");
}

/* ---- the list of tasks ---- */

static st_status
work_take_lines(struct batch_work *w, char *text, struct st_error *e)
{
	for (char *end; (end = strchr(text, '\n')); text = end + 1) {
		char **line = ST_PUSH(&w->lines);
		*end = '\0';
		if (!line || !(*line = strdup(text)))
			return work_no_memory(e);
		w->read += end + 1 - text;
	}
	return ST_OK;
}

/* Reads the lines that are complete; the last one may still be written. */
static st_status
work_more(void *arg, size_t *tasks, struct st_error *e)
{
	struct batch_work *w = arg;
	struct stat s;
	bool grown = !stat(w->tasks, &s) && s.st_size > w->read;
	int fd = grown ? open(w->tasks, O_RDONLY | O_CLOEXEC) : -1;
	st_status status = ST_OK;
	if (fd >= 0) {
		size_t room = (size_t)(s.st_size - w->read);
		char *text = malloc(room + 1);
		ssize_t n = text ? pread(fd, text, room, w->read) : 0;
		if (text)
			text[n > 0 ? n : 0] = '\0';
		status = text ? work_take_lines(w, text, e) : work_no_memory(e);
		free(text);
		close(fd);
	}
	*tasks = w->lines.n;
	return status;
}

/* ---- a run ---- */

struct batch_running {
	struct batch_work *w;
	const struct st_worker_task *task;
	cpu_set_t cpus;
	bool pinned;
	bool ends; /* no further run */
	json_t *runs;
	char *reason;                  /* why a run could not be executed, malloc'ed */
	struct st_output_place output; /* of the last run; without a path, it has none */
};

static const char *
work_text(const json_t *run, const char *name)
{
	return json_string_value(json_object_get(run, name));
}

/* The words, whose texts belong to the JSON. NULL: no memory. */
static char **
work_words(const json_t *run)
{
	const json_t *words = json_object_get(run, "argv");
	const size_t n = json_array_size(words);
	const char **argv = calloc(n + 1, sizeof *argv);
	for (size_t i = 0; argv && i < n; i++)
		argv[i] = json_string_value(json_array_get(words, i));
	return (char **)argv;
}

static st_status
work_take_run(struct batch_running *r, const struct st_timing_run *m, struct st_error *e)
{
	json_t *run = json_pack("{si, si, sf, sf, sf}", "exit", m->exit, "signal", m->signal,
	                        "wall", m->v[ST_TIMING_WALL], "user", m->v[ST_TIMING_USER],
	                        "system", m->v[ST_TIMING_SYSTEM]);
	if (json_array_append_new(r->runs, run))
		return work_no_memory(e);
	r->ends = m->exit != 0;
	return ST_OK;
}

/* A program that cannot be started is a result, unless the node is the cause. */
static st_status
work_not_run(struct batch_running *r, const struct st_error *why, struct st_error *e)
{
	r->ends = true;
	r->reason = strdup(why->text);
	if (!r->reason)
		return work_no_memory(e);
	return st_node_is_cause(r->reason) ? st_fail(e, ST_EXIT_FAILED, "%s", r->reason) : ST_OK;
}

/* If a command of strobe has not made its file, its last message is the reason. */
static st_status
work_take_output(struct batch_running *r, const struct st_timing_run *m, struct st_error *e)
{
	struct st_error why = {.code = ST_EXIT_FAILED};
	if (!r->output.path || st_output_place_is_made(&r->output))
		return work_take_run(r, m, e);
	char *message = st_output_place_message(&r->output, m->exit);
	if (!message)
		return work_no_memory(e);
	snprintf(why.text, sizeof why.text, "%s", message);
	free(message);
	return work_not_run(r, &why, e);
}

/* Puts the path of the file into the words of a command that makes one. */
static st_status
work_place_output(struct batch_running *r, const json_t *run, char **argv, struct st_error *e)
{
	const json_int_t word = json_integer_value(json_object_get(run, "output"));
	const size_t n = json_array_size(json_object_get(run, "argv"));
	st_output_place_free(&r->output);
	if (word <= 0 || (size_t)word >= n)
		return ST_OK;
	if (st_output_place_of(&r->output, &r->w->c, r->task))
		return work_no_memory(e);
	argv[word] = r->output.path;
	return ST_OK;
}

static st_status
work_run_words(struct batch_running *r, const json_t *run, char *const *argv, struct st_error *e)
{
	char *settings[] = {(char *)(uintptr_t)work_text(run, "setting"), NULL};
	const char *input = work_text(run, "input"), *folder = work_text(run, "folder");
	struct st_timing_run measured;
	struct st_error why;
	const struct st_timing_command command = {
	        .argv = argv,
	        .input = input ? input : "/dev/null",
	        .streams = "/dev/null",
	        .errors = r->output.said,
	        .orphan = r->output.path ? SIGTERM : SIGKILL, /* a strobe ends its program */
	        .cpus = r->pinned ? &r->cpus : NULL,
	        .folder = folder,
	        .settings = settings,
	};
	if (folder && access(folder, X_OK))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s cannot be used here: a campaign needs a file system that all "
		               "nodes share",
		               folder);
	return st_timing_run(&command, &measured, &why) ? work_not_run(r, &why, e)
	                                                : work_take_output(r, &measured, e);
}

static st_status
work_run(struct batch_running *r, const json_t *run, struct st_error *e)
{
	char **argv = work_words(run);
	if (!argv)
		return work_no_memory(e);
	st_status status =
	        argv[0] ? work_place_output(r, run, argv, e)
	                : st_fail(e, ST_EXIT_FAILED, "%s/tasks has a task without a command",
	                          r->w->c.folder);
	if (!status)
		status = work_run_words(r, run, argv, e);
	free(argv);
	return status;
}

/* ---- a task ---- */

/* All runs of a task take the same CPU. */
static void
work_pin(struct batch_running *r, const json_t *task)
{
	const json_t *cpu = json_object_get(task, "cpu");
	json_int_t at = json_integer_value(cpu);
	const int n = CPU_COUNT(&r->w->cpus);
	r->pinned = cpu && n > 0;
	at = r->pinned ? at % n : 0;
	for (size_t i = 0; i < CPU_SETSIZE && r->pinned; i++)
		if (CPU_ISSET(i, &r->w->cpus) && at-- == 0)
			CPU_SET(i, &r->cpus);
}

static st_status
work_result(const struct batch_running *r, struct st_worked *out, struct st_error *e)
{
	for (char *at = r->reason; at && *at; at++)
		*at = *at & 0x80 ? '?' : *at; /* the name of a program need not be UTF-8 */
	const bool made = !r->reason && st_output_place_is_made(&r->output);
	json_t *result =
	        json_pack("{so, ss*, ss, ss*}", "runs", json_incref(r->runs), "reason", r->reason,
	                  "worker", r->task->worker, "output", made ? r->output.name : NULL);
	out->text = result ? json_dumps(result, JSON_COMPACT) : NULL;
	json_decref(result);
	out->file = made ? strdup(r->output.path) : NULL;
	return out->text && (out->file || !made) ? ST_OK : work_no_memory(e);
}

static st_status
work_runs(struct batch_running *r, const json_t *task, struct st_worked *out, struct st_error *e)
{
	const json_t *runs = json_object_get(task, "runs");
	st_status status = ST_OK;
	for (size_t i = 0; i < json_array_size(runs) && !status && !r->ends; i++) {
		status = work_run(r, json_array_get(runs, i), e);
		out->interrupted = st_timing_interrupted() != 0;
		r->ends |= out->interrupted;
	}
	if (out->interrupted)
		return ST_OK; /* the signal is the cause of a failure */
	return status ? status : work_result(r, out, e);
}

static st_status
work_execute(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	struct batch_work *w = arg;
	json_t *task = json_loads(w->lines.v[t->number], 0, NULL);
	struct batch_running r = {.w = w, .task = t, .runs = json_array()};
	st_status status = task ? ST_OK
	                        : st_fail(e, ST_EXIT_FAILED, "%s has a damaged line: task %zu",
	                                  w->tasks, t->number);
	if (!status && !r.runs)
		status = work_no_memory(e);
	work_pin(&r, task);
	if (!status)
		status = work_runs(&r, task, out, e);
	if (!out->file && st_output_place_is_made(&r.output))
		unlink(r.output.path);
	st_output_place_free(&r.output);
	free(r.reason);
	json_decref(r.runs);
	json_decref(task);
	return status;
}

/* ---- the worker ---- */

static bool
work_is_interrupted(void *arg)
{
	(void)arg;
	return st_timing_interrupted() != 0;
}

static st_status
work_begin(struct batch_work *w, int cpu, struct st_error *e)
{
	w->machine = st_node_machine();
	w->tasks = st_campaign_path(&w->c, "tasks");
	if (!w->machine || !w->tasks)
		return work_no_memory(e);
	if (cpu >= 0)
		return st_node_pin(cpu, &w->cpus, e);
	if (sched_getaffinity(0, sizeof w->cpus, &w->cpus))
		CPU_ZERO(&w->cpus); /* then runs are not pinned */
	return ST_OK;
}

st_status
st_batch_work(const char *folder, int cpu, struct st_error *e)
{
	struct batch_work w = {0};
	st_status status = st_campaign_open(&w.c, folder, e);
	if (!status)
		status = work_begin(&w, cpu, e);
	if (!status) {
		const struct st_work todo = {.execute = work_execute,
		                             .interrupted = work_is_interrupted,
		                             .more = work_more,
		                             .arg = &w,
		                             .machine = w.machine,
		                             .cpu = cpu};
		status = st_campaign_work(&w.c, &todo, e);
	}
	for (size_t i = 0; i < w.lines.n; i++)
		free(w.lines.v[i]);
	free(w.lines.v);
	free(w.machine);
	free(w.tasks);
	st_campaign_close(&w.c);
	return status;
}
