/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe job: what a project measures, as a file. */
#include "cli/job.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "campaign/workers.h"
#include "cli/commands.h"
#include "cli/on.h"
#include "cli/progress.h"
#include "cli/stored.h"
#include "job/place.h"
#include "profile/output.h"
#include "report/text.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) JOB_##id,
	ST_JOB_OPTIONS(O)
#undef O
};

/* The exit code of a job of which some runs have no profile. */
enum { EXIT_SOME_FAILED = 1 };

static void
job_show(void *arg, const char *text)
{
	st_progress_line(arg, text);
}

static int
job_exit(const struct st_job_outcome *out)
{
	int code = ST_EXIT_OK;
	if (st_timing_interrupted())
		return 128 + st_timing_interrupted();
	for (size_t i = 0; i < out->versions.n; i++)
		if (out->versions.v[i].failures.n || out->versions.v[i].state == ST_JOB_NOT_BUILT)
			code = EXIT_SOME_FAILED;
	return code;
}

static st_status
job_print_outcome(const struct st_job_arguments *a, const struct st_job_outcome *out,
                  struct st_error *e)
{
	struct st_safe safe;
	if (a->json)
		return st_job_print_json(out, e);
	FILE *to = st_safe_begin(&safe, a->quiet ? stderr : stdout);
	st_status status = to ? ST_OK : ST_FAILED;
	if (to && a->quiet)
		st_job_print_causes(out, to);
	else if (to)
		status = st_job_print(out, to);
	if (to)
		st_safe_end(&safe);
	if (!a->quiet && st_timing_interrupted())
		fprintf(stderr, "strobe: interrupted; the same command continues the job\n");
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to print the job") : ST_OK;
}

/* The file of the project: as users name it where they are in its top folder. */
static char *
job_file(const struct st_job_arguments *a, struct st_error *e)
{
	struct st_job_place p;
	char *path = NULL, *here = realpath(".", NULL);
	if (a->file)
		path = strdup(a->file);
	else if (!st_job_place_open(&p, e))
		path = here && !strcmp(here, p.root) ? strdup(ST_JOB_FILE)
		                                     : st_text_of("%s/" ST_JOB_FILE, p.root);
	else
		e = NULL; /* is filled */
	if (!a->file)
		st_job_place_close(&p);
	if (!path)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the name of the job file");
	free(here);
	return path;
}

static int
job_execute(struct st_job_arguments *a, const struct st_job *job)
{
	struct st_progress progress;
	struct st_job_outcome out;
	struct st_error e;
	st_progress_init(&progress, a->quiet);
	a->options.show = job_show;
	a->options.arg = &progress;
	st_timing_watch_signals();
	st_status status = st_job_run(job, &a->options, &out, &e);
	st_progress_erase(&progress);
	if (!status)
		status = job_print_outcome(a, &out, &e);
	int code = status ? st_complain(&e) : job_exit(&out);
	st_job_outcome_free(&out);
	return code;
}

int
st_job_command(struct st_job_arguments *a)
{
	char strobe[PATH_MAX];
	struct st_job job = {0};
	struct st_error e;
	char *path = job_file(a, &e);
	int code;
	if (!path || st_on_strobe(strobe, sizeof strobe, &e) || st_job_read(&job, path, &e)) {
		code = st_complain(&e);
	} else {
		a->options.strobe = strobe;
		a->options.file = a->file;
		code = job_execute(a, &job);
	}
	st_job_free(&job);
	free(path);
	return code;
}

/* ---- strobe job init ---- */

static st_status
job_write_example(const char *path, struct st_error *e)
{
	char *folder = st_text_of("%.*s", (int)(strrchr(path, '/') - path), path);
	st_status status = ST_OK;
	if (!folder)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the job file");
	else if (mkdir(folder, 0777) && errno != EEXIST)
		status = st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
		                 strerror(errno));
	free(folder);
	return status ? status : st_output_text(path, st_job_example, e);
}

static int
job_init(const struct st_job_arguments *a)
{
	struct st_error e;
	char *path = job_file(a, &e);
	st_status status = path ? ST_OK : ST_FAILED;
	if (path && !access(path, F_OK))
		status =
		        st_fail(&e, ST_EXIT_FAILED, "%s is there already: edit or remove it", path);
	else if (path)
		status = job_write_example(path, &e);
	int code = status ? st_complain(&e) : ST_EXIT_OK;
	if (!status && !a->quiet)
		printf("wrote %s, an example: edit it, then strobe job run\n", path);
	free(path);
	return code;
}

/* ---- arguments ---- */

static st_status
job_take_verb(struct st_job_arguments *a, const char *value, bool *given, struct st_error *e)
{
	a->init = !strcmp(value, "init");
	if (*given || (!a->init && strcmp(value, "run") != 0))
		return st_fail(e, ST_EXIT_USAGE, "strobe job takes init or run, not '%s'", value);
	*given = true;
	return ST_OK;
}

static st_status
apply_job_option(struct st_job_arguments *a, int option, const char *value, bool *given,
                 struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return job_take_verb(a, value, given, e);
	case JOB_file:
		a->file = value;
		return ST_OK;
	case JOB_rev:
		a->options.range = value;
		return ST_OK;
	case JOB_restart:
		a->options.restart = true;
		return ST_OK;
	case JOB_on:
		return st_on_take(&a->place, "on", value, e);
	case JOB_lease:
		return st_on_take(&a->place, "lease", value, e);
	case JOB_noise:
		return st_on_take(&a->place, "noise", value, e);
	case JOB_format:
		return st_stored_format(value, &a->json, e);
	case JOB_quiet:
		a->quiet = true;
		return ST_OK;
	case JOB_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

/* A version that is not checked out is in a temporary folder, which other nodes do not have. */
static st_status
job_check_place(const struct st_job_arguments *a, struct st_error *e)
{
	struct st_workers_place place;
	if (st_workers_place_read(&place, a->options.on, e))
		return ST_FAILED;
	if (place.slurm && a->options.range)
		return st_fail(e, ST_EXIT_USAGE,
		               "--rev works with --on local, not with slurm: check the version out "
		               "instead");
	return ST_OK;
}

static st_status
parse_job(struct st_job_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("job", argv);
	const char *value;
	bool given = false;
	*a = (struct st_job_arguments){.place = ST_BATCH_PLACE("--noise")};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_job_option(a, option, value, &given, e))
			return ST_FAILED;
	if (a->help)
		return ST_OK;
	a->options.on = a->place.on;
	a->options.lease = a->place.lease;
	a->options.noise = a->place.noise;
	if (!given)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe job init writes a job file, strobe job run measures what it "
		               "describes");
	if (a->init &&
	    (a->options.range || a->options.restart || a->options.on || a->json || a->file))
		return st_fail(e, ST_EXIT_USAGE, "strobe job init takes no option but --quiet");
	return a->options.on ? job_check_place(a, e) : ST_OK;
}

int
st_job_main(char *const *argv)
{
	struct st_job_arguments a;
	struct st_error e;
	if (parse_job(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("job"), false);
		return ST_EXIT_OK;
	}
	return a.init ? job_init(&a) : st_job_command(&a);
}
