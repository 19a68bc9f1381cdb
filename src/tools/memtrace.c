/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_STREAM(accesses, "memory accesses, by thread in the order of execution", NULL,
              STROBE_COLUMN("instruction", STROBE_ADDRESS), STROBE_COLUMN("kind", STROBE_TEXT),
              STROBE_COLUMN("address", STROBE_HEX), STROBE_COLUMN("bytes", STROBE_NUMBER),
              STROBE_COLUMN("value", STROBE_HEX));

static int values;

static void
on_access(strobe_access *a)
{
	int reads = strobe_access_reads(a), writes = strobe_access_writes(a);
	uint64_t kind = strobe_text(reads && writes ? "read-write" : writes ? "write" : "read");
	strobe_record(strobe_at(a), &accesses, strobe_constant(strobe_access_insn(a)),
	              strobe_constant(kind), strobe_access_address(a), strobe_access_size(a),
	              values ? strobe_access_value(a) : strobe_constant(0));
}

static void
begin(void)
{
	values = strobe_option_number("values") != 0;
}

STROBE_TOOL(memtrace, .help = "record every memory access: instruction, address, size, kind",
            .access = on_access, .begin = begin,
            .options = {{"values", "0", "record the value that was read or written, too"}},
            .limits = {{"values", 0, 1}});
