/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe export: a profile in the format of another tool. What the commands that know the content
 * of a profile can write themselves, they write. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/export_store.h"
#include "cli/show_stored.h"
#include "contexts/contexts.h"
#include "export/code_callgrind.h"
#include "export/contexts.h"
#include "export/functions_callgrind.h"
#include "export/lock_stacks.h"
#include "export/measurements_csv.h"
#include "export/perun.h"
#include "mem/mem.h"
#include "profile/output.h"
#include "profile/profile.h"

enum {
#define O(id, letter, name, argument, shown, help) EXPORT_##id,
	ST_EXPORT_OPTIONS(O)
#undef O
};

#define HISTORY_FORMAT "perun-store"

struct export_arguments {
	const char *input, *output, *format, *metric;
	bool help;
};

/* The writer of a format. */
enum export_writer {
	EXPORT_MEASUREMENTS,
	EXPORT_HISTORY,
	EXPORT_SHOW,
	EXPORT_STACKS,
	EXPORT_EVENTS
};

static st_status
export_callgrind(const struct st_profile *p, FILE *out, struct st_error *e)
{
	return st_export_has_callgrind(p) ? st_export_callgrind(p, out, e)
	                                  : st_export_code_callgrind(p, out, e);
}

static const struct {
	const char *name;
	enum export_writer writer;
	st_status (*write)(const struct st_profile *p, FILE *out, struct st_error *e);
} export_formats[] = {
#define F(id, name, writer, function) {name, EXPORT_##writer, function},
        ST_EXPORT_FORMATS(F)
#undef F
};
enum { N_EXPORT_FORMATS = sizeof export_formats / sizeof *export_formats };

static st_status
apply_export_option(struct export_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		if (a->input)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe export reads one profile; '%s' is one too many",
			               value);
		a->input = value;
		return 0;
	case EXPORT_to:
		a->format = value;
		return 0;
	case EXPORT_output:
		a->output = value;
		return 0;
	case EXPORT_metric:
		a->metric = value;
		return 0;
	case EXPORT_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

/* A store of Perun is a folder, and its profiles are those of a history. */
static st_status
parse_history(struct export_arguments *a, struct st_error *e)
{
	if (!strcmp(a->output, "-"))
		return st_fail(e, ST_EXIT_USAGE,
		               "a store of Perun is a folder: strobe export --to " HISTORY_FORMAT
		               " -o FOLDER [REV]");
	if (!a->input)
		a->input = "HEAD";
	return ST_OK;
}

static st_status
parse_export(struct export_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("export", argv);
	const char *value;
	*a = (struct export_arguments){.output = "-"};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_export_option(a, option, value, e))
			return -1;
	if (a->help)
		return 0;
	if (!a->format)
		a->format = st_export_format_of(a->output);
	if (!a->format && strcmp(a->output, "-") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "the name %s does not say which format to write: add --to FORMAT",
		               a->output);
	if (a->format && !strcmp(a->format, HISTORY_FORMAT))
		return parse_history(a, e);
	if (!a->format || !a->input)
		return st_fail(e, ST_EXIT_USAGE, "no %s: strobe export --to FORMAT FILE",
		               a->format ? "profile to export" : "format to export to");
	return 0;
}

static st_status
export_measurements(const struct export_arguments *a, size_t format, const struct st_profile *p,
                    struct st_error *e)
{
	struct st_output output;
	FILE *out = stdout;
	if (!strcmp(a->output, "-"))
		return export_formats[format].write(p, out, e);
	out = NULL;
	if (st_output_begin(&output, a->output, e))
		return ST_FAILED;
	st_status status = st_output_stream(&output, &out, e);
	if (!status)
		status = export_formats[format].write(p, out, e);
	if (out && st_output_close(&output, out, e))
		status = ST_FAILED;
	if (!status)
		return st_output_commit(&output, e);
	st_output_abandon(&output);
	return ST_FAILED;
}

/* As if the user had asked the command that wrote the profile. */
static int
export_by_command(const struct export_arguments *a, const struct st_profile *p,
                  enum export_writer writer)
{
	bool trace = st_profile_has_tool(p, "calltimes");
	char *show[] = {(char *)(uintptr_t) "--format", (char *)(uintptr_t)a->format,
	                (char *)(uintptr_t) "-o",       (char *)(uintptr_t)a->output,
	                (char *)(uintptr_t)a->input,    NULL};
	char *from[] = {(char *)(uintptr_t) "--from",
	                (char *)(uintptr_t)a->input,
	                (char *)(uintptr_t) "--format",
	                (char *)(uintptr_t)a->format,
	                (char *)(uintptr_t) "-o",
	                (char *)(uintptr_t)a->output,
	                a->metric ? (char *)(uintptr_t) "--metric" : NULL,
	                (char *)(uintptr_t)a->metric,
	                NULL};
	struct st_context_options o;
	struct st_error e;
	if (writer == EXPORT_SHOW)
		return st_show_main(show);
	if (trace)
		return st_trace_main(from);
	if (writer == EXPORT_STACKS && st_mem_tool(p) && !st_contexts_options(p, &o))
		return st_mem_main(from);
	if (writer == EXPORT_STACKS && st_contexts_options(p, &o))
		return st_paths_main(from);
	st_cause(&e, ST_EXIT_FAILED, "%s has no %s: the format %s needs a result of %s", a->input,
	         writer == EXPORT_STACKS ? "calling contexts" : "entries and returns", a->format,
	         writer == EXPORT_STACKS
	                 ? "strobe run -t hot, strobe paths, or strobe trace --events"
	                 : "strobe trace --events");
	return st_complain(&e);
}

/* Whether the writer of a format can write this profile, or a command must. */
static bool
export_writes(size_t format, const struct st_profile *p)
{
	struct st_context_options o;
	if (export_formats[format].writer == EXPORT_MEASUREMENTS)
		return true;
	if (export_formats[format].write == st_export_lock_stacks)
		return st_export_has_lock_stacks(p) && !st_contexts_options(p, &o);
	return export_formats[format].write &&
	       (st_export_has_callgrind(p) || st_export_has_code(p));
}

/* Whether strobe paths or strobe mem would write the format, if the profile has stacks. */
static bool
export_needs_stacks(size_t format, const struct st_profile *p)
{
	return export_formats[format].writer == EXPORT_STACKS && !export_writes(format, p) &&
	       !st_profile_has_tool(p, "calltimes");
}

/* Whether st_paths_main writes it. */
static bool
export_has_contexts(size_t format, const struct st_profile *p)
{
	struct st_context_options o;
	return export_needs_stacks(format, p) && st_contexts_options(p, &o);
}

/* Whether a file whose name ends with .gz is compressed. */
static bool
export_compresses(size_t format, const struct st_profile *p)
{
	return export_has_contexts(format, p) || (export_needs_stacks(format, p) && st_mem_tool(p));
}

/* Whether the profile would have stacks if a sample had been in the code of the program. */
static bool
export_lacks_samples(size_t format, const struct st_profile *p)
{
	return export_needs_stacks(format, p) && !export_compresses(format, p) &&
	       st_profile_has_tool(p, "hot");
}

/* Whether a command is asked that cannot write the format either, and says what is missing. */
static bool
export_lacks_input(size_t format, const struct st_profile *p)
{
	const enum export_writer writer = export_formats[format].writer;
	return (writer == EXPORT_STACKS || writer == EXPORT_EVENTS) && !export_writes(format, p) &&
	       !export_compresses(format, p) && !st_profile_has_tool(p, "calltimes");
}

static st_status
export_check(const struct export_arguments *a, size_t format, const struct st_profile *p,
             struct st_error *e)
{
	if (a->metric && !export_has_contexts(format, p))
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--metric chooses from the wall time of call stacks: use it with a format "
		        "of stacks, such as folded, and a result of strobe run -t hot:wall");
	if (export_lacks_samples(format, p))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no call stacks, because no sample was in the code of the "
		               "program: it ended too soon, or --sample-hz was 0",
		               a->input);
	if (st_export_is_gzip(a->output) && !export_compresses(format, p) &&
	    !export_lacks_input(format, p))
		return st_fail(e, ST_EXIT_USAGE,
		               "only call stacks are written compressed, and %s would be plain "
		               "text: give -o a name without .gz",
		               a->output);
	return ST_OK;
}

static int
export_profile(const struct export_arguments *a)
{
	struct st_error e;
	size_t format = 0;
	while (format < N_EXPORT_FORMATS && strcmp(export_formats[format].name, a->format))
		format++;
	if (format == N_EXPORT_FORMATS) {
#define F(id, name, writer, function) ", " name
		ST_IGNORE(st_bad_format(a->format, &(ST_EXPORT_FORMATS(F))[2], &e));
#undef F
		return st_complain(&e);
	}
	if (st_output_check_input(a->output, a->input, &e))
		return st_complain(&e);
	struct st_profile *p = st_show_load(a->input, &e);
	if (!p)
		return st_complain(&e);
	int code = ST_EXIT_OK;
	const st_status checked = export_check(a, format, p, &e);
	if (!checked && !export_writes(format, p))
		code = export_by_command(a, p, export_formats[format].writer);
	else if (checked || export_measurements(a, format, p, &e))
		code = st_complain(&e);
	st_profile_free(p);
	return code;
}

int
st_export_main(char *const *argv)
{
	struct export_arguments a;
	struct st_error e;
	if (parse_export(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("export"), false);
		return ST_EXIT_OK;
	}
	if (a.metric && !strcmp(a.format, HISTORY_FORMAT)) {
		st_cause(&e, ST_EXIT_USAGE, "--metric is for call stacks: leave it out");
		return st_complain(&e);
	}
	if (!strcmp(a.format, HISTORY_FORMAT))
		return st_export_store(a.input, a.output);
	return export_profile(&a);
}
