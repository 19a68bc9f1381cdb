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

/* A branch and where it went, as often as this thread has seen it. */
struct pair {
	uint64_t target, count, cell;
};
struct state {
	struct pair *pairs; /* from 1 */
	uint32_t *last;     /* by site: its last pair; most go where they went before */
	uint64_t n;
	strobe_map known; /* by site and target: the pair */
	struct state *next;
};
static struct state *unused; /* of threads that have ended */
static uint32_t lock;
enum { MOST_PAIRS = 4 << 20, MOST_SITES = 4 << 20 };

/* Different for each pair; a multiple of an odd number spreads the sites over all bits. */
static uint64_t
key_of(uint64_t site, uint64_t target)
{
	return (site + 1) * 0x9e3779b97f4a7c15u ^ target;
}

static uint32_t
find(struct state *s, const strobe_rows *rows, uint64_t site, uint64_t target)
{
	uint64_t *at = strobe_map_at(&s->known, key_of(site, target));
	if (!at || (!*at && s->n + 1 >= MOST_PAIRS))
		return 0;
	if (!*at) {
		const uint64_t *constant = rows->sites[site].constant;
		*at = ++s->n;
		s->pairs[*at] = (struct pair){
		        .target = target,
		        .cell = strobe_cell_of(&branches, TAKEN, constant[0], target, constant[1])
		                        .cell};
	}
	return (uint32_t)*at;
}

static struct state *
new_state(void)
{
	struct state *s = strobe_allocate(sizeof *s);
	if (!s)
		return NULL;
	s->pairs = strobe_allocate(MOST_PAIRS * sizeof *s->pairs);
	s->last = strobe_allocate(MOST_SITES * sizeof *s->last);
	return s->pairs && s->last ? s : NULL;
}

static struct state *
state_of(strobe_thread *t)
{
	struct state **mine = strobe_state(t);
	if (!mine || *mine)
		return mine ? *mine : NULL;
	strobe_lock(&lock);
	*mine = unused;
	if (unused)
		unused = unused->next;
	strobe_unlock(&lock);
	if (!*mine)
		*mine = new_state();
	return *mine;
}

static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	struct state *s = state_of(t);
	for (const strobe_row *r = rows->first; s && r != rows->end; r = strobe_next_row(r)) {
		uint64_t site = r->tag >> 4, target = r->value[0];
		uint32_t *last = &s->last[site];
		if (s->pairs[*last].target != target)
			*last = find(s, rows, site, target);
		s->pairs[*last].count++;
	}
}

static void
on_thread_end(strobe_thread *t)
{
	struct state **mine = strobe_state(t), *s = mine ? *mine : NULL;
	if (!s)
		return;
	for (uint64_t i = 1; i <= s->n; i++) {
		strobe_cell_add((strobe_cell){s->pairs[i].cell}, s->pairs[i].count);
		s->pairs[i].count = 0;
	}
	strobe_lock(&lock);
	s->next = unused;
	unused = s;
	*mine = NULL;
	strobe_unlock(&lock);
}

/* A forked child counts anew, in tables of its own. */
static void
begin(void)
{
	unused = NULL;
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
            .branch = on_branch, .thread_end = on_thread_end, .begin = begin,
            .state = sizeof(struct state *));
