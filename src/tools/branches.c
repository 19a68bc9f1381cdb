/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

enum { SOURCE, TARGET, KIND, TAKEN, NOT_TAKEN };

STROBE_TABLE(branches, "jumps, calls and returns by source and target",
             STROBE_KEY("source", STROBE_ADDRESS), STROBE_KEY("target", STROBE_ADDRESS),
             STROBE_KEY("kind", STROBE_TEXT), STROBE_SUM("taken", STROBE_NUMBER),
             STROBE_SUM("not_taken", STROBE_NUMBER));

static void
on_branch(strobe_branch *b)
{
	uint64_t source = strobe_branch_address(b), target = strobe_branch_to(b);
	uint64_t kind = strobe_text(strobe_branch_kind_name(strobe_branch_kind(b)));
	strobe_count_target(b, &branches, TAKEN, TARGET, source, target, kind);
	if (strobe_branch_kind(b) == STROBE_CONDITIONAL)
		strobe_count(strobe_when_not_taken(b),
		             strobe_cell_of(&branches, NOT_TAKEN, source, target, kind), 1);
}

/* ---- the path ---- */

/* Which way each branch went is said by the block that follows. With the stack and frame pointer it
 * can be told which activation of a function a block belongs to. */
STROBE_STREAM(path, "basic blocks in the order of their execution, and what comes between them",
              NULL, STROBE_COLUMN("event", STROBE_TEXT), STROBE_COLUMN("block", STROBE_ADDRESS),
              STROBE_COLUMN("stack", STROBE_HEX), STROBE_COLUMN("frame", STROBE_HEX));

static int tracing;

static void
on_block(strobe_block *b)
{
	if (tracing)
		strobe_record(strobe_at(b), &path, strobe_constant(strobe_text("block")),
		              strobe_constant(strobe_block_address(b)),
		              strobe_register_value(STROBE_RSP), strobe_register_value(STROBE_RBP));
}

static void
write_event(strobe_thread *t, const char *event)
{
	const uint64_t row[STROBE_MOST_COLUMNS] = {strobe_text(event)};
	if (tracing)
		strobe_write(t, &path, row);
}

static void
on_gap(strobe_thread *t, uint64_t from)
{
	(void)from;
	write_event(t, "gap");
}

static void
on_signal(strobe_thread *t, int number)
{
	(void)number;
	write_event(t, "signal");
}

static void
begin(void)
{
	tracing = strobe_option_number("trace") != 0;
}

STROBE_TOOL(branches, .help = "count jumps, calls and returns by source and target",
            .branch = on_branch, .block = on_block, .gap = on_gap, .signal = on_signal,
            .begin = begin,
            .options = {{"trace", "0",
                         "record each block that is executed, for strobe reconstruct"}},
            .limits = {{"trace", 0, 1}});
