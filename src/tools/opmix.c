/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_TABLE(mnemonics, "instructions by mnemonic", STROBE_KEY("mnemonic", STROBE_MNEMONIC),
             STROBE_SUM("count", STROBE_NUMBER));
STROBE_TABLE(categories, "instructions by category", STROBE_KEY("category", STROBE_CATEGORY),
             STROBE_SUM("count", STROBE_NUMBER));
STROBE_STREAM(trace, "instructions in the order of their execution", NULL,
              STROBE_COLUMN("instruction", STROBE_ADDRESS),
              STROBE_COLUMN("mnemonic", STROBE_MNEMONIC));

static int tracing;

static void
on_insn(strobe_insn *i)
{
	uint64_t code = strobe_insn_code(i);
	strobe_count(strobe_at(i), strobe_cell_of(&mnemonics, 1, code), 1);
	strobe_count(strobe_at(i), strobe_cell_of(&categories, 1, code), 1);
	if (tracing)
		strobe_record(strobe_at(i), &trace, strobe_constant(strobe_insn_address(i)),
		              strobe_constant(code));
}

static void
begin(void)
{
	tracing = strobe_option_number("trace") != 0;
}

STROBE_TOOL(opmix, .help = "count instructions by mnemonic and category", .insn = on_insn,
            .begin = begin, .options = {{"trace", "0", "record the stream of instructions"}},
            .limits = {{"trace", 0, 1}});
