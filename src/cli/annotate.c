/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate: finds the cost of a function as a function of the program's data. */
#include "cli/annotate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/on.h"
#include "recording/recording.h"

enum {
#define O(id, letter, name, argument, shown, help) ANNOTATE_##id,
	ST_ANNOTATE_OPTIONS(O)
#undef O
};

static st_status
set_annotate_number(const char *option, const char *value, long most, unsigned *to,
                    struct st_error *e)
{
	long number;
	if (st_option_number(option, value, 1, most, &number, e))
		return ST_FAILED;
	*to = (unsigned)number;
	return ST_OK;
}

static st_status
set_annotate_seed(struct st_annotate_arguments *a, const char *value, struct st_error *e)
{
	long number;
	if (st_option_number("seed", value, 0, LONG_MAX, &number, e))
		return ST_FAILED;
	a->seed = (uint64_t)number;
	return ST_OK;
}

static st_status
set_annotate_form(struct st_annotate_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {"text", "json", "markdown", "c"};
	unsigned which;
	if (st_option_word("format", value, words, sizeof words / sizeof *words, &which, e))
		return ST_FAILED;
	a->form = (enum st_annotate_form)which;
	a->json = a->form == ST_ANNOTATE_JSON;
	return ST_OK;
}

static st_status
set_annotate_classes(struct st_annotate_arguments *a, const char *list, struct st_error *e)
{
	static const char *const words[] = {
#define C(id, name, shapes) name,
	        ST_ANN_CLASSES(C)
#undef C
	};
	char *copy = strdup(list), *rest = copy;
	unsigned which;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (char *word; !status && (word = strsep(&rest, ","));) {
		status = st_option_word("class", word, words, ST_ANN_CLASS_COUNT, &which, e);
		if (!status)
			a->analysis.classes |= 1u << which;
	}
	free(copy);
	return status;
}

static st_status
set_annotate_r2(struct st_annotate_arguments *a, const char *value, struct st_error *e)
{
	const char *end;
	if (st_parse_real(value, &a->analysis.min_r2, &end) || *end || a->analysis.min_r2 <= 0 ||
	    a->analysis.min_r2 >= 1)
		return st_fail(e, ST_EXIT_USAGE,
		               "--min-r2 takes a number between 0 and 1, not '%s'", value);
	return ST_OK;
}

static st_status
set_annotate_percent(struct st_annotate_arguments *a, const char *option, const char *value,
                     double least, double *share, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || !(percent >= least) || percent > 100)
		return st_fail(e, ST_EXIT_USAGE, "--%s takes percents from %g to 100, not '%s'",
		               option, least, value);
	a->checking = option;
	*share = percent / 100;
	return ST_OK;
}

static st_status
annotate_apply(struct st_annotate_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ANNOTATE_features:
		a->features = true;
		return ST_OK;
	case ANNOTATE_func:
		return st_patterns_add(&a->functions, "func", value, e);
	case ANNOTATE_image:
		a->search = "image";
		return st_patterns_add(&a->images, "image", value, e);
	case ANNOTATE_output:
		a->output = value;
		return ST_OK;
	case ANNOTATE_metrics:
		a->metrics_text = value;
		return ST_OK;
	case ANNOTATE_inputs:
		a->asked = "inputs";
		return st_patterns_add_path(&a->inputs, "inputs", value, e);
	case ANNOTATE_input:
		a->input = value;
		return ST_OK;
	case ANNOTATE_on:
		return st_on_take(&a->place, "on", value, e);
	case ANNOTATE_campaign:
		return st_on_take(&a->place, "campaign", value, e);
	case ANNOTATE_lease:
		return st_on_take(&a->place, "lease", value, e);
	case ANNOTATE_noise:
		return st_on_take(&a->place, "noise", value, e);
	case ANNOTATE_branches:
		a->asked = "branches";
		a->branches = true;
		return ST_OK;
	case ANNOTATE_keep:
		a->asked = "keep";
		return set_annotate_number("keep", value, ST_RECORDING_MOST, &a->keep, e);
	case ANNOTATE_pid:
		return st_measure_pid(value, &a->pid, e);
	case ANNOTATE_for:
		a->asked = "for";
		return st_region_time(&a->seconds, "for", value, e);
	case ANNOTATE_follow:
		a->asked = "follow";
		a->follow = true;
		return ST_OK;
	case ANNOTATE_twice:
		a->asked = "twice";
		a->twice = true;
		return ST_OK;
	case ANNOTATE_seed:
		return set_annotate_seed(a, value, e);
	case ANNOTATE_quiet:
		a->quiet = true;
		return ST_OK;
	case ANNOTATE_depth:
		a->search = "depth";
		return set_annotate_number("depth", value, ST_FEATURE_DEEPEST, &a->limits.depth, e);
	case ANNOTATE_machine:
		a->search = "machine";
		a->limits.machine = true;
		return ST_OK;
	case ANNOTATE_max_features:
		a->search = "max-features";
		return set_annotate_number("max-features", value, ST_FEATURE_MOST, &a->limits.most,
		                           e);
	case ANNOTATE_format:
		return set_annotate_form(a, value, e);
	case ANNOTATE_where:
		a->where = value;
		return ST_OK;
	case ANNOTATE_without:
		return st_patterns_add(&a->without, "without", value, e);
	case ANNOTATE_contracts:
		a->contracts = value;
		return ST_OK;
	case ANNOTATE_class:
		return set_annotate_classes(a, value, e);
	case ANNOTATE_min_r2:
		return set_annotate_r2(a, value, e);
	case ANNOTATE_function:
		a->function = value;
		return ST_OK;
	case ANNOTATE_explain:
		a->explain = value;
		return ST_OK;
	case ANNOTATE_save:
		a->save = true;
		return ST_OK;
	case ANNOTATE_check:
		a->check = true;
		return ST_OK;
	case ANNOTATE_kept:
		a->checking = "kept";
		a->kept = value;
		return ST_OK;
	case ANNOTATE_margin:
		return set_annotate_percent(a, "margin", value, 0, &a->margin, e);
	case ANNOTATE_alarm:
		return set_annotate_percent(a, "alarm", value, 0.0001, &a->alarm, e);
	case ANNOTATE_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

/* Only the engine counts instructions and sees branches: not every metric can be had with them. */
static st_status
annotate_check_engine(struct st_annotate_arguments *a, struct st_error *e)
{
	const uint32_t counts = ST_RECORD_OF_ENGINE, possible = 1u << ST_RECORD_TIME | counts;
	const char *const why = a->branches                           ? "--branches"
	                        : a->metrics & ST_RECORD_INSTRUCTIONS ? "the metric instructions"
	                        : a->metrics & ST_RECORD_BLOCKS       ? "the metric blocks"
	                                                              : "the metric syscalls";
	if (a->branches && !a->metrics_text)
		a->metrics = ST_RECORD_INSTRUCTIONS;
	if (!a->branches && !(a->metrics & counts))
		return ST_OK;
	if (a->metrics & ~possible)
		return st_fail(e, ST_EXIT_USAGE,
		               "with %s, a run measures instructions, blocks, syscalls and time: "
		               "record the other metrics in a second run",
		               why);
	if (a->twice)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s gives exact counts, which recording does not change: leave out "
		               "--twice",
		               why);
	if (a->limits.machine)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s gives exact counts, which do not depend on the state of the "
		               "machine: leave out --machine",
		               why);
	a->metrics |= a->branches ? ST_RECORD_BRANCHES : 0;
	return ST_OK;
}

/* Checks that options of analyses are not given, and reads the metrics of a run. */
static st_status
annotate_check_recording(struct st_annotate_arguments *a, struct st_error *e)
{
	if (a->where || a->without.n || a->function || a->contracts || a->analysis.classes ||
	    a->save || a->check || a->explain || a->analysis.min_r2 > 0)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--where, --without, --function, --contracts, --check, --explain, --save, "
		        "--class and --min-r2 are for the analysis of records: strobe annotate "
		        "FILE...");
	if (a->form > (a->features ? ST_ANNOTATE_JSON : ST_ANNOTATE_TEXT))
		return st_fail(
		        e, ST_EXIT_USAGE,
		        a->features ? "--features prints text or JSON: --format text, --format json"
		                    : "records are written as text: leave out --format");
	if (a->metrics_text && st_recording_metrics(a->metrics_text, &a->metrics, e))
		return ST_FAILED;
	return annotate_check_engine(a, e);
}

/* Checks the options of a run and of --features, which take PROGRAM. */
static st_status
annotate_check_program(struct st_annotate_arguments *a, struct st_error *e)
{
	if (a->files.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "'%s' before -- is read as a file of records: leave out this file, or "
		        "the program '%s'",
		        a->files.text[0], a->program[0]);
	if (!a->features && !a->output)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "nothing to do with '%s': record its calls with -o RECORDS, or print "
		        "the features of its functions with --features",
		        a->program[0]);
	if (a->features && (a->output || a->asked || a->metrics_text))
		return st_fail(e, ST_EXIT_USAGE,
		               "--features does not run the program: leave out --features or --%s",
		               a->output  ? "output"
		               : a->asked ? a->asked
		                          : "metrics");
	return annotate_check_recording(a, e);
}

/* Checks the options of a running process. */
static st_status
annotate_check_process(struct st_annotate_arguments *a, struct st_error *e)
{
	if (a->program || a->files.n)
		return st_fail(e, ST_EXIT_USAGE, "--pid records a running process: leave out '%s'",
		               a->program ? a->program[0] : a->files.text[0]);
	if (a->features)
		return st_fail(e, ST_EXIT_USAGE,
		               "--features takes a program: give its name instead of --pid");
	if (a->inputs.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--inputs needs a program that strobe starts: leave out --pid");
	if (a->follow)
		return st_fail(e, ST_EXIT_USAGE,
		               "--follow needs a program that strobe starts: the children of an "
		               "attached process run natively");
	if (!a->output)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--pid needs a file for the records: strobe annotate --pid %ld -o RECORDS",
		        a->pid);
	return annotate_check_recording(a, e);
}

/* Checks options that exclude each other. */
static st_status
annotate_check_uses(const struct st_annotate_arguments *a, struct st_error *e)
{
	const char *const use = a->contracts ? "contracts"
	                        : a->check   ? "check"
	                        : a->explain ? "explain"
	                                     : NULL;
	if (a->contracts && a->check)
		return st_fail(e, ST_EXIT_USAGE,
		               "--check and --contracts are different checks: give one of them");
	if (a->explain && (a->contracts || a->check))
		return st_fail(e, ST_EXIT_USAGE,
		               "--explain is not a check: leave out --explain or --%s", use);
	if (a->explain && a->functions.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--explain already names the function: leave out --func");
	if (a->without.n && (a->contracts || a->check))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s needs the features that it names: leave out --without", use);
	if (use && (a->output || a->save || a->form > ST_ANNOTATE_JSON))
		return st_fail(e, ST_EXIT_USAGE, "--%s makes no annotations: leave out %s", use,
		               a->output ? "--output"
		               : a->save ? "--save"
		                         : "this --format");
	return ST_OK;
}

static st_status
annotate_check(struct st_annotate_arguments *a, struct st_error *e)
{
	if (a->checking && !a->check)
		return st_fail(e, ST_EXIT_USAGE, "--%s can only be used with --check", a->checking);
	if (st_on_check(&a->place, e))
		return ST_FAILED;
	if (a->place.on && !a->inputs.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--on needs inputs with which the program is recorded: give them with "
		        "--inputs");
	if (a->pid)
		return annotate_check_process(a, e);
	if (a->program)
		return annotate_check_program(a, e);
	if (a->features)
		return st_fail(e, ST_EXIT_USAGE,
		               "--features takes a program: strobe annotate --features [-F NAMES] "
		               "PROGRAM");
	if (!a->files.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no records given: strobe annotate FILE... analyses records of calls; "
		        "strobe annotate -o FILE [-F NAMES] -- PROGRAM makes them");
	if (a->asked || a->search)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for recording: strobe annotate -o FILE -- PROGRAM",
		               a->asked ? a->asked : a->search);
	if (annotate_check_uses(a, e))
		return ST_FAILED;
	a->analysis.seed = a->seed;
	return a->metrics_text ? st_patterns_add(&a->chosen, "metrics", a->metrics_text, e) : ST_OK;
}

static st_status
annotate_parse(struct st_annotate_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("annotate", argv);
	const char *value;
	*a = (struct st_annotate_arguments){.limits = ST_FEATURE_LIMITS,
	                                    .metrics = 1u << ST_RECORD_TIME,
	                                    .keep = ST_RECORDING_KEEP,
	                                    .place = ST_BATCH_PLACE("--noise"),
	                                    .command = argv,
	                                    .margin = 0.05,
	                                    .alarm = 0.01};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER && (o.ended || a->features)) {
			a->program = argv + o.at - 1;
			break;
		}
		if (option == ST_OPTIONS_OTHER ? st_patterns_add_path(&a->files, "", value, e)
		                               : annotate_apply(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	return annotate_check(a, e);
}

/* Whether the command line would run a program whose exit code becomes that of the command. */
static bool
annotate_runs_program(const struct st_annotate_arguments *a, char *const *argv)
{
	while (*argv && strcmp(*argv, "--") != 0)
		argv++;
	return *argv && !a->features && !a->pid;
}

int
st_annotate_main(char *const *argv)
{
	struct st_annotate_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (annotate_parse(&a, argv, &e))
		code = annotate_runs_program(&a, argv) ? st_complain_running(&e) : st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("annotate"), false);
	else if (!a.program && !a.pid)
		code = st_annotate_records(&a, &e);
	else if (a.output && a.inputs.n && !a.input)
		code = st_annotate_inputs(&a);
	else if (a.output)
		code = st_annotate_record(&a);
	else
		code = st_annotate_features(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
	st_patterns_free(&a.files);
	st_patterns_free(&a.chosen);
	st_patterns_free(&a.functions);
	st_patterns_free(&a.without);
	st_patterns_free(&a.images);
	st_patterns_free(&a.inputs);
	return code;
}
