/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For storm: every kind of action, under conditions at every access of the program. Options: the
 * addresses of the cells, of the instruction that increments, and a limit. */
#include <strobe/tool.h>

static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(rows_of_inc, "values read", consume, STROBE_COLUMN("value", STROBE_NUMBER));
STROBE_TABLE(sums, "sums", STROBE_KEY("what", STROBE_TEXT), STROBE_SUM("count", STROBE_NUMBER),
             STROBE_SUM("sum", STROBE_NUMBER));
enum { COUNT = 1, SUM };

static strobe_cell
cell(const char *what, unsigned column)
{
	return strobe_cell_of(&sums, column, strobe_text(what));
}

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	uint64_t n = 0, sum = 0;
	(void)t;
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		n++;
		sum += strobe_value(rows, r, 0);
	}
	strobe_cell_add(cell("row", COUNT), n);
	strobe_cell_add(cell("row", SUM), sum);
}

static void
called(strobe_thread *t, const uint64_t *values)
{
	(void)t;
	strobe_cell_add(cell("call", COUNT), 1);
	strobe_cell_add(cell("call", SUM), values[0]);
}

static void
on_insn(strobe_insn *i)
{
	if (strobe_insn_address(i) == strobe_option_number("at"))
		strobe_count(strobe_at(i), cell("plain", COUNT), 1);
}

/* What the instruction writes is known behind it. */
static void
on_put(strobe_access *a, strobe_point here)
{
	static const struct {
		const char *name;
		enum strobe_relation relation;
	} relations[] = {{"equal", STROBE_EQUAL},       {"not equal", STROBE_NOT_EQUAL},
	                 {"below", STROBE_BELOW},       {"not below", STROBE_NOT_BELOW},
	                 {"above", STROBE_ABOVE},       {"not above", STROBE_NOT_ABOVE},
	                 {"shares", STROBE_SHARES_BITS}};
	strobe_operand value = strobe_access_value(a);
	strobe_operand limit = strobe_constant(strobe_option_number("limit"));
	strobe_count(here, cell("put", COUNT), 1);
	strobe_add(here, cell("put", SUM), value);
	strobe_add(here, cell("bytes", SUM), strobe_access_size(a));
	for (unsigned i = 0; i < sizeof relations / sizeof *relations; i++)
		strobe_count(strobe_when(strobe_at(a), value, relations[i].relation, limit),
		             cell(relations[i].name, COUNT), 1);
}

static void
on_access(strobe_access *a)
{
	strobe_operand address = strobe_access_address(a);
	uint64_t inc = strobe_option_number("inc"), put = strobe_option_number("put");
	strobe_point at_inc =
	        strobe_when(strobe_at(a), address, STROBE_EQUAL, strobe_constant(inc));
	strobe_operand value = strobe_access_value(a);
	if (strobe_access_reads(a) && strobe_access_writes(a)) {
		strobe_count(at_inc, cell("inc", COUNT), 1);
		strobe_add(at_inc, cell("inc", SUM), value);
		strobe_record(at_inc, &rows_of_inc, value);
		strobe_invoke(at_inc, called, value);
	} else if (strobe_access_writes(a) && strobe_access_insn(a) == put) {
		on_put(a, strobe_at(a));
	}
}

STROBE_TOOL(sums, .help = "sums of values under conditions", .access = on_access, .insn = on_insn,
            .options = {{"inc", "0", "cell that is incremented"},
                        {"put", "0", "instruction that writes"},
                        {"at", "0", "instruction that increments"},
                        {"limit", "1000", "for conditions"}});
