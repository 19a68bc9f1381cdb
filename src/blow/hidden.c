/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/hidden.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probe/clocks.h"

/* The thread's slot, or else the one that it may take; NULL: there is none. */
static struct st_clock_slot *
hidden_slot(struct st_probe_area *area, uint32_t tid)
{
	struct st_clock_slot *left = NULL;
	for (uint32_t i = 0; i < ST_CLOCK_SLOTS; i++) {
		struct st_clock_slot *slot = &area->clocks[(tid + i) % ST_CLOCK_SLOTS];
		if (slot->tid == tid)
			return slot;
		if (!left && (!slot->tid || slot->tid == ST_CLOCK_NOBODY))
			left = slot;
		if (!slot->tid)
			break;
	}
	return left;
}

void
st_hidden_put(struct st_probe_area *area, int64_t tid, double seconds)
{
	struct st_clock_slot *slot = hidden_slot(area, (uint32_t)tid);
	const uint64_t ns = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
	if (!slot)
		return;
	__atomic_store_n(&slot->hidden_ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->tid, (uint32_t)tid, __ATOMIC_RELEASE);
}

void
st_hidden_end(struct st_probe_area *area, int64_t tid)
{
	struct st_clock_slot *slot = hidden_slot(area, (uint32_t)tid);
	if (slot && slot->tid == (uint32_t)tid)
		__atomic_store_n(&slot->tid, ST_CLOCK_NOBODY, __ATOMIC_RELEASE);
}

st_status
st_hidden_check(const struct st_probes *probes, struct st_error *e)
{
	if (!probes->process.hides_pauses || st_probe_has_clocks(probes))
		return ST_OK;
	return st_fail(
	        e, ST_EXIT_FAILED,
	        "--hide-pauses: the program's clocks take no probes, since the kernel has given "
	        "it no vDSO, or there is no free memory near it: leave the option out");
}

char *
st_hidden_limit(const char *path)
{
	struct st_error ignored;
	struct st_image *image = st_image_open(path, &ignored);
	const struct st_function *reader = image ? st_probe_counter_reader(image) : NULL;
	const bool is_alone = image && !st_image_has_section(image, ".interp") &&
	                      !st_image_defines(image, "__libc_start_main");
	char *text = NULL;
	if (is_alone)
		text = strdup("the program contains its C library, and no symbols: --hide-pauses "
		              "does not translate its deadlines, which are reached early");
	else if (reader && asprintf(&text,
	                            "the program reads the time stamp counter in %s: "
	                            "--hide-pauses does not hide pauses from it",
	                            reader->name) < 0)
		text = NULL;
	if (image)
		st_image_close(image);
	return text;
}
