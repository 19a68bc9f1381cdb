/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

enum { SOURCE, TARGET, KIND, TAKEN, NOT_TAKEN };

STROBE_TABLE(branches, "jumps, calls and returns by source and target",
             STROBE_KEY("source", STROBE_ADDRESS), STROBE_KEY("target", STROBE_ADDRESS),
             STROBE_KEY("kind", STROBE_TEXT), STROBE_SUM("taken", STROBE_NUMBER),
             STROBE_SUM("not_taken", STROBE_NUMBER));

static void
on_branch(strobe_branch *b)
{
	uint64_t source = strobe_branch_address(b), target = strobe_branch_to(b);
	uint64_t kind = strobe_text(strobe_branch_kind_name(strobe_branch_kind(b)));
	strobe_count_target(b, &branches, TAKEN, TARGET, source, target, kind);
	if (strobe_branch_kind(b) == STROBE_CONDITIONAL)
		strobe_count(strobe_when_not_taken(b),
		             strobe_cell_of(&branches, NOT_TAKEN, source, target, kind), 1);
}

STROBE_TOOL(branches, .help = "every jump, call and return: source, target, taken, not taken",
            .branch = on_branch);
