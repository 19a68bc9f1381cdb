/* SPDX-License-Identifier: MIT */
/* Which source lines divide, and how often? An integer division takes 10 to 40 times as long as an
 * addition. strobe run -t ./divisions.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(divisions, "integer divisions by line", STROBE_KEY("line", STROBE_LINE),
             STROBE_SUM("count", STROBE_NUMBER));

/* div and idiv: opcode f6 or f7 whose ModRM byte says /6 or /7, perhaps behind prefixes. */
static int
divides(strobe_insn *i)
{
	unsigned char code[15] = {0};
	unsigned n = strobe_insn_bytes(i), k = 0;
	if (strobe_read(code, strobe_insn_address(i), n))
		return 0;
	while (k < n && (code[k] == 0x66 || (code[k] & 0xf0) == 0x40))
		k++;
	return k + 1 < n && (code[k] & 0xfe) == 0xf6 && (code[k + 1] & 0x30) == 0x30;
}

static void
on_insn(strobe_insn *i)
{
	if (divides(i))
		strobe_count(strobe_at(i), strobe_cell_of(&divisions, 1, strobe_insn_address(i)),
		             1);
}

STROBE_TOOL(divisions, .help = "count integer divisions by line", .insn = on_insn);
