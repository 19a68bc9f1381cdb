/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_COUNTER(blocks, "blocks executed");
STROBE_COUNTER(instructions, "instructions executed");
STROBE_COUNTER(taken, "conditional branches taken");
STROBE_TABLE(indirect, "indirect jumps and calls, and returns, by source and target",
             STROBE_KEY("source", STROBE_ADDRESS), STROBE_KEY("target", STROBE_ADDRESS),
             STROBE_SUM("count", STROBE_NUMBER));
enum { TARGET = 1, COUNT };

static void
on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &blocks, 1);
	strobe_count_insns(b, &instructions);
}

/* All other edges follow from the counts of blocks: fuzz/answer_edges.c. */
static void
on_branch(strobe_branch *b)
{
	if (strobe_branch_kind(b) == STROBE_CONDITIONAL)
		strobe_count(strobe_when_taken(b), &taken, 1);
	else if (!strobe_branch_to(b))
		strobe_count_target(b, &indirect, COUNT, TARGET, strobe_branch_address(b), 0);
}

STROBE_TOOL(edges, .help = "count basic blocks and the edges between them", .block = on_block,
            .branch = on_branch);
