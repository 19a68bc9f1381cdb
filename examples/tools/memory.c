/* SPDX-License-Identifier: MIT */
/* Every access to memory, in the order of each thread: which instruction, where, how many bytes,
 * read or written, and the value. strobe run -t ./memory.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_STREAM(accesses, "memory accesses", NULL, STROBE_COLUMN("instruction", STROBE_ADDRESS),
              STROBE_COLUMN("address", STROBE_HEX), STROBE_COLUMN("bytes", STROBE_NUMBER),
              STROBE_COLUMN("kind", STROBE_TEXT), STROBE_COLUMN("value", STROBE_HEX));

static void
on_access(strobe_access *a)
{
	const char *kind = !strobe_access_writes(a) ? "read"
	                   : strobe_access_reads(a) ? "update"
	                                            : "write";
	strobe_record(strobe_at(a), &accesses, strobe_constant(strobe_access_insn(a)),
	              strobe_access_address(a), strobe_access_size(a),
	              strobe_constant(strobe_text(kind)), strobe_access_value(a));
}

STROBE_TOOL(memory, .help = "trace memory accesses", .access = on_access);
