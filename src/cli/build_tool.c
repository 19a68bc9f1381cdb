/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe build-tool: from a C file to a tool that run -t can use. */
#include "cli/build_tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/tools.h"
#include "session/tool_calibrate.h"
#include "toolkit/compile.h"

enum {
#define O(id, letter, name, argument, shown, help) BUILD_TOOL_##id,
	ST_BUILD_TOOL_OPTIONS(O)
#undef O
	        MOST_INCLUDES = 16,
};

struct arguments {
	const char *source, *output;
	const char *include[MOST_INCLUDES + 1];
	size_t n_include;
	bool quiet, help;
};

static st_status
apply_build_tool_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case BUILD_TOOL_output:
		a->output = value;
		return 0;
	case BUILD_TOOL_include:
		if (a->n_include == MOST_INCLUDES)
			return st_fail(e, ST_EXIT_USAGE, "at most %d directories with -I",
			               MOST_INCLUDES);
		a->include[a->n_include++] = value;
		return 0;
	case BUILD_TOOL_quiet:
		a->quiet = true;
		return 0;
	case BUILD_TOOL_help:
		a->help = true;
		return 0;
	case ST_OPTIONS_OTHER:
		if (a->source)
			return st_fail(e, ST_EXIT_USAGE,
			               "a tool is one C file: '%s' is given already, and '%s' is "
			               "one too many",
			               a->source, value);
		a->source = value;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_build_tool(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("build-tool", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END && !a->help;)
		if (apply_build_tool_option(a, option, value, e))
			return -1;
	if (a->help)
		return 0;
	if (!a->source)
		return st_fail(e, ST_EXIT_USAGE, "no tool to build: strobe build-tool FILE.c");
	if (access(a->source, R_OK) != 0)
		return st_fail(e, ST_EXIT_USAGE, "cannot read the tool's source %s: %m", a->source);
	return 0;
}

/* my.tool for path/my.c, in the current directory. */
static char *
build_tool_default_output(const char *source)
{
	const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
	const char *dot = strrchr(base, '.');
	char *name = NULL;
	int length = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
	return asprintf(&name, "%.*s.tool", length, base) < 0 ? NULL : name;
}

/* The tool as built, checked as strobe run would; it does not stay when it cannot be used. */
static st_status
check_build_tool(const struct arguments *a, const char *output, struct st_error *e)
{
	struct st_tool_file *f = st_tool_file_read(output, e);
	int status = f ? st_tool_check_code(f, e) : -1;
	if (status) {
		unlink(output);
	} else if (!a->quiet) {
		const strobe_tool *t = st_tool_file_about(f);
		printf("%s: %s, %s\n", output, t->name, t->help);
		st_tool_print_events(t, stdout);
		st_tool_print_costs(f, a->include, stdout);
		printf("  run it:  strobe run -t %s%s -- PROGRAM\n",
		       strchr(output, '/') ? "" : "./", output);
	}
	st_tool_file_free(f);
	return status;
}

static st_status
build(const struct arguments *a, struct st_error *e)
{
	char *fallback = a->output ? NULL : build_tool_default_output(a->source);
	const char *output = a->output ? a->output : fallback;
	struct st_tool_build b = {a->source, output, a->include};
	int status = output ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!status)
		status = st_tool_compile(&b, e) || check_build_tool(a, output, e) ? -1 : 0;
	free(fallback);
	return status;
}

int
st_build_tool_main(char *const *argv)
{
	struct arguments a = {0};
	struct st_error e;
	if (st_calibrate_answer())
		return ST_EXIT_OK;
	if (parse_build_tool(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("build-tool"), false);
		return ST_EXIT_OK;
	}
	return build(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
}
