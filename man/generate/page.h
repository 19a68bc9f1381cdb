/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a manual page in roff. */
#ifndef STROBE_MAN_PAGE_H
#define STROBE_MAN_PAGE_H

#include <stdio.h>

#include "cli/commands.h"
#include "cli/tools.h"
#include "prose.h"

/* strobe(1): no table of its own but the lists of commands and tools. */
void page_overview(FILE *out, const struct prose *p);
void page_of_command(FILE *out, const struct prose *p, const struct st_command *c);
void page_of_tool(FILE *out, const struct prose *p, const strobe_tool *t);

#endif
