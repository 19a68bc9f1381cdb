/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

static const char *
session_tool_tool_name(const void *tools, size_t i)
{
	return ((strobe_tool *const *)tools)[i]->name;
}

bool
st_tool_is_path(const char *name)
{
	const char *dot = strrchr(name, '.');
	return strchr(name, '/') || (dot && (!strcmp(dot, ".tool") || !strcmp(dot, ".c")));
}

const strobe_tool *
st_tool_find(const char *name, struct st_tool_file **file, struct st_error *e)
{
	*file = NULL;
	if (st_tool_is_path(name)) {
		*file = st_tool_file_read(name, e);
		return *file ? st_tool_file_about(*file) : NULL;
	}
	for (size_t i = 0; i < ST_TOOL_COUNT; i++)
		if (!strcmp(st_tools[i]->name, name))
			return st_tools[i];
	const char *near = st_nearest(name, ST_TOOL_COUNT, session_tool_tool_name, st_tools);
	if (near)
		st_cause(e, ST_EXIT_USAGE, "unknown tool '%s'; did you mean '%s'?", name, near);
	else
		st_cause(e, ST_EXIT_USAGE, "unknown tool '%s'; strobe tools lists them", name);
	return NULL;
}

size_t
st_tool_options(const strobe_tool *tool)
{
	size_t n = 0;
	while (n < STROBE_MOST_OPTIONS && tool->options[n].name)
		n++;
	return n;
}

const strobe_limit *
st_tool_limit(const strobe_tool *tool, const char *option)
{
	for (size_t i = 0; i < STROBE_MOST_OPTIONS && tool->limits[i].option; i++)
		if (!strcmp(tool->limits[i].option, option))
			return &tool->limits[i];
	return NULL;
}

const char *
st_tool_range(char text[ST_TOOL_RANGE], const strobe_limit *limit)
{
	static const char *const units[] = {"", "k", "M", "G"};
	uint64_t end[2] = {limit->least, limit->most};
	size_t unit[2] = {0, 0};
	for (size_t i = 0; i < 2; i++)
		while (end[i] && end[i] % 1024 == 0 && unit[i] < 3) {
			end[i] /= 1024;
			unit[i]++;
		}
	snprintf(text, ST_TOOL_RANGE, "from %" PRIu64 "%s to %" PRIu64 "%s", end[0], units[unit[0]],
	         end[1], units[unit[1]]);
	return text;
}
