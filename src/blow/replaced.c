/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probe runtime keeps the return addresses that it replaces in the frames of its threads, and
 * in a table those of frames that a thread has left. Both are read from the process. */
#include "blow/replaced.h"

#include <stdlib.h>

enum { MOST_AT_ONCE = 1 << 10 }; /* frames */

static uint64_t
find_slot(const struct st_probe_frame *frames, size_t n, uint64_t slot)
{
	for (size_t i = n; i--;)
		if (frames[i].slot == slot && !frames[i].counted && !frames[i].is_patched)
			return frames[i].original;
	return 0;
}

/* Looks at the frames of the runtime's memory there, the last ones first. */
static uint64_t
find_in_memory(const struct st_probing *p, uint64_t at, size_t n, uint64_t slot)
{
	struct st_probe_frame *frames = malloc(MOST_AT_ONCE * sizeof *frames);
	uint64_t found = 0;
	while (frames && n && !found) {
		const size_t part = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
		n -= part;
		if (st_probing_read(p, at + n * sizeof *frames, frames, part * sizeof *frames))
			found = find_slot(frames, part, slot);
	}
	free(frames);
	return found;
}

static uint64_t
find_in_thread(const struct st_probing *p, uint64_t thread, uint64_t slot)
{
	uint32_t depth = 0;
	if (!st_probing_read(p, thread + offsetof(struct st_probe_thread, depth), &depth,
	                     sizeof depth) ||
	    depth > ST_PROBE_FRAMES)
		return 0;
	return find_in_memory(p, thread + offsetof(struct st_probe_thread, frames), depth, slot);
}

uint64_t
st_blow_replaced_address(const struct st_probing *p, uint64_t slot)
{
	uint32_t threads = 0;
	uint64_t found = 0;
	if (!st_probing_read(p, p->context + offsetof(struct st_probe_context, n_threads), &threads,
	                     sizeof threads))
		return 0;
	for (uint32_t i = 0; i < threads && i < ST_PROBE_MOST_THREADS && !found; i++)
		found = find_in_thread(p, p->threads + i * sizeof(struct st_probe_thread), slot);
	return found ? found
	             : find_in_memory(p, p->context + offsetof(struct st_probe_context, parked),
	                              ST_PROBE_PARKED, slot);
}
