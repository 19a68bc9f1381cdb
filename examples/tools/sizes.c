/* SPDX-License-Identifier: MIT */
/* How large are a program's memory accesses? strobe run -t ./sizes.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(sizes, "accesses by size", STROBE_KEY("bytes", STROBE_NUMBER),
             STROBE_SUM("reads", STROBE_NUMBER), STROBE_SUM("writes", STROBE_NUMBER));

/* An access whose size varies (0 here: string instructions with a rep prefix) has a row too. */
static void
on_access(strobe_access *a)
{
	uint64_t bytes = strobe_access_bytes(a);
	if (strobe_access_reads(a))
		strobe_count(strobe_at(a), strobe_cell_of(&sizes, 1, bytes), 1);
	if (strobe_access_writes(a))
		strobe_count(strobe_at(a), strobe_cell_of(&sizes, 2, bytes), 1);
}

STROBE_TOOL(sizes, .help = "histogram of access sizes", .access = on_access);
