/* SPDX-License-Identifier: MIT */
/*
 * How soon is what was written read again? For each 8-byte word that is read: how many accesses ago
 * the same thread has written it, by powers of two. The rows are consumed in the program, a buffer
 * at a time. strobe run -t ./reuse.tool -- PROGRAM
 */
#include <strobe/tool.h>

STROBE_TABLE(distances, "reads by accesses since the write", STROBE_KEY("at least", STROBE_NUMBER),
             STROBE_SUM("reads", STROBE_NUMBER));

struct state {
	strobe_map written; /* word: the number of the access that wrote it */
	uint64_t accesses;
};

static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(accesses, "memory accesses", consume, STROBE_COLUMN("address", STROBE_HEX),
              STROBE_COLUMN("written", STROBE_NUMBER));

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = strobe_state(t);
	uint64_t reads[64] = {0};
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		uint64_t word = strobe_value(rows, r, 0) / 8 + 1, now = ++s->accesses;
		uint64_t *last = strobe_value(rows, r, 1) ? strobe_map_at(&s->written, word)
		                                          : strobe_map_find(&s->written, word);
		if (!last)
			continue;
		if (strobe_value(rows, r, 1))
			*last = now;
		else
			reads[63 - __builtin_clzll(now - *last)]++;
	}
	for (unsigned i = 0; i < 64; i++)
		if (reads[i])
			strobe_cell_add(strobe_cell_of(&distances, 1, 1ull << i), reads[i]);
}

static void
on_access(strobe_access *a)
{
	strobe_record(strobe_at(a), &accesses, strobe_access_address(a),
	              strobe_constant((uint64_t)strobe_access_writes(a)));
}

STROBE_TOOL(reuse, .help = "distance from write to read", .access = on_access,
            .state = sizeof(struct state));
