/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a command: its format, its summary on standard error, its text on standard output.
 */
#include "cli/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "export/contexts.h"
#include "profile/output.h"
#include "report/report.h"
#include "report/text.h"

static int
write_json(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e)
{
	const struct st_report everything = {.profile = p};
	(void)arg;
	char *text = st_report_json(&everything, e);
	if (!text)
		return -1;
	fputs(text, out);
	free(text);
	return 0;
}

static const struct st_output_form json = {.end = "json", .write = write_json};

st_status
st_result_format(const char *value, struct st_session_output *o, struct st_error *e)
{
	o->form = strcmp(value, "json") ? NULL : &json;
	o->form_is_given = true;
	return o->form || !strcmp(value, "db") ? 0 : st_bad_format(value, "db and json", e);
}

void
st_result_guess_format(struct st_session_output *o)
{
	const char *usual = o->path && !o->form_is_given ? st_export_format_of(o->path) : NULL;
	if (usual && !strcmp(usual, json.end))
		o->form = &json;
}

st_status
st_result_output(const char *value, const char **output, struct st_error *e)
{
	if (!strcmp(value, "-"))
		return st_fail(e, ST_EXIT_USAGE,
		               "standard output belongs to the program: give -o a file, then use "
		               "strobe show");
	*output = value;
	return 0;
}

void
st_result_print(const struct st_result *a, const struct st_session_output *o,
                const struct st_profile *p, const char *saved)
{
	struct st_report r = {.profile = p,
	                      .top = (size_t)a->top,
	                      .no_tables = a->summary != NULL,
	                      .style = st_style_of(stderr)};
	struct st_text built;
	FILE *out = a->quiet ? NULL : st_text_begin(&built);
	if (!out)
		return;
	st_report_summary(&r, out);
	if (a->summary)
		a->summary(p, a->summary_arg, (size_t)a->top, out);
	if (!o->form && !a->summary)
		st_report_next(&r, out, saved);
	else if (saved)
		fprintf(out, "\n  result: %s\n", saved);
	char *text = st_text_end(&built);
	if (text)
		st_print_safely(stderr,
		                text); /* at once: the program's children may still write there */
	free(text);
}

char *
st_result_options(char *const *argv, char *const *end)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	for (; argv != end && *argv && strcmp(*argv, "--"); argv++)
		fprintf(out, "%s%s", ftell(out) ? " " : "", *argv);
	return st_text_end(&built);
}

st_status
st_result_write_text(char *text, bool is_json, struct st_error *e)
{
	if (is_json)
		st_print_json_safely(stdout, text);
	else
		st_print_safely(stdout, text);
	return st_output_flush(e);
}
