/* SPDX-License-Identifier: MIT */
/* How many basic blocks does a program execute? strobe run -t ./blocks.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_COUNTER(blocks, "basic blocks executed");

static void
on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &blocks, 1);
}

STROBE_TOOL(blocks, .help = "count basic blocks", .block = on_block);
