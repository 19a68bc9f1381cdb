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

STROBE_TOOL(hot, .help = "show the hottest functions and lines, by time and exact counts",
            .options = {{"wall", "0",
                         "also record where threads wait, with their call stacks, so that the "
                         "result has wall time"}},
            .limits = {{"wall", 0, 1}}, .block = on_block, .sample_hz = 250, .keep_blocks = 1);
