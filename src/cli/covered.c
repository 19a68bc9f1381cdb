/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe covered: what logs of measured code hold, and what they lack. */
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/covered.h"

enum {
#define O(id, letter, name, argument, shown, help) COVERED_##id,
	ST_COVERED_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_covered logs, against;
	size_t n_logs;
	bool compares, functions, missing, json, help;
	long top;
};

static st_status
apply_covered_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		a->n_logs++;
		return st_covered_read(&a->logs, value, e);
	case COVERED_against:
		a->compares = true;
		return st_covered_read(&a->against, value, e);
	case COVERED_functions:
		a->functions = true;
		return 0;
	case COVERED_missing:
		a->missing = true;
		return 0;
	case COVERED_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case COVERED_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text, json", e);
	case COVERED_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_covered(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("covered", argv);
	const char *value;
	*a = (struct arguments){.top = 40};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_covered_option(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	if (!a->n_logs)
		return st_fail(e, ST_EXIT_USAGE, "no log to read: strobe covered LOG...");
	if (a->missing && !a->compares)
		return st_fail(e, ST_EXIT_USAGE,
		               "--missing needs --against, with the log of a run that measured "
		               "everything");
	if (a->compares && (a->logs.contexts || a->against.contexts))
		return st_fail(e, ST_EXIT_USAGE,
		               "--against compares logs of code, and one of these is a log of "
		               "contexts; strobe paths --from shows such a log");
	return 0;
}

static st_status
print_covered(struct arguments *a, struct st_error *e)
{
	st_covered_sort(&a->logs);
	st_covered_sort(&a->against);
	const struct st_covered_report r = {.logs = &a->logs,
	                                    .against = a->compares ? &a->against : NULL,
	                                    .functions = a->functions,
	                                    .missing = a->missing,
	                                    .top = (size_t)a->top,
	                                    .style = st_style_of(stdout)};
	char *text = a->json ? st_covered_json(&r, e) : NULL;
	if (a->json && !text)
		return -1;
	if (a->json)
		fputs(text, stdout);
	free(text);
	struct st_safe safe;
	if (!a->json && !st_safe_begin(&safe, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	if (!a->json) {
		st_covered_print(&r, safe.text.out);
		st_safe_end(&safe);
	}
	return st_output_flush(e);
}

int
st_covered_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	int bad = parse_covered(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("covered"), false);
	else if (bad || print_covered(&a, &e))
		code = st_complain(&e);
	st_covered_free(&a.logs);
	st_covered_free(&a.against);
	return code;
}
