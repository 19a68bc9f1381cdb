/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_TOOLS_H
#define STROBE_CLI_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "session/tool.h"

/* One line: which events it listens to. */
void st_tool_print_events(const strobe_tool *tool, FILE *out);

void st_tool_print_results(const struct st_tool_results *results);
/* Adds "counters", "tables" and "streams" to the object. Not 0: no memory. */
int st_tool_json_results(json_t *out, const struct st_tool_results *results);
/* Names and help may be any bytes, JSON is Unicode: null then. */
json_t *st_tool_text(const char *bytes);

#endif
