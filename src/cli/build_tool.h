/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_BUILD_TOOL_H
#define STROBE_CLI_BUILD_TOOL_H

#include "toolkit/toolfile.h"

/* cli/tool_cost.c: says which actions the tool asks for, and what each costs on this machine.
 * include: as it was compiled with. */
void st_tool_print_costs(const struct st_tool_file *file, const char *const *include, FILE *out);

#endif
