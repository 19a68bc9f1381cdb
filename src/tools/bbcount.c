/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_COUNTER(blocks, "blocks executed");
STROBE_COUNTER(instructions, "instructions executed");

static void
on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &blocks, 1);
	strobe_count_insns(b, &instructions);
}

STROBE_TOOL(bbcount, .help = "count basic blocks and instructions", .block = on_block);
