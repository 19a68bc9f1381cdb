/* SPDX-License-Identifier: MIT */
/*
 * What test_held.py runs on held.c: rows, sums under conditions and without, values that are there
 * after the instruction only, and calls, all at the same accesses. What it says of code in
 * [from, to) is compared with what the program says.
 */
#include <strobe/tool.h>

enum { MOST_BYTES = 512 };

/* Of the instruction at an offset: the one whose row mostly comes before its own, and how often. */
struct usual {
	uint64_t before, rows, sum;
};
struct state {
	uint64_t last;
	struct usual usual[MOST_BYTES];
	uint64_t values[MOST_BYTES], addresses[MOST_BYTES];
};

static void consume(strobe_thread *t, const strobe_rows *rows);
static void consume_values(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(accesses, "accesses", consume, STROBE_COLUMN("by", STROBE_HEX),
              STROBE_COLUMN("address", STROBE_HEX));
STROBE_STREAM(values, "values after the access", consume_values, STROBE_COLUMN("by", STROBE_HEX),
              STROBE_COLUMN("address", STROBE_HEX), STROBE_COLUMN("value", STROBE_HEX),
              STROBE_COLUMN("stack", STROBE_HEX));
STROBE_TABLE(follows, "rows by what was before", STROBE_KEY("before", STROBE_NUMBER),
             STROBE_KEY("by", STROBE_NUMBER), STROBE_SUM("rows", STROBE_NUMBER),
             STROBE_SUM("sum", STROBE_NUMBER));
STROBE_TABLE(sums, "sums of addresses", STROBE_KEY("by", STROBE_NUMBER),
             STROBE_SUM("sum", STROBE_NUMBER));
STROBE_TABLE(written, "values written", STROBE_KEY("by", STROBE_NUMBER),
             STROBE_SUM("rows", STROBE_NUMBER), STROBE_SUM("addresses", STROBE_NUMBER));
STROBE_TABLE(calls, "calls", STROBE_KEY("by", STROBE_NUMBER), STROBE_SUM("calls", STROBE_NUMBER));
STROBE_COUNTER(total, "sum of addresses");
STROBE_COUNTER(high, "sum of addresses from `least` on");

static uint64_t from, to;

static void
begin(void)
{
	from = strobe_option_number("from");
	to = strobe_option_number("to");
}

static int
is_inside(uint64_t by)
{
	return by >= from && by < to && by - from < MOST_BYTES;
}

static void
note(uint64_t before, uint64_t by, uint64_t rows, uint64_t sum)
{
	strobe_cell_add(strobe_cell_of(&follows, 2, before, by), rows);
	strobe_cell_add(strobe_cell_of(&follows, 3, before, by), sum);
}

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = strobe_state(t);
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		uint64_t by = strobe_value(rows, r, 0), address = strobe_value(rows, r, 1);
		if (!is_inside(by))
			continue;
		struct usual *u = &s->usual[by - from];
		if (!u->before)
			u->before = s->last;
		if (s->last && u->before == s->last) {
			u->rows++;
			u->sum += address;
		} else {
			note(s->last, by, 1, address);
		}
		s->last = by;
	}
	for (uint64_t i = 0; i < MOST_BYTES; i++) {
		struct usual *u = &s->usual[i];
		if (u->rows)
			note(u->before, from + i, u->rows, u->sum);
		u->rows = u->sum = 0;
	}
}

static void
consume_values(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = strobe_state(t);
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		uint64_t by = strobe_value(rows, r, 0);
		if (!is_inside(by))
			continue;
		s->values[by - from]++;
		s->addresses[by - from] += strobe_value(rows, r, 1);
	}
	for (uint64_t i = 0; i < MOST_BYTES; i++) {
		if (!s->values[i])
			continue;
		strobe_cell_add(strobe_cell_of(&written, 1, from + i), s->values[i]);
		strobe_cell_add(strobe_cell_of(&written, 2, from + i), s->addresses[i]);
		s->values[i] = s->addresses[i] = 0;
	}
}

static void
on_call(strobe_thread *t, const uint64_t *v)
{
	(void)t;
	strobe_cell_add(strobe_cell_of(&calls, 1, v[0]), 1);
}

static void
on_access(strobe_access *a)
{
	uint64_t by = strobe_access_insn(a);
	strobe_operand address = strobe_access_address(a);
	strobe_point at = strobe_at(a), far;
	strobe_record(at, &accesses, strobe_constant(by), address);
	if (strobe_access_writes(a))
		strobe_record(at, &values, strobe_constant(by), address, strobe_access_value(a),
		              strobe_register_value(STROBE_RSP));
	if (!is_inside(by))
		return;
	strobe_add(at, &total, address);
	far = strobe_when(at, address, STROBE_NOT_BELOW,
	                  strobe_constant(strobe_option_number("least")));
	strobe_add(far, &high, address);
	strobe_add(at, strobe_cell_of(&sums, 1, by), address);
	if (by == strobe_option_number("call"))
		strobe_invoke(at, on_call, strobe_constant(by));
}

STROBE_TOOL(held_tool, .help = "accesses of a range of code, in many ways", .begin = begin,
            .access = on_access, .state = sizeof(struct state),
            .options = {{"from", "0", "first address"},
                        {"to", "0", "behind the last"},
                        {"least", "0", "of addresses that are high"},
                        {"call", "0", "instruction at which a function is called"}});
