/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_COUNTER(blocks, "blocks executed");

static void
on_block(strobe_block *b)
{
	strobe_count(strobe_at(b), &blocks, 1);
}

static void begin(void);

STROBE_TOOL(coverage, .help = "count executions of functions, blocks and lines", .block = on_block,
            .keep_blocks = 1, .begin = begin,
            .options = {{"unique", "0", "record only whether they were executed, at less cost"}},
            .limits = {{"unique", 0, 1}});

static void
begin(void)
{
	strobe_tool_coverage.unique = strobe_option_number("unique") != 0;
}
