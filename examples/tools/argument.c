/* SPDX-License-Identifier: MIT */
/*
 * With which arguments is a function called? A histogram by powers of two, of the first argument
 * unless another is asked for: strobe run -t ./argument.tool:function=malloc,argument=0 -- PROGRAM
 */
#include <strobe/tool.h>

STROBE_TABLE(arguments, "calls by argument", STROBE_KEY("at least", STROBE_NUMBER),
             STROBE_SUM("calls", STROBE_NUMBER), STROBE_SUM("sum", STROBE_NUMBER));

/* Runs at each call: the greatest power of two that is not above the value is the row's key. */
static void
note(strobe_thread *t, const uint64_t *value)
{
	uint64_t row = *value ? 1ull << (63 - __builtin_clzll(*value)) : 0;
	(void)t;
	strobe_cell_add(strobe_cell_of(&arguments, 1, row), 1);
	strobe_cell_add(strobe_cell_of(&arguments, 2, row), *value);
}

static void
on_function(strobe_function *f)
{
	unsigned n = (unsigned)strobe_option_number("argument");
	if (strobe_function_is(f, strobe_option_text("function")))
		strobe_invoke(strobe_at(f), note, strobe_function_argument(f, n));
}

STROBE_TOOL(argument, .help = "histogram of a function's argument",
            .options = {{"function", "malloc", "its name"}, {"argument", "0", "which: 0 to 5"}},
            .limits = {{"argument", 0, 5}}, .function = on_function);
