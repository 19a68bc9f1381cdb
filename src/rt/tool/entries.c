/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of the program that tools, or the region of interest, are about: the controller knows
 * them. */
#include "rt/controller.h"
#include "rt/tool/events.h"
#include "rt/tool/tool.h"
#include "tools/cells.h"
#include "wire/control.h"

static strobe_map starts; /* by address: index + 1 */
/* Code that is chosen, by address; it does not overlap. */
static struct range {
	uint64_t start, end, whole; /* whole: where the function begins that it is of */
} * chosen;
static uint32_t n_chosen;
static struct range *functions; /* of tools, all of them; the first n_ordered in order */
static uint32_t n_functions, n_ordered;
static uint32_t taken; /* entries that are in it */

static struct st_entry *
entries(void)
{
	return (struct st_entry *)((char *)rt.results + rt.results->layout.off_entries);
}

void
entries_forget(void)
{
	if (starts.slots)
		rt_unmap_memory(starts.slots, 2 * starts.size * sizeof(uint64_t));
	starts = (strobe_map){0};
	taken = n_chosen = n_functions = n_ordered = 0;
}

/* Removes the functions of code that the new mapping replaces. */
static void
drop_replaced(const struct st_map *m)
{
	for (uint32_t i = 0; i < taken; i++)
		if (entries()[i].start >= m->start && entries()[i].start < m->end)
			strobe_map_remove(&starts, entries()[i].start);
}

static void
choose_entry(const struct st_entry *e)
{
	if (!chosen)
		chosen = rt_map_table(ST_MAX_ENTRIES * sizeof *chosen);
	if (!chosen)
		return;
	uint32_t i = n_chosen++;
	for (; i > 0 && chosen[i - 1].start > e->start; i--)
		chosen[i] = chosen[i - 1];
	chosen[i] = (struct range){e->start, e->end, e->whole};
}

static void
add_entry_function(const struct st_entry *e)
{
	if (!functions)
		functions = rt_map_table(ST_MAX_ENTRIES * sizeof *functions);
	if (functions)
		functions[n_functions++] = (struct range){e->start, e->end, e->whole};
}

static bool
same_text(const char *a, const char *b)
{
	size_t n = strlen(a);
	return strlen(b) == n && memcmp(a, b, n) == 0;
}

bool
entry_is(const struct st_entry *e, const char *name)
{
	while (!same_text(entry_name(e), name)) {
		if (!e->next)
			return false;
		e = &entries()[e->next - 1];
	}
	return true;
}

/* The same function as that of first, for another purpose or by another name. */
static void
add_entry_name(struct st_entry *first, uint32_t index)
{
	struct st_entry *e = &entries()[index];
	/* Chosen code has the name of its image, which may begin with a function. */
	if ((e->what & ST_ENTRY_TOOL) && !(first->what & ST_ENTRY_TOOL))
		first->name = e->name;
	first->what |= e->what;
	first->data = first->data ? first->data : e->data;
	if (!(e->what & ST_ENTRY_TOOL) || entry_is(first, entry_name(e)))
		return;
	e->next = first->next;
	first->next = index + 1;
}

static void
take_new(uint32_t first_map)
{
	const struct st_map *maps =
	        (const void *)((const char *)rt.results + rt.results->layout.off_maps);
	for (uint32_t m = first_map; taken && m < rt.results->maps.n; m++)
		drop_replaced(&maps[m]);
	uint32_t n = rt.results->control.n_entries;
	for (; taken < n && taken < ST_MAX_ENTRIES; taken++) {
		if (entries()[taken].what == ST_ENTRY_FRAMES)
			continue;
		if (entries()[taken].what == ST_ENTRY_PART) { /* nobody enters a function by it */
			add_entry_function(&entries()[taken]);
			continue;
		}
		uint64_t *at = strobe_map_at(&starts, entries()[taken].start);
		if (at && *at)
			add_entry_name(&entries()[*at - 1], taken);
		else if (at)
			*at = taken + 1;
		if (entries()[taken].what & ST_ENTRY_CHOSEN)
			choose_entry(&entries()[taken]);
		if (entries()[taken].what & ST_ENTRY_TOOL)
			add_entry_function(&entries()[taken]);
	}
}

void
entries_ask(void)
{
	struct st_results_header *r = rt.results;
	uint32_t n = r->maps.n, done = __atomic_load_n(&r->control.images_done, __ATOMIC_SEQ_CST);
	if (!r->plan.wants_entries || !rt.boot->channel || done >= n)
		return;
	uint32_t first = done;
	struct st_message m = {.kind = ST_MESSAGE_IMAGE, .pid = rt.pid, .results_pid = rt.pid};
	uint64_t begin = rt.times_engine ? rt_tsc() : 0;
	if (!process_tell(&m))
		return;
	while (done < n && controller_answers(&r->control.images_done, done, 10))
		done = __atomic_load_n(&r->control.images_done, __ATOMIC_SEQ_CST);
	take_new(first);
	if (begin)
		rt_self()->tools.engine_ticks += rt_tsc() - begin;
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
	return (const char *)rt.results + rt.results->layout.off_entry_names + entry->name;
}

const void *
strobe_function_data(uint64_t function)
{
	const struct st_entry *e = entry_at(function);
	return e && e->data
	               ? (const char *)rt.results + rt.results->layout.off_entry_names + e->data
	               : NULL;
}

/* The last of those, in ascending order, that begin at the address or before, + 1; 0: none. */
static uint32_t
range_before(const struct range *ranges, uint32_t n, uint64_t pc)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (ranges[mid].start <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool
entries_chosen(uint64_t pc)
{
	uint32_t i = range_before(chosen, n_chosen, pc);
	return i && pc < chosen[i - 1].end;
}

bool
entries_choose(uint64_t pc)
{
	return !(rt.results->plan.region_by & ST_REGION_LIMITED) || entries_chosen(pc);
}

static void
reverse(struct range *from, struct range *to)
{
	for (; from < to; from++) {
		struct range r = *--to;
		*to = *from;
		*from = r;
	}
}

/* Puts what has been added since it was last asked where it belongs: the functions of an image,
 * which come together and in order, lie between two others. */
static void
order_functions(void)
{
	while (n_ordered < n_functions) {
		uint32_t at = range_before(functions, n_ordered, functions[n_ordered].start);
		uint64_t limit = at < n_ordered ? functions[at].start : UINT64_MAX, last = 0;
		uint32_t end = n_ordered;
		while (end < n_functions && functions[end].start < limit &&
		       functions[end].start >= last)
			last = functions[end++].start;
		reverse(functions + at, functions + n_ordered);
		reverse(functions + n_ordered, functions + end);
		reverse(functions + at, functions + end);
		n_ordered = end;
	}
}

static const struct range *
entry_function(uint64_t pc)
{
	if (n_ordered < n_functions)
		order_functions();
	uint32_t i = range_before(functions, n_functions, pc);
	return i && pc < functions[i - 1].end ? &functions[i - 1] : NULL;
}

uint64_t
entries_start(uint64_t pc)
{
	const struct range *f = entry_function(pc);
	return f ? f->whole : 0;
}

bool
entries_range(uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct range *f = entry_function(pc);
	*start = f ? f->start : 0;
	*end = f ? f->end : 0;
	return f;
}

bool
entries_frames(uint32_t map, uint64_t *from, uint64_t *end)
{
	for (uint32_t i = 0; i < taken; i++) {
		const struct st_entry *e = &entries()[i];
		if (e->what != ST_ENTRY_FRAMES || e->map != map)
			continue;
		*from = e->start;
		*end = e->end;
		return true;
	}
	return false;
}
