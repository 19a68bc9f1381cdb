/* SPDX-License-Identifier: MIT */
/* Which functions does a run enter at all? Each block is instrumented for its first execution only,
 * so that the rest of the run goes at the engine's own speed. strobe run -t ./touched.tool --
 * PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(touched, "blocks executed at least once", STROBE_KEY("function", STROBE_FUNCTION),
             STROBE_SUM("blocks", STROBE_NUMBER), STROBE_SUM("bytes", STROBE_NUMBER));

static void
on_block(strobe_block *b)
{
	uint64_t at = strobe_block_address(b);
	strobe_count(strobe_at(b), strobe_cell_of(&touched, 1, at), 1);
	strobe_count(strobe_at(b), strobe_cell_of(&touched, 2, at), strobe_block_bytes(b));
}

STROBE_TOOL(touched, .help = "functions that ran", .block = on_block, .unique = 1);
