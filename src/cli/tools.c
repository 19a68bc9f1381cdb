/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/commands.h"
#include "cli/tools.h"

enum {
#define O(id, letter, name, argument, shown, help) TOOLS_##id,
	ST_TOOLS_OPTIONS(O)
#undef O
};

static const char *
tool_name(const void *tools, size_t i)
{
	return ((strobe_tool *const *)tools)[i]->name;
}

const strobe_tool *
st_tool_find(const char *name, struct st_error *e)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		if (!strcmp(st_tools[i]->name, name))
			return st_tools[i];
	const char *near = st_nearest(name, ST_TOOL_COUNT, tool_name, st_tools);
	if (near)
		st_fail(e, ST_EXIT_USAGE, "unknown tool '%s'; did you mean '%s'?", name, near);
	else
		st_fail(e, ST_EXIT_USAGE, "unknown tool '%s'; strobe tools lists them", name);
	return NULL;
}

static void
print_text(void)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		printf("  %-12s%s\n", st_tools[i]->name, st_tools[i]->help);
}

/* Names and help are the tools' own plain words: nothing in them needs escaping, and a test sees to
 * it. */
static void
print_json(void)
{
	printf("{\"strobe\": {\"version\": 1}, \"tools\": [");
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		printf("%s\n {\"name\": \"%s\", \"help\": \"%s\", \"sample_hz\": %u}", i ? "," : "",
		       st_tools[i]->name, st_tools[i]->help, st_tools[i]->sample_hz);
	printf("\n]}\n");
}

int
st_tools_main(char *const *argv)
{
	struct st_options o = st_command_options("tools", argv);
	struct st_error e;
	const char *value;
	bool json = false;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;) {
		switch (option) {
		case TOOLS_help:
			st_command_help(stdout, st_command_find("tools"), false);
			return ST_EXIT_OK;
		case TOOLS_format:
			json = !strcmp(value, "json");
			if (json || !strcmp(value, "text"))
				break;
			st_bad_format(value, "text and json", &e);
			return st_complain(&e);
		case ST_OPTIONS_OTHER:
			st_fail(&e, ST_EXIT_USAGE, "strobe tools takes no argument '%s'", value);
			return st_complain(&e);
		default:
			return st_complain(&e);
		}
	}
	if (json)
		print_json();
	else
		print_text();
	return ST_EXIT_OK;
}
