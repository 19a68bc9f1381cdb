/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tool by its name or its file, and what it declares. */
#ifndef STROBE_SESSION_TOOL_H
#define STROBE_SESSION_TOOL_H

#include <stdbool.h>

#include "base/error.h"
#include "toolkit/toolfile.h"
#include "tools/tools.h"

/* Does the name stand for a file? One with a slash does, and one that ends in .tool,
 * or in .c, which will be refused. */
bool st_tool_is_path(const char *name);
/* The tool of that name, or in that file; *file is that, NULL for a built-in tool. NULL and *e,
 * with the nearest name, when there is none. */
const strobe_tool *st_tool_find(const char *name, struct st_tool_file **file, struct st_error *e);

/* The number of options of the tool. */
size_t st_tool_options(const strobe_tool *tool);
/* The limits of the option's value; NULL: there are none. */
const strobe_limit *st_tool_limit(const strobe_tool *tool, const char *option);
/* "from 1 to 1G" */
enum { ST_TOOL_RANGE = 64 };
const char *st_tool_range(char text[ST_TOOL_RANGE], const strobe_limit *limit);
/* The declared results of a tool, by kind. */
enum { ST_MOST_RESULTS = 128 };
struct st_tool_results {
	struct st_tool_result list[ST_MOST_RESULTS];
	size_t n;
};
/* file: NULL for a built-in tool. */
void st_tool_list(const strobe_tool *tool, const struct st_tool_file *file,
                  struct st_tool_results *results);
#endif
