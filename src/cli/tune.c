/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune: how the budget B and the period T change the slowdown and the coverage of a
 * program; and searches for the largest budget or the best threshold that the program keeps. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "profile/output.h"
#include "timing/timing.h"
#include "tune/analysis.h"

/* ---- results ---- */

/* After the text has been printed: the JSON, too, if it is wanted there; and into a file. path:
 * NULL: into none. */
static st_status
finish_tune(const struct st_tune_arguments *a, const char *json, const char *path,
            struct st_error *e)
{
	if (a->json)
		fputs(json, stdout);
	bool unprinted = fflush(stdout) != 0;
	int error = errno, status = path ? st_output_text(path, json, e) : 0;
	if (path && !status && !a->quiet)
		fprintf(stderr, "strobe: result: %s\n", path);
	if (!status && unprinted)
		return st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
		               strerror(error));
	return status;
}

static st_status
report_study(const struct st_tune_arguments *a, const char *path, struct st_error *e)
{
	struct st_analysis analysis;
	if (st_analysis_make(&analysis, &a->study, e))
		return -1;
	char *json = st_study_json(&analysis, &a->study, e);
	if (!json)
		return -1;
	if (!a->json)
		st_analysis_print(&analysis, &a->study, a->variance, stdout, st_style_of(stdout));
	int status = finish_tune(a, json, path, e);
	free(json);
	return status;
}

static st_status
report_limit(const struct st_tune_arguments *a, const struct st_limit *l, struct st_error *e)
{
	char *json = st_limit_json(l, e);
	if (!json)
		return -1;
	if (!a->json)
		st_limit_print(l, stdout, st_style_of(stdout));
	int status = finish_tune(a, json, a->output, e);
	free(json);
	return status;
}

/* strobe.PROGRAM.PID.tune.json; NULL: no memory. */
static char *
tune_default_output(const struct st_study *s)
{
	char *prefix = st_session_output_prefix(s->programs.v[0].argv[0]), *name = NULL;
	if (prefix && asprintf(&name, "%s%d.tune.json", prefix, (int)getpid()) < 0)
		name = NULL;
	free(prefix);
	return name;
}

/* ---- measuring ---- */

static st_status
make_folder(struct st_tune_how *how, struct st_error *e)
{
	enum { LONGEST = 470 }; /* SQLite opens no file whose name has more than 512 bytes */
	const char *tmp = getenv("TMPDIR");
	if (tmp && strlen(tmp) > LONGEST)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the path in TMPDIR is longer than %d bytes: set it to a shorter one",
		        LONGEST);
	snprintf(how->folder, sizeof how->folder, "%s/strobe-tune-XXXXXX",
	         tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(how->folder))
		return st_fail(e, ST_EXIT_FAILED, "cannot create the directory %s: %s", how->folder,
		               strerror(errno));
	snprintf(how->result, sizeof how->result, "%s/result.db", how->folder);
	how->session.output.path = how->result;
	return 0;
}

static st_status
prepare(struct st_tune_how *how, struct st_error *e)
{
	int in = open(how->input, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", how->input,
		               strerror(errno));
	close(in);
	if (st_output_check(how->output, e) || make_folder(how, e))
		return -1;
	st_tune_watch_signals(how);
	return 0;
}

static void
show_tune(void *progress, const char *line)
{
	if (line)
		st_progress_line(progress, line);
	else
		st_progress_erase(progress);
}

static void
say(void *progress, const char *sentence)
{
	st_progress_erase(progress);
	fprintf(stderr, "strobe: %s\n", sentence);
}

/* The study's runs, or with l the search's; of a worker, its part. */
static st_status
conduct(struct st_tune_arguments *a, struct st_limit *l, struct st_error *e)
{
	struct st_progress progress;
	st_progress_init(&progress, a->quiet);
	a->how.show = show_tune;
	a->how.say = say;
	a->how.arg = &progress;
	st_status status = prepare(&a->how, e);
	if (!status) {
		status = l ? st_tune_limit(l, &a->how, &a->qos, a->study.programs.v[0].argv, e)
		         : a->experiment ? st_tune_far_work(a, e)
		                         : st_tune_study(&a->study, &a->how, e);
		rmdir(a->how.folder);
	}
	a->how.arg = NULL;
	return status;
}

/* With workers, this process makes no runs. */
static int
tune_signal(void)
{
	return st_tune_interrupted() ? st_tune_interrupted() : st_timing_interrupted();
}

/* After a signal. 0: something is left to be told. */
static st_status
tell_interruption(const struct st_tune_arguments *a, bool some, const char *what,
                  struct st_error *e)
{
	if (!some)
		return st_fail(e, 128 + tune_signal(), "interrupted before %s was complete%s", what,
		               a->place.on ? "" : ": nothing is kept");
	if (!a->quiet)
		fprintf(stderr, "strobe: interrupted; what was measured before is kept\n");
	return 0;
}

static st_status
study(struct st_tune_arguments *a, struct st_error *e)
{
	char *fallback = a->json || a->output ? NULL : tune_default_output(&a->study);
	const char *path = a->output ? a->output : fallback;
	int status = path && st_output_check_kind(path, "JSON", ".json", e) ? -1 : 0;
	if (!status)
		status = a->place.on ? st_tune_far_study(a, e) : conduct(a, NULL, e);
	if (!status && tune_signal())
		status = tell_interruption(a, st_study_repetitions(&a->study) > 0, "a repetition",
		                           e);
	if (!status)
		status = report_study(a, path, e);
	free(fallback);
	return status;
}

static st_status
tune_find_limit(struct st_tune_arguments *a, struct st_limit *l, struct st_error *e)
{
	if (a->output && !a->experiment && st_output_check_kind(a->output, "JSON", ".json", e))
		return ST_FAILED;
	return a->place.on && !a->experiment ? st_tune_far_limit(a, l, e) : conduct(a, l, e);
}

static st_status
search(struct st_tune_arguments *a, struct st_error *e)
{
	const struct st_study *s = &a->study;
	char *command = st_study_command(&s->programs.v[0]);
	struct st_limit l = {.of_threshold = a->mode == ST_TUNE_THRESHOLD,
	                     .lower = a->qos.has_max,
	                     .tool = s->tool,
	                     .source = a->qos.source,
	                     .policy = st_qos_policy_name(
	                             a->mode == ST_TUNE_THRESHOLD ? a->qos.policy : ST_QOS_WATCH),
	                     .command = command ? command : "",
	                     .threshold = a->qos.has_max ? a->qos.max : a->qos.min,
	                     .budget = s->budgets[0],
	                     .period = s->periods[0],
	                     .repeat = s->repeat};
	int status = tune_find_limit(a, &l, e);
	if (!status && !a->experiment && tune_signal())
		status = tell_interruption(a, l.steps.n > 0, "a step", e);
	if (!status)
		status = a->experiment ? st_tune_far_found(a, &l, e) : report_limit(a, &l, e);
	free(l.steps.v);
	free(command);
	return status;
}

static st_status
analyse_again(struct st_tune_arguments *a, struct st_error *e)
{
	return st_study_load(&a->study, a->from, e) || report_study(a, a->output, e) ? -1 : 0;
}

static st_status
tune(struct st_tune_arguments *a, struct st_error *e)
{
	if (a->experiment && a->mode == ST_TUNE_STUDY)
		return conduct(a, NULL, e);
	if (a->from)
		return analyse_again(a, e);
	return a->mode == ST_TUNE_STUDY ? study(a, e) : search(a, e);
}

int
st_tune_main(char *const *argv)
{
	struct st_tune_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = st_tune_parse(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("tune"), false);
	else if (bad || tune(&a, &e))
		code = st_complain(&e);
	else if (tune_signal())
		code = 128 + tune_signal();
	st_tune_far_end(a.far, code == ST_EXIT_OK);
	st_tune_arguments_free(&a);
	return code;
}
