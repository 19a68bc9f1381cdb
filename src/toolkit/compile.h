/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a C file to a tool: the user's compiler, and what the code must not have. */
#ifndef STROBE_TOOLKIT_COMPILE_H
#define STROBE_TOOLKIT_COMPILE_H

#include "base/status.h"
#include "toolkit/toolfile.h"

struct st_tool_build {
	const char *source, *output;
	const char *const *include; /* -I: NULL-terminated */
};

/* Runs the user's compiler, whose messages go to standard error. 0, or -1 with *e. */
st_status st_tool_compile(const struct st_tool_build *build, struct st_error *e);

/* Refuses instructions that a tool must not have. 0, or -1 with *e. */
st_status st_tool_check_code(const struct st_tool_file *file, struct st_error *e);

#endif
