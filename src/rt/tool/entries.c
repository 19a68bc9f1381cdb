/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of the program that tools, or the region of interest, are about: the controller knows
 * them. */
#include <asm/unistd.h>

#include "rt/os/process.h"
#include "rt/tool/tool.h"
#include "wire/channel.h"

static strobe_map starts; /* by address: index + 1 */
static uint32_t taken;    /* entries that are in it */

static const struct st_entry *
entries(void)
{
	return (const struct st_entry *)((const char *)rt.results + rt.results->off_entries);
}

void
entries_forget(void)
{
	if (starts.slots)
		rt_unmap_memory(starts.slots, 2 * starts.size * sizeof(uint64_t));
	starts = (strobe_map){0};
	taken = 0;
}

/* Where code was replaced, the functions of the old have gone. */
static void
drop_replaced(const struct st_map *m)
{
	for (uint32_t i = 0; i < taken; i++)
		if (entries()[i].start >= m->start && entries()[i].start < m->end)
			strobe_map_remove(&starts, entries()[i].start);
}

static void
take_new(uint32_t first_map)
{
	const struct st_map *maps = (const void *)((const char *)rt.results + rt.results->off_maps);
	for (uint32_t m = first_map; taken && m < rt.results->n_maps; m++)
		drop_replaced(&maps[m]);
	uint32_t n = rt.results->n_entries;
	for (; taken < n && taken < ST_MAX_ENTRIES; taken++) {
		uint64_t *at = strobe_map_at(&starts, entries()[taken].start);
		if (at)
			*at = taken + 1;
	}
}

void
entries_ask(void)
{
	struct st_results_header *r = rt.results;
	uint32_t n = r->n_maps, done = __atomic_load_n(&r->images_done, __ATOMIC_SEQ_CST);
	if (!r->wants_entries || !rt.boot->channel || done >= n)
		return;
	uint32_t first = done;
	struct st_message m = {.kind = ST_MESSAGE_IMAGE, .pid = rt.pid, .results_pid = rt.pid};
	process_tell(&m);
	/* Not for ever: the controller may die at any time. */
	int64_t second[2] = {1, 0};
	for (int tries = 0; done < n && tries < 10; tries++) {
		SYS(__NR_futex, &r->images_done, 0 /* FUTEX_WAIT */, done, second);
		done = __atomic_load_n(&r->images_done, __ATOMIC_SEQ_CST);
	}
	take_new(first);
}

const struct st_entry *
entry_at(uint64_t pc)
{
	const uint64_t *at = starts.used ? strobe_map_find(&starts, pc) : NULL;
	return at && *at ? &entries()[*at - 1] : NULL;
}

const char *
entry_name(const struct st_entry *entry)
{
	return (const char *)rt.results + rt.results->off_entry_names + entry->name;
}

bool
entries_choose(uint64_t pc)
{
	if (!(rt.results->region_by & ST_REGION_LIMITED))
		return true;
	for (uint32_t i = 0; i < taken; i++)
		if ((entries()[i].what & ST_ENTRY_CHOSEN) && pc >= entries()[i].start &&
		    pc < entries()[i].end)
			return true;
	return false;
}
