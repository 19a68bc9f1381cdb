/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe bisect: finds the commit that made a program slower. */
#include "gate/bisect.h"

#include <string.h>

#include "base/option.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/stored.h"
#include "report/text.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) BISECT_##id,
	ST_BISECT_OPTIONS(O)
#undef O
};

struct bisect_arguments {
	struct st_gate_options options;
	bool json, quiet, help;
};

static st_status
bisect_take_end(struct st_gate_options *o, const char *value, struct st_error *e)
{
	for (int side = 0; side < ST_GATE_SIDES; side++)
		if (!o->names[side]) {
			o->names[side] = value;
			return ST_OK;
		}
	return st_fail(e, ST_EXIT_USAGE,
	               "strobe bisect takes two versions; '%s' is one too many: put -- before the "
	               "command to run",
	               value);
}

static st_status
apply_bisect_option(struct bisect_arguments *a, int option, const char *value, struct st_error *e)
{
	long n;
	switch (option) {
	case ST_OPTIONS_OTHER:
		return bisect_take_end(&a->options, value, e);
	case BISECT_pairs:
		if (st_option_number("pairs", value, 0, ST_GATE_MOST_PAIRS, &n, e))
			return ST_FAILED;
		a->options.rule.pairs = (size_t)n;
		return ST_OK;
	case BISECT_counts:
		if (st_option_number("counts", value, 0, ST_GATE_MOST_RUNS, &n, e))
			return ST_FAILED;
		a->options.counts = (size_t)n;
		return ST_OK;
	case BISECT_format:
		return st_stored_format(value, &a->json, e);
	case BISECT_quiet:
		a->quiet = true;
		return ST_OK;
	case BISECT_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

/* The words after "--" are the command. */
static st_status
parse_bisect(struct bisect_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("bisect", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER && o.ended) {
			a->options.arguments = o.argv + o.at - 1;
			break;
		}
		if (apply_bisect_option(a, option, value, e))
			return ST_FAILED;
	}
	if (a->help || a->options.names[ST_GATE_TARGET])
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "strobe bisect takes two versions: one that is good, and a later one that "
	               "is bad");
}

static st_status
bisect_print(const struct bisect_arguments *a, const struct st_bisect_result *r, struct st_error *e)
{
	struct st_safe safe;
	if (a->quiet)
		return ST_OK;
	if (a->json)
		return st_stored_print_json(st_bisect_json(&a->options, r), e);
	FILE *out = st_safe_begin(&safe, stdout);
	if (!out)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	st_bisect_print_text(&a->options, r, out);
	st_safe_end(&safe);
	return ST_OK;
}

static int
run_bisect(struct bisect_arguments *a)
{
	struct st_bisect_result r = {0};
	struct st_gate_setting setting;
	struct st_error e;
	st_status status = st_gate_begin(&setting, &a->options, a->quiet, &e);
	if (!status)
		status = st_bisect_run(&a->options, &r, &e);
	st_gate_end(&setting, &a->options);
	if (!status)
		status = bisect_print(a, &r, &e);
	int code = status ? st_complain(&e) : st_bisect_exit(&r);
	if (!status && st_timing_interrupted())
		code = 128 + st_timing_interrupted();
	st_bisect_result_free(&r);
	return code;
}

int
st_bisect_main(char *const *argv)
{
	struct bisect_arguments a = {0};
	struct st_gate_rules rules = {0};
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse_bisect(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("bisect"), false);
	else {
		a = (struct bisect_arguments){0};
		if (st_gate_usual(&a.options, &rules, NULL, &e) || parse_bisect(&a, argv, &e))
			code = st_complain(&e);
		else
			code = run_bisect(&a);
	}
	st_gate_limits_free(&a.options.limits);
	st_gate_rules_free(&rules);
	return code;
}
