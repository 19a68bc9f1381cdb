/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which nodes are contexts that a log has (wire/results/known.h). A node finds its context when it
 * is made, by that of its parent; the function of its label has been found when the label was made.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/contexts/forest.h"

enum { MOST_PROBES = 4096 };
/* Special values in place of a context. */
static const uint32_t COMPLETE = 1u << 31, /* beside it */
        UNKNOWN = UINT32_MAX;              /* the log does not have it, or it is not asked for */

static uint32_t *functions; /* by label; 0: the log has no such function */
static uint32_t *contexts;  /* by node; 0: the thread */

static const struct st_known_results *
known(void)
{
	return &rt.results->known;
}

static bool
is_known_wanted(void)
{
	return rt.budget.suppresses &&
	       (functions || (functions = rt_map_table(ST_MAX_LABELS * sizeof *functions))) &&
	       (contexts || (contexts = rt_map_table(ST_MAX_NODES * sizeof *contexts)));
}

void
known_note_label(uint32_t label, uint64_t address)
{
	const struct st_entry *e = is_known_wanted() ? entry_at(address) : NULL;
	if (e && label < ST_MAX_LABELS)
		functions[label] = e->known;
}

static uint32_t
find_known(uint32_t parent, uint32_t function)
{
	const struct st_known_context *table =
	        (const struct st_known_context *)((const char *)rt.results +
	                                          rt.results->layout.off_known);
	uint32_t slots = known()->slots;
	if (!function || slots > ST_MAX_KNOWN || (slots & (slots - 1)))
		return UNKNOWN;
	uint32_t i = slots ? st_known_hash(parent, function, slots) : 0;
	for (uint32_t n = 0; n < slots && n < MOST_PROBES && table[i].function; n++) {
		if (table[i].parent == parent && table[i].function == function)
			return table[i].context | (table[i].complete ? COMPLETE : 0);
		i = (i + 1) & (slots - 1);
	}
	return UNKNOWN;
}

void
known_note_node(uint32_t node, uint32_t parent, uint32_t label)
{
	if (!is_known_wanted() || node >= ST_MAX_NODES)
		return;
	uint32_t above = contexts[parent];
	contexts[node] = above & COMPLETE ? UNKNOWN : find_known(above, functions[label]);
}

/* A test wants it of all. */
static bool
is_stressed(void)
{
	return rt.stress & ST_STRESS_suppress;
}

int
strobe_is_complete(uint32_t node)
{
	return rt.budget.suppresses && (is_stressed() || (contexts && contexts[node] != UNKNOWN &&
	                                                  contexts[node] & COMPLETE));
}

int
strobe_is_followed(uint32_t node)
{
	enum { STRESSED = 3 };
	uint64_t n = strobe_nodes()[node].count + known()->phase;
	return is_stressed() ? n % STRESSED == 0 : n % ST_KNOWN_FOLLOWED == 0;
}

void
known_give_up(uint32_t node)
{
	if (contexts && node < ST_MAX_NODES && !is_stressed())
		contexts[node] = UNKNOWN;
}

void
known_forget(void)
{
	if (functions)
		SYS(__NR_madvise, functions, ST_MAX_LABELS * sizeof *functions, MADV_DONTNEED);
	if (contexts)
		SYS(__NR_madvise, contexts, ST_MAX_NODES * sizeof *contexts, MADV_DONTNEED);
}
