/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_COUNTER(instructions, "instructions executed");

static void
on_block(strobe_block *b)
{
	strobe_count_insns(b, &instructions);
}

STROBE_TOOL(inscount, .help = "count instructions", .block = on_block);
