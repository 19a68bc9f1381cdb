/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/toolset.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/text.h"
#include "session/tool.h"
#include "session/tool_dcache.h"

/* Bytes of options that the results have room for. */
enum { MOST_OPTIONS = 4000 };
/* Options of a tool that are read, more than have space there. */
enum { MOST_SETTINGS = MOST_OPTIONS / ST_MAX_TOOLS / 2 };

bool
st_tool_number(const char *text, uint64_t *number)
{
	return !st_parse_size(text, number);
}

static const char *
toolset_option_name(const void *options, size_t i)
{
	return ((const strobe_option *)options)[i].name;
}

static st_status
unknown_option(const strobe_tool *tool, const char *name, struct st_error *e)
{
	size_t n = st_tool_options(tool);
	const char *near = st_nearest(name, n, toolset_option_name, tool->options);
	if (!n)
		return st_fail(e, ST_EXIT_USAGE, "tool %s has no options: leave out '%s'",
		               tool->name, name);
	if (near)
		return st_fail(e, ST_EXIT_USAGE, "tool %s has no option '%s'; did you mean '%s'?",
		               tool->name, name, near);
	return st_fail(e, ST_EXIT_USAGE,
	               "tool %s has no option '%s'; strobe tools %s lists its options", tool->name,
	               name, tool->name);
}

/* A value stands for a number when what it replaces is one, or has limits; then a default that is a
 * word may be said, too. */
static st_status
check_value(const strobe_tool *tool, const strobe_option *o, const char *value, struct st_error *e)
{
	const strobe_limit *limit = st_tool_limit(tool, o->name);
	uint64_t number, usual;
	char range[ST_TOOL_RANGE];
	bool word = o->value && !st_tool_number(o->value, &usual);
	if (!limit && (word || !o->value))
		return 0;
	if (word && !strcmp(value, o->value))
		return 0;
	if (!st_tool_number(value, &number))
		return st_fail(e, ST_EXIT_USAGE,
		               "option %s of tool %s takes a number, perhaps with k, M or G%s%s, "
		               "not '%s'",
		               o->name, tool->name, word ? ", or " : "", word ? o->value : "",
		               value);
	if (limit && (number < limit->least || number > limit->most))
		return st_fail(e, ST_EXIT_USAGE, "option %s of tool %s takes a number %s, not '%s'",
		               o->name, tool->name, st_tool_range(range, limit), value);
	return 0;
}

/* One option, appended to `out` as the runtime reads it: "name=value" with its NUL. */
static st_status
add_option(struct st_toolset *set, const strobe_tool *tool, const struct st_tool_setting *setting,
           FILE *out, struct st_error *e)
{
	const strobe_option *o = tool->options, *end = o + st_tool_options(tool);
	const char *value = setting->value ? setting->value : "1";
	while (o < end && strcmp(o->name, setting->name))
		o++;
	if (o == end)
		return unknown_option(tool, setting->name, e);
	if (check_value(tool, o, value, e))
		return -1;
	struct st_profile_option *kept = ST_PUSH(&set->options);
	char *copy = kept ? strdup(value) : NULL;
	if (!copy)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	*kept = (struct st_profile_option){(uint32_t)set->n - 1, o->name, copy};
	fprintf(out, "%s=%s%c", o->name, value, 0);
	return 0;
}

/* Its options, for the record, for what reads them here, and in the form that the results have. */
static st_status
toolset_take_options(struct st_toolset *set, const struct st_tool_setting *settings, size_t n,
                     struct st_error *e)
{
	struct st_run_tool *t = &set->tools[set->n - 1];
	struct st_text built;
	FILE *out = st_text_begin(&built);
	int status = out ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n && !status; i++)
		status = add_option(set, set->about[set->n - 1], &settings[i], out, e);
	if (!out)
		return status;
	fputc(0, out);
	t->options = st_text_end(&built);
	t->options_bytes = built.n;
	if (!t->options)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!status && t->options_bytes > MOST_OPTIONS / ST_MAX_TOOLS)
		return st_fail(e, ST_EXIT_USAGE, "the options of tool %s are too long", t->name);
	return status;
}

static st_status
check_company(const struct st_toolset *set, const strobe_tool *tool, struct st_error *e)
{
	const char *null = st_tools[ST_TOOL_null]->name;
	if (set->n == ST_MAX_TOOLS)
		return st_fail(e, ST_EXIT_USAGE, "at most %d tools can run at once", ST_MAX_TOOLS);
	for (size_t i = 0; i < set->n; i++) {
		if (!strcmp(set->about[i]->name, tool->name))
			return st_fail(e, ST_EXIT_USAGE, "tool %s is given twice", tool->name);
		if (!strcmp(set->about[i]->name, null) || !strcmp(tool->name, null))
			return st_fail(e, ST_EXIT_USAGE,
			               "tool null measures the engine without tools: run it alone");
	}
	return 0;
}

static st_status
toolset_add_text(struct st_toolset *set, const char *name, const struct st_tool_setting *settings,
                 size_t n, struct st_error *e)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	fprintf(out, "%s%s%s", set->text ? set->text : "", set->text ? "," : "", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s%s%s", i ? "," : ":", settings[i].name,
		        settings[i].value ? "=" : "", settings[i].value ? settings[i].value : "");
	char *text = st_text_end(&built);
	if (!text)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	free(set->text);
	set->text = text;
	return 0;
}

/* Where the options begin: behind the first colon, but a directory's name may have one. */
static char *
toolset_split(char *spec)
{
	static const char ending[] = ".tool";
	char *end = spec + strcspn(spec, ":");
	for (char *p = spec; (p = strstr(p, ending)); p++)
		if (p[sizeof ending - 1] == ':' || !p[sizeof ending - 1]) {
			end = p + sizeof ending - 1;
			break;
		}
	if (!*end)
		return end;
	*end = 0;
	return end + 1;
}

st_status
st_toolset_use(struct st_toolset *set, const char *name, const struct st_tool_setting *settings,
               size_t n, struct st_error *e)
{
	struct st_tool_file *file;
	const strobe_tool *tool = st_tool_find(name, &file, e);
	if (!tool || check_company(set, tool, e) ||
	    toolset_add_text(set, tool->name, settings, n, e)) {
		st_tool_file_free(file);
		return -1;
	}
	struct st_run_tool *t = &set->tools[set->n];
	*t = (struct st_run_tool){.name = tool->name, .file = file};
	if (file)
		t->index = ST_TOOL_LOADED;
	else
		while (st_tools[t->index] != tool)
			t->index++;
	set->files[set->n] = file;
	set->about[set->n++] = tool;
	if (n && toolset_take_options(set, settings, n, e))
		return -1;
	return tool == st_tools[ST_TOOL_dcache] ? st_dcache_check(settings, n, e) : 0;
}

/* Splits "name=value,name" in place. */
static size_t
split_options(char *list, struct st_tool_setting settings[MOST_SETTINGS])
{
	size_t n = 0;
	char *rest = NULL;
	for (char *o = strtok_r(list, ",", &rest); o && n < MOST_SETTINGS;
	     o = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(o, '=');
		if (equals)
			*equals++ = 0;
		settings[n++] = (struct st_tool_setting){o, equals};
	}
	return n;
}

static const strobe_tool *
built_in_tool(const char *name, size_t n)
{
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		if (strlen(st_tools[i]->name) == n && !memcmp(st_tools[i]->name, name, n))
			return st_tools[i];
	return NULL;
}

static bool
tool_has_option(const strobe_tool *tool, const char *name, size_t n)
{
	for (size_t i = 0; tool && i < st_tool_options(tool); i++)
		if (strlen(tool->options[i].name) == n && !memcmp(tool->options[i].name, name, n))
			return true;
	return false;
}

/* The length of the first tool of a list, "calls:args=1" of "calls:args=1,hot": a word without a
 * value that is the name of a tool, and of no option of the one before, begins the next one. Only
 * built-in tools stand in lists: paths may have commas. */
static size_t
first_tool(const char *list)
{
	size_t n = strcspn(list, ",:"), at = n + 1;
	if (st_tool_is_path(list) || strchr(list, '/'))
		return strlen(list);
	if (list[n] != ':')
		return n;
	const strobe_tool *tool = built_in_tool(list, n);
	for (;;) {
		size_t word = strcspn(list + at, ",=:"), end = at + strcspn(list + at, ",");
		if (at > n + 1 && list[at + word] != '=' && built_in_tool(list + at, word) &&
		    !tool_has_option(tool, list + at, word))
			return at - 1;
		if (!list[end])
			return end;
		at = end + 1;
	}
}

static st_status
toolset_add_one(struct st_toolset *set, const char *spec, size_t length, struct st_error *e)
{
	struct st_tool_setting settings[MOST_SETTINGS];
	char *copy = strndup(spec, length);
	if (!copy)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	char *options = toolset_split(copy);
	size_t n = split_options(options, settings);
	st_status status = st_toolset_use(set, copy, settings, n, e);
	free(copy);
	return status;
}

st_status
st_toolset_add(struct st_toolset *set, const char *spec, struct st_error *e)
{
	for (;; spec++) {
		size_t n = first_tool(spec);
		if (toolset_add_one(set, spec, n, e))
			return ST_FAILED;
		spec += n;
		if (!*spec)
			return ST_OK;
	}
}

void
st_toolset_free(struct st_toolset *set)
{
	for (size_t i = 0; i < set->n; i++)
		free((char *)set->tools[i].options);
	for (size_t i = 0; i < set->n; i++)
		st_tool_file_free(set->files[i]);
	for (size_t i = 0; i < set->options.n; i++)
		free((char *)(uintptr_t)set->options.v[i].value);
	free(set->options.v);
	free(set->text);
	*set = (struct st_toolset){0};
}

uint32_t
st_toolset_sample_hz(const struct st_toolset *set)
{
	uint32_t most = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->about[i]->sample_hz > most)
			most = set->about[i]->sample_hz;
	return most;
}

bool
st_toolset_takes_waits(const struct st_toolset *set)
{
	uint64_t number;
	for (size_t i = 0; i < set->options.n; i++) {
		const struct st_profile_option *o = &set->options.v[i];
		if (set->about[o->tool] == st_tools[ST_TOOL_hot] && !strcmp(o->name, "wall"))
			return st_tool_number(o->value, &number) && number;
	}
	return false;
}

bool
st_toolset_keeps_blocks(const struct st_toolset *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->about[i]->keep_blocks)
			return true;
	return false;
}
