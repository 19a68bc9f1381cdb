/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_BUILD_TOOL_H
#define STROBE_CLI_BUILD_TOOL_H

#include "base/status.h"
#include "toolkit/toolfile.h"

struct st_tool_build {
	const char *source, *output;
	const char *const *include; /* -I: NULL-terminated */
};

/* cli/tool_compile.c: runs the user's compiler, whose messages go to standard error. 0, or -1 with
 * *e. */
st_status st_tool_compile(const struct st_tool_build *build, struct st_error *e);

/* cli/tool_code.c: refuses instructions that a tool must not have. 0, or -1 with *e. */
st_status st_tool_check_code(const struct st_tool_file *file, struct st_error *e);

/* cli/tool_cost.c: says which actions the tool asks for, and what each costs on this machine.
 * include: as it was compiled with. */
void st_tool_print_costs(const struct st_tool_file *file, const char *const *include, FILE *out);

#endif
