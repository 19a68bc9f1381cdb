/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_TABLE(reads, "reads by register", STROBE_KEY("register", STROBE_REGISTERS_READ),
             STROBE_SUM("count", STROBE_NUMBER));
STROBE_TABLE(writes, "writes by register", STROBE_KEY("register", STROBE_REGISTERS_WRITTEN),
             STROBE_SUM("count", STROBE_NUMBER));

static void
on_insn(strobe_insn *i)
{
	uint64_t code = strobe_insn_code(i);
	strobe_count(strobe_at(i), strobe_cell_of(&reads, 1, code), 1);
	strobe_count(strobe_at(i), strobe_cell_of(&writes, 1, code), 1);
}

STROBE_TOOL(regmix, .help = "count reads and writes of each register", .insn = on_insn);
