/* SPDX-License-Identifier: MIT */
/* Which calls happen deepest in the stack? Bytes below the first call that the thread made.
 * strobe run -t ./depth.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(depths, "stack below the thread's first call", STROBE_KEY("caller", STROBE_FUNCTION),
             STROBE_MAX("bytes", STROBE_NUMBER));

/* For each thread: where its stack was at its first call, and the deepest that it has been. */
struct state {
	uint64_t top, deepest;
};

static void
at_call(strobe_thread *t, const uint64_t *value)
{
	struct state *s = strobe_state(t);
	uint64_t sp = value[0], caller = value[1];
	if (!s->top)
		s->top = s->deepest = sp;
	if (sp >= s->deepest)
		return; /* it has been here before: the row is there */
	s->deepest = sp;
	strobe_cell_max(strobe_cell_of(&depths, 1, caller), s->top - sp);
}

static void
on_call(strobe_call *c)
{
	strobe_invoke(strobe_at(c), at_call, strobe_register_value(STROBE_RSP),
	              strobe_constant(strobe_call_address(c)));
}

STROBE_TOOL(depth, .help = "deepest stack by caller", .call = on_call,
            .state = sizeof(struct state));
