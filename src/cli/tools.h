/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_TOOLS_H
#define STROBE_CLI_TOOLS_H

#include "base/error.h"
#include "tools/tools.h"

/* The built-in tool of that name. NULL and *e, with the nearest name, when there is none. */
const strobe_tool *st_tool_find(const char *name, struct st_error *e);

#endif
