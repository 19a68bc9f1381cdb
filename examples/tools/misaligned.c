/* SPDX-License-Identifier: MIT */
/* Which lines access memory at addresses that are no multiple of the size? The condition is tested
 * inline. strobe run -t ./misaligned.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_COUNTER(misaligned, "misaligned accesses");
STROBE_TABLE(places, "misaligned accesses by line", STROBE_KEY("line", STROBE_LINE),
             STROBE_SUM("count", STROBE_NUMBER));

static void
on_access(strobe_access *a)
{
	uint32_t bytes = strobe_access_bytes(a);
	if (bytes < 2 || (bytes & (bytes - 1)))
		return;
	strobe_point odd = strobe_when(strobe_at(a), strobe_access_address(a), STROBE_SHARES_BITS,
	                               strobe_constant(bytes - 1));
	strobe_count(odd, &misaligned, 1);
	strobe_count(odd, strobe_cell_of(&places, 1, strobe_access_insn(a)), 1);
}

STROBE_TOOL(misaligned, .help = "misaligned accesses by line", .access = on_access);
