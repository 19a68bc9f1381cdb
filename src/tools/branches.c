/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

enum { SOURCE, TARGET, KIND, TAKEN, NOT_TAKEN };

STROBE_TABLE(branches, "jumps, calls and returns by source and target",
             STROBE_KEY("source", STROBE_ADDRESS), STROBE_KEY("target", STROBE_ADDRESS),
             STROBE_KEY("kind", STROBE_TEXT), STROBE_SUM("taken", STROBE_NUMBER),
             STROBE_SUM("not_taken", STROBE_NUMBER));

/* Where indirect branches went. */
static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(indirect, "indirect branches", consume, STROBE_COLUMN("source", STROBE_ADDRESS),
              STROBE_COLUMN("kind", STROBE_TEXT), STROBE_COLUMN("target", STROBE_ADDRESS));

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	strobe_map *cells = strobe_state(t);
	for (const strobe_row *r = rows->first; r != rows->end; r = strobe_next_row(r)) {
		const strobe_site *site = &rows->sites[r->tag >> 4];
		uint64_t target = r->value[0];
		uint64_t *cell = strobe_map_at(cells, (r->tag >> 4 << 44 ^ target) | 1);
		if (!cell)
			return;
		if (!*cell)
			*cell = strobe_cell_of(&branches, TAKEN, site->constant[0], target,
			                       site->constant[1])
			                .cell;
		strobe_cell_add((strobe_cell){*cell}, 1);
	}
}

static void
on_branch(strobe_branch *b)
{
	uint64_t source = strobe_branch_address(b), target = strobe_branch_to(b);
	uint64_t kind = strobe_text(strobe_branch_kind_name(strobe_branch_kind(b)));
	if (!target) {
		strobe_record(strobe_at(b), &indirect, strobe_constant(source),
		              strobe_constant(kind), strobe_branch_target(b));
		return;
	}
	strobe_count(strobe_when_taken(b), strobe_cell_of(&branches, TAKEN, source, target, kind),
	             1);
	strobe_count(strobe_when_not_taken(b),
	             strobe_cell_of(&branches, NOT_TAKEN, source, target, kind), 1);
}

STROBE_TOOL(branches, .help = "every jump, call and return: source, target, taken, not taken",
            .branch = on_branch, .state = sizeof(strobe_map));
