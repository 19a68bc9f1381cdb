/* SPDX-License-Identifier: MIT */
/* Which conditional branches go both ways? Those with large numbers on both sides are what branch
 * prediction has to work for. strobe run -t ./bias.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(bias, "conditional branches", STROBE_KEY("branch", STROBE_ADDRESS),
             STROBE_SUM("taken", STROBE_NUMBER), STROBE_SUM("not_taken", STROBE_NUMBER));

static void
on_branch(strobe_branch *b)
{
	uint64_t at = strobe_branch_address(b);
	if (strobe_branch_kind(b) != STROBE_CONDITIONAL)
		return;
	strobe_count(strobe_when_taken(b), strobe_cell_of(&bias, 1, at), 1);
	strobe_count(strobe_when_not_taken(b), strobe_cell_of(&bias, 2, at), 1);
}

STROBE_TOOL(bias, .help = "conditional branches, taken and not", .branch = on_branch);
