/* SPDX-License-Identifier: MIT */
/*
 * What the engine takes where a tool does nothing: a function of the tool that is empty is called
 * at each entry and return of functions, or at each basic block. This is the empty instrumentation
 * of IHPP's thesis (5.8, figure 5.3).
 */
#include <strobe/tool.h>

static void
nothing(strobe_thread *t, const uint64_t *values)
{
	(void)t;
	(void)values;
}

static void
on_function(strobe_function *f)
{
	if (strobe_option_number("blocks"))
		return;
	strobe_invoke(strobe_at(f), nothing, strobe_constant(0));
	strobe_invoke(strobe_at_return(f), nothing, strobe_constant(0));
}

static void
on_block(strobe_block *b)
{
	if (strobe_option_number("blocks"))
		strobe_invoke(strobe_at(b), nothing, strobe_constant(0));
}

STROBE_TOOL(empty, .help = "calls that do nothing",
            .options = {{"blocks", "0", "1: at blocks in place of functions"}},
            .limits = {{"blocks", 0, 1}}, .function = on_function, .block = on_block);
