/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune: how B and T of the budget change what a program pays and what is seen of it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/tune.h"
#include "profile/output.h"
#include "tune/analysis.h"

enum {
#define O(id, letter, name, argument, shown, help) TUNE_##id,
	ST_TUNE_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_study study;
	struct st_tune_how how;
	const char *budgets, *periods, *policy, *program_file, *from, *output;
	bool json, quiet, help, measures; /* measures: an option that only measuring has is given */
};

/* ---- levels ---- */

static int
take_budget(const char *text, double *level, struct st_error *e)
{
	struct st_budget_choice b = {0};
	if (st_budget_amount(&b, text, e) || !(b.share > 0))
		return st_fail(e, ST_EXIT_USAGE,
		               "--budgets takes shares from 0.01%% to 100%%, such as 2%%,25%%, not "
		               "'%s'",
		               text);
	*level = b.share;
	return 0;
}

static int
take_period(const char *text, double *level, struct st_error *e)
{
	struct st_budget_choice b = {0};
	if (st_budget_period(&b, text, e))
		return st_fail(e, ST_EXIT_USAGE,
		               "--periods takes times from 20ms to 1h, such as 0.25s,4s, not '%s'",
		               text);
	*level = b.period;
	return 0;
}

static int
level_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Words with commas between them, in the order of their values. */
static int
take_levels(const char *option, const char *list,
            int (*take)(const char *, double *, struct st_error *), double *levels, size_t *n,
            struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	int status = copy ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	*n = 0;
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = *n == ST_STUDY_LEVELS
		                 ? st_fail(e, ST_EXIT_USAGE, "--%s takes at most %d levels", option,
		                           ST_STUDY_LEVELS)
		                 : take(word, &levels[(*n)++], e);
	free(copy);
	if (status)
		return -1;
	qsort(levels, *n, sizeof *levels, level_order);
	for (size_t i = 1; i < *n; i++)
		if (levels[i] == levels[i - 1])
			return st_fail(e, ST_EXIT_USAGE, "--%s has a level twice: %s", option,
			               list);
	return 0;
}

/* ---- arguments ---- */

static int
take_seed(struct st_study *s, const char *value, struct st_error *e)
{
	char *end;
	errno = 0;
	s->seed = strtoull(value, &end, 10);
	return *value >= '0' && *value <= '9' && !*end && !errno
	               ? 0
	               : st_fail(e, ST_EXIT_USAGE, "--seed takes a whole number, not '%s'", value);
}

/* Those that say what is printed, and where. */
static int
apply_printing(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case TUNE_from:
		a->from = value;
		return 0;
	case TUNE_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text and json", e);
	case TUNE_output:
		a->output = value;
		return 0;
	case TUNE_quiet:
		a->quiet = true;
		return 0;
	case TUNE_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static int
apply(struct arguments *a, int option, const char *value, struct st_error *e)
{
	bool measures = true;
	int status = 0;
	long repeat = 0;
	switch (option) {
	case TUNE_tool:
		status = st_toolset_add(&a->how.measure.tools, value, e);
		break;
	case TUNE_budgets:
		a->budgets = value;
		break;
	case TUNE_periods:
		a->periods = value;
		break;
	case TUNE_budget_policy:
		a->policy = value;
		status = st_budget_policy(&a->how.measure.budget, value, e);
		break;
	case TUNE_repeat:
		status = st_options_number("repeat", value, 1, ST_STUDY_REPEAT, &repeat, e);
		a->study.repeat = (size_t)repeat;
		break;
	case TUNE_seed:
		status = take_seed(&a->study, value, e);
		break;
	case TUNE_program_file:
		a->program_file = value;
		break;
	case TUNE_follow:
		a->how.follow = true;
		break;
	case TUNE_input:
		a->how.input = value;
		break;
	case TUNE_streams:
		a->how.output = value;
		break;
	default:
		measures = false;
		status = apply_printing(a, option, value, e);
	}
	a->measures |= measures;
	return status;
}

/* The tools, and behind them one that has all blocks counted. */
static int
complete_tools(struct arguments *a, struct st_error *e)
{
	static const unsigned counting[] = {ST_TOOL_inscount, ST_TOOL_bbcount, ST_TOOL_hot};
	struct st_toolset *set = &a->how.measure.tools;
	if (!set->n && st_toolset_add(set, st_tools[ST_TOOL_branches]->name, e))
		return -1;
	if (set->tools[0].index == ST_TOOL_null)
		return st_fail(e, ST_EXIT_USAGE,
		               "tool null measures nothing, so there is nothing to tune");
	a->study.tool = strdup(set->text);
	a->study.policy = strdup(a->policy);
	if (!a->study.tool || !a->study.policy)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < sizeof counting / sizeof *counting; k++)
			if (set->tools[i].index == counting[k])
				return 0;
	return st_toolset_add(set, st_tools[ST_TOOL_bbcount]->name, e);
}

static int
complete(struct arguments *a, char *const *program, struct st_error *e)
{
	struct st_study *s = &a->study;
	if (a->from)
		return !a->measures && !program ? 0
		                                : st_fail(e, ST_EXIT_USAGE,
		                                          "--from analyses what has been measured: "
		                                          "no program, and no option that "
		                                          "says how to measure, goes with it");
	if (!program && !a->program_file)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no program to run: strobe tune [options] -- PROGRAM, or --program-file "
		        "FILE");
	if (program && !st_study_add_program(s, program))
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (a->program_file && st_tune_programs(s, a->program_file, e))
		return -1;
	return take_levels("budgets", a->budgets, take_budget, s->budgets, &s->n_budgets, e) ||
	                       take_levels("periods", a->periods, take_period, s->periods,
	                                   &s->n_periods, e)
	               ? -1
	               : complete_tools(a, e);
}

static int
parse(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("tune", argv);
	const char *value;
	*a = (struct arguments){
	        .study = {.seed = 1, .repeat = 10},
	        .how = {.measure = ST_MEASURE_DEFAULT, .input = "/dev/null", .output = "/dev/null"},
	        .budgets = "2%,25%",
	        .periods = "0.25s,4s",
	        .policy = "native"};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER)
			return complete(a, argv + o.at - 1, e);
		if (apply(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return complete(a, NULL, e);
}

/* ---- results ---- */

static int
save(const char *text, const char *path, struct st_error *e)
{
	struct st_output o;
	if (st_output_begin(&o, path, e))
		return -1;
	if (st_output_write(&o, text, strlen(text), e) || st_output_write(&o, "\n", 1, e)) {
		st_output_abandon(&o);
		return -1;
	}
	return st_output_commit(&o, e);
}

/* Prints the analysis, and keeps the study. path: NULL: nowhere. */
static int
report(const struct arguments *a, const char *path, struct st_error *e)
{
	struct st_analysis analysis;
	if (st_analysis_make(&analysis, &a->study, e))
		return -1;
	char *text = st_study_json(&analysis, &a->study, e);
	if (!text)
		return -1;
	if (a->json)
		puts(text);
	else
		st_analysis_print(&analysis, &a->study, stdout, st_style_of(stdout));
	bool unprinted = fflush(stdout) != 0;
	int error = errno, status = path ? save(text, path, e) : 0;
	free(text);
	if (path && !status && !a->quiet)
		fprintf(stderr, "strobe: result: %s\n", path);
	if (!status && unprinted)
		return st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
		               strerror(error));
	return status;
}

/* strobe.PROGRAM.PID.tune.json; NULL: no memory. */
static char *
default_output(const struct st_study *s)
{
	const struct st_result named = {.name = s->programs.v[0].argv[0]};
	char *prefix = st_result_prefix(&named), *name = NULL;
	if (prefix && asprintf(&name, "%s%d.tune.json", prefix, (int)getpid()) < 0)
		name = NULL;
	free(prefix);
	return name;
}

/* ---- measuring ---- */

static int
make_folder(struct st_tune_how *how, struct st_error *e)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(how->folder, sizeof how->folder, "%s/strobe-tune-XXXXXX",
	                 tmp && *tmp ? tmp : "/tmp");
	if (n < 0 || (size_t)n >= sizeof how->folder)
		return st_fail(e, ST_EXIT_FAILED, "TMPDIR is too long a name: %s", tmp);
	return mkdtemp(how->folder) ? 0
	                            : st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s",
	                                      how->folder, strerror(errno));
}

static int
conduct(struct arguments *a, struct st_error *e)
{
	char result[sizeof a->how.folder + 16];
	int in = open(a->how.input, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", a->how.input,
		               strerror(errno));
	close(in);
	if (st_output_check(a->how.output, e) || make_folder(&a->how, e))
		return -1;
	snprintf(result, sizeof result, "%s/result.db", a->how.folder);
	a->how.measure.result.output = result;
	a->how.measure.result.quiet = true;
	st_tune_watch_signals();
	int status = st_tune_study(&a->study, &a->how, a->quiet, e);
	rmdir(a->how.folder);
	return status;
}

/* 0: something is left to be analysed. */
static int
tell_interruption(const struct arguments *a, struct st_error *e)
{
	if (!st_study_repetitions(&a->study))
		return st_fail(e, 128 + st_tune_interrupted(),
		               "interrupted before a repetition was complete: nothing is kept");
	if (!a->quiet)
		fprintf(stderr, "strobe: interrupted; what was measured before is kept\n");
	return 0;
}

static int
tune(struct arguments *a, struct st_error *e)
{
	char *fallback = a->json || a->output ? NULL : default_output(&a->study);
	const char *path = a->output ? a->output : fallback;
	int status = (path && st_output_check(path, e)) || conduct(a, e) ? -1 : 0;
	if (!status && st_tune_interrupted())
		status = tell_interruption(a, e);
	if (!status)
		status = report(a, path, e);
	free(fallback);
	return status;
}

static int
analyse_again(struct arguments *a, struct st_error *e)
{
	return st_study_load(&a->study, a->from, e) || report(a, a->output, e) ? -1 : 0;
}

int
st_tune_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("tune"), false);
	else if (bad || (a.from ? analyse_again(&a, &e) : tune(&a, &e)))
		code = st_complain(&e);
	else if (st_tune_interrupted())
		code = 128 + st_tune_interrupted();
	st_study_free(&a.study);
	st_measure_free(&a.how.measure);
	return code;
}
