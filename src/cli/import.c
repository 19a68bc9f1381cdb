/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe import: a profile of what another tool has written. */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/import_perun.h"
#include "profile/output.h"
#include "profile/profile.h"

enum {
#define O(id, letter, name, argument, shown, help) IMPORT_##id,
	ST_IMPORT_OPTIONS(O)
#undef O
};

struct import_arguments {
	const char *input, *output, *format;
	bool quiet, help;
};

static st_status
apply_import_option(struct import_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		if (a->input)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe import reads one file; '%s' is one too many", value);
		a->input = value;
		return 0;
	case IMPORT_from:
		a->format = value;
		return 0;
	case IMPORT_output:
		if (!strcmp(value, "-"))
			return st_fail(e, ST_EXIT_USAGE,
			               "the profile is a database: give -o a file");
		a->output = value;
		return 0;
	case IMPORT_quiet:
		a->quiet = true;
		return 0;
	case IMPORT_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_import(struct import_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("import", argv);
	const char *value;
	*a = (struct import_arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_import_option(a, option, value, e))
			return -1;
	return a->help || a->input ? 0
	                           : st_fail(e, ST_EXIT_USAGE,
	                                     "no file to import: strobe import FILE, or - for "
	                                     "standard input");
}

/* Prints the contents of the profile, and the parts of the file that it lacks. */
static void
say_imported(const struct st_profile *p, const struct st_import_format *format, const char *path)
{
	uint64_t values = 0;
	for (size_t i = 0; i < p->measurements.series.n; i++)
		values += p->measurements.series.v[i].n;
	fprintf(stderr, "strobe: %s: ", format->name);
	if (p->measurements.series.n)
		fprintf(stderr, "%s in %s", ST_COUNT(values, "value", "values"),
		        ST_COUNT(p->measurements.series.n, "series", "series"));
	else
		fprintf(stderr, "%s", ST_COUNT(p->functions.n, "function", "functions"));
	if (p->contexts.n)
		fprintf(stderr, ", %s", ST_COUNT(p->contexts.n, "context", "contexts"));
	fputc('\n', stderr);
	for (size_t i = 0; i < p->notes.n; i++)
		fprintf(stderr, "strobe: %s\n", p->notes.v[i]);
	fprintf(stderr, "strobe: result: %s\n", path);
}

static st_status
import_file(const struct import_arguments *a, struct st_error *e)
{
	const struct st_import_format *format;
	bool standard = !strcmp(a->input, "-");
	char *name = st_text_of("%s.db", standard ? "import" : st_base_name(a->input));
	const char *path = a->output ? a->output : name;
	if (!name)
		return st_fail(e, ST_EXIT_FAILED, "no memory left");
	struct st_profile *p = NULL;
	st_status status = st_output_check_input(path, a->input, e);
	if (!status)
		status = st_output_check_profile(path, e);
	if (!status)
		p = st_import_file(a->input, a->format, &format, e);
	if (!p || st_profile_save(p, path, e))
		status = ST_FAILED;
	if (!status && !a->quiet)
		say_imported(p, format, path);
	st_profile_free(p);
	free(name);
	return status;
}

static bool
import_is_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static st_status
import_folder(const struct import_arguments *a, int *code, struct st_error *e)
{
	if (a->output)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is a folder: its profiles are added to the store; leave out -o",
		               a->input);
	if (a->format && strcmp(a->format, "perun") != 0)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "%s is a folder: only folders of Perun can be imported, not those of %s",
		        a->input, a->format);
	return st_import_folder(a->input, a->quiet, code, e);
}

int
st_import_main(char *const *argv)
{
	struct import_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse_import(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("import"), false);
		return ST_EXIT_OK;
	}
	st_status status =
	        import_is_folder(a.input) ? import_folder(&a, &code, &e) : import_file(&a, &e);
	return status ? st_complain(&e) : code;
}
