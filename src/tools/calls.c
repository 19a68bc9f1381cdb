/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_TABLE(pairs, "calls by caller and callee", STROBE_KEY("caller", STROBE_FUNCTION),
             STROBE_KEY("callee", STROBE_FUNCTION), STROBE_SUM("count", STROBE_NUMBER));

static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(indirect, "indirect calls", consume, STROBE_COLUMN("site", STROBE_ADDRESS),
              STROBE_COLUMN("target", STROBE_ADDRESS));

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	strobe_map *cells = strobe_state(t);
	for (const strobe_row *r = rows->first; r != rows->end; r = strobe_next_row(r)) {
		uint64_t site = strobe_value(rows, r, 0), target = r->value[0];
		uint64_t *cell = strobe_map_at(cells, (r->tag >> 4 << 44 ^ target) | 1);
		if (!cell)
			return;
		if (!*cell)
			*cell = strobe_cell_of(&pairs, 2, site, target).cell;
		strobe_cell_add((strobe_cell){*cell}, 1);
	}
}

static void
on_call(strobe_call *c)
{
	uint64_t site = strobe_call_address(c), target = strobe_call_to(c);
	if (target)
		strobe_count(strobe_at(c), strobe_cell_of(&pairs, 2, site, target), 1);
	else
		strobe_record(strobe_at(c), &indirect, strobe_constant(site),
		              strobe_call_target(c));
}

STROBE_TOOL(calls, .help = "calls by caller and callee", .call = on_call,
            .state = sizeof(strobe_map));
