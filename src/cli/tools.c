/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tools: which there are, or what one of them is about. */
#include "cli/tools.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"

enum {
#define O(id, letter, name, argument, shown, help) TOOLS_##id,
	ST_TOOLS_OPTIONS(O)
#undef O
};

/* The events of strobe_tool, by their names there. */
#define EVENTS(E)                                                                                  \
	E(block)                                                                                   \
	E(insn)                                                                                    \
	E(access)                                                                                  \
	E(branch)                                                                                  \
	E(call)                                                                                    \
	E(function)                                                                                \
	E(begin)                                                                                   \
	E(end)                                                                                     \
	E(image_loaded)                                                                            \
	E(image_unloaded)                                                                          \
	E(thread_begin)                                                                            \
	E(thread_end)                                                                              \
	E(syscall_before)                                                                          \
	E(syscall_after)                                                                           \
	E(signal)                                                                                  \
	E(gap)

void
st_tool_print_events(const strobe_tool *tool, FILE *out)
{
	const char *before = "  events: ";
#define E(event)                                                                                   \
	if (tool->event) {                                                                         \
		fprintf(out, "%s" #event, before);                                                 \
		before = ", ";                                                                     \
	}
	EVENTS(E)
#undef E
	fprintf(out, "%s\n", *before == ',' ? "" : "  events: none");
}

static void
print_one(const strobe_tool *tool, const struct st_tool_file *file)
{
	struct st_tool_results results;
	size_t n = st_tool_options(tool);
	printf("%s: %s\n", tool->name, tool->help);
	st_tool_print_events(tool, stdout);
	if (tool->sample_hz)
		printf("  samples: %u per second of CPU time\n", tool->sample_hz);
	if (n)
		printf("  options, as in -t %s:%s=...:\n", tool->name, tool->options[0].name);
	for (size_t i = 0; i < n; i++) {
		const strobe_option *o = &tool->options[i];
		const char *value = o->value ? o->value : "";
		const strobe_limit *limit = st_tool_limit(tool, o->name);
		char range[ST_TOOL_RANGE];
		const bool yes_or_no = limit && !limit->least && limit->most == 1;
		printf("    %-14s%s (%s%sdefault: %s)\n", o->name, o->help,
		       yes_or_no ? "1: yes, 0: no"
		       : limit   ? st_tool_range(range, limit)
		                 : "",
		       limit ? ", " : "", *value ? value : "none");
	}
	st_tool_list(tool, file, &results);
	st_tool_print_results(&results);
}

json_t *
st_tool_text(const char *bytes)
{
	json_t *t = bytes ? json_string(bytes) : NULL;
	return t ? t : json_null();
}

static json_t *
json_of_option(const strobe_tool *t, const strobe_option *o)
{
	const strobe_limit *limit = st_tool_limit(t, o->name);
	json_t *out = json_pack("{s:o, s:o, s:o}", "name", st_tool_text(o->name), "default",
	                        st_tool_text(o->value), "help", st_tool_text(o->help));
	if (out && limit) {
		json_object_set_new(out, "least", json_integer((json_int_t)limit->least));
		json_object_set_new(out, "most", json_integer((json_int_t)limit->most));
	}
	return out;
}

static json_t *
json_of(const strobe_tool *t, const struct st_tool_file *file)
{
	struct st_tool_results results;
	json_t *options = json_array();
	for (size_t i = 0; i < st_tool_options(t); i++)
		json_array_append_new(options, json_of_option(t, &t->options[i]));
	json_t *out = json_pack("{s:o, s:o, s:i, s:o}", "name", st_tool_text(t->name), "help",
	                        st_tool_text(t->help), "sample_hz", (int)t->sample_hz, "options",
	                        options);
	st_tool_list(t, file, &results);
	if (!out || !st_tool_json_results(out, &results))
		return out;
	json_decref(out);
	return NULL;
}

static st_status
print_json_tools(const strobe_tool *const *tools, size_t n, const struct st_tool_file *file,
                 struct st_error *e)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_of(tools[i], file));
	json_t *root = json_pack("{s:{s:i}, s:o}", "strobe", "version", 1, "tools", list);
	int bad = !root || json_dumpf(root, stdout, JSON_INDENT(1));
	json_decref(root);
	if (bad)
		return st_fail(e, ST_EXIT_FAILED, "cannot write the list of tools");
	printf("\n");
	return 0;
}

static st_status
print_all(bool json, struct st_error *e)
{
	if (json)
		return print_json_tools((const strobe_tool *const *)st_tools, ST_TOOL_COUNT, NULL,
		                        e);
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		printf("  %-12s%s\n", st_tools[i]->name, st_tools[i]->help);
	return 0;
}

static st_status
print_named(const char *name, bool json, struct st_error *e)
{
	struct st_tool_file *file;
	const strobe_tool *tool = st_tool_find(name, &file, e);
	if (!tool)
		return -1;
	int status = json ? print_json_tools(&tool, 1, file, e) : 0;
	if (!json)
		print_one(tool, file);
	st_tool_file_free(file);
	return status;
}

static st_status
parse_format_tools(const char *value, bool *json, struct st_error *e)
{
	*json = !strcmp(value, "json");
	return *json || !strcmp(value, "text") ? 0 : st_bad_format(value, "text and json", e);
}

int
st_tools_main(char *const *argv)
{
	struct st_options o = st_command_options("tools", argv);
	struct st_error e;
	const char *value, *name = NULL;
	bool json = false;
	for (int option; (option = st_options_next(&o, &value, &e)) != ST_OPTIONS_END;) {
		switch (option) {
		case TOOLS_help:
			st_command_help(stdout, st_command_find("tools"), false);
			return ST_EXIT_OK;
		case TOOLS_format:
			if (parse_format_tools(value, &json, &e))
				return st_complain(&e);
			break;
		case ST_OPTIONS_OTHER:
			if (!name) {
				name = value;
				break;
			}
			st_cause(&e, ST_EXIT_USAGE,
			         "strobe tools describes one tool; '%s' is one too many", value);
			return st_complain(&e);
		default:
			return st_complain(&e);
		}
	}
	if (name ? print_named(name, json, &e) : print_all(json, &e))
		return st_complain(&e);
	return ST_EXIT_OK;
}
