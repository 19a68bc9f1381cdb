/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate: what a function costs as a function of the program's own data. */
#include "cli/annotate.h"

#include <limits.h>
#include <string.h>

#include "base/option.h"
#include "cli/commands.h"
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
annotate_apply(struct st_annotate_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ANNOTATE_features:
		a->features = true;
		return ST_OK;
	case ANNOTATE_func:
		return st_patterns_add(&a->functions, "func", value, e);
	case ANNOTATE_image:
		return st_patterns_add(&a->images, "image", value, e);
	case ANNOTATE_output:
		a->output = value;
		return ST_OK;
	case ANNOTATE_metrics:
		a->asked = "metrics";
		return st_recording_metrics(value, &a->metrics, e);
	case ANNOTATE_keep:
		a->asked = "keep";
		return set_annotate_number("keep", value, ST_RECORDING_MOST, &a->keep, e);
	case ANNOTATE_seed:
		a->asked = "seed";
		return set_annotate_seed(a, value, e);
	case ANNOTATE_quiet:
		a->quiet = true;
		return ST_OK;
	case ANNOTATE_depth:
		return set_annotate_number("depth", value, ST_FEATURE_DEEPEST, &a->limits.depth, e);
	case ANNOTATE_max_features:
		return set_annotate_number("max-features", value, ST_FEATURE_MOST, &a->limits.most,
		                           e);
	case ANNOTATE_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? ST_OK
		                                         : st_bad_format(value, "text, json", e);
	case ANNOTATE_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
annotate_check(const struct st_annotate_arguments *a, struct st_error *e)
{
	if (!a->program)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no program given: strobe annotate -o RECORDS [-F NAMES] -- PROGRAM, "
		        "or --features");
	if (!a->features && !a->output)
		return st_fail(e, ST_EXIT_USAGE,
		               "say what to do with '%s': -o RECORDS runs it and records calls, "
		               "--features prints what the cost of its functions may depend on",
		               a->program[0]);
	if (a->features && (a->output || a->asked))
		return st_fail(e, ST_EXIT_USAGE, "--features runs nothing: leave it out, or --%s",
		               a->output ? "output" : a->asked);
	if (!a->features && a->json)
		return st_fail(e, ST_EXIT_USAGE,
		               "records are written as text: leave out --format json");
	return ST_OK;
}

static st_status
annotate_parse(struct st_annotate_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("annotate", argv);
	const char *value;
	*a = (struct st_annotate_arguments){.limits = ST_FEATURE_LIMITS,
	                                    .metrics = 1u << ST_RECORD_TIME,
	                                    .keep = ST_RECORDING_KEEP};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = argv + o.at - 1;
			break;
		}
		if (annotate_apply(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	return annotate_check(a, e);
}

int
st_annotate_main(char *const *argv)
{
	struct st_annotate_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (annotate_parse(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("annotate"), false);
	else if (a.output)
		code = st_annotate_record(&a);
	else
		code = st_annotate_features(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
	st_patterns_free(&a.functions);
	st_patterns_free(&a.images);
	return code;
}
