/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of what is live, taken while the program runs by a thread of their own: the program
 * does nothing for them. */
#ifndef STROBE_MEM_WATCH_H
#define STROBE_MEM_WATCH_H

#include <pthread.h>

#include "mem/mem.h"
#include "mem/places.h"

struct st_mem_change {
	uint32_t snapshot, context;
	uint64_t live; /* from that snapshot on */
};

struct st_mem_watch {
	const struct st_alloc_area *area;
	double begin; /* as st_now_raw has it */
	uint64_t interval_ns;
	bool fixed; /* the interval was asked for */
	ST_VEC(struct st_mem_snapshot) snapshots;
	ST_VEC(struct st_mem_change) changes; /* in the order of snapshots */
	uint64_t *seen;                       /* of each context, live at the last snapshot */
	uint32_t n_seen;
	struct st_mem_places places;
	uint64_t epoch, peak_from_ns, peak_to_ns;
	pthread_t thread;
	bool runs, ends;
};

/* -1: there is no thread for it. */
st_status st_mem_watch_begin(struct st_mem_watch *w);
/* Takes the last snapshot, of the end. */
void st_mem_watch_end(struct st_mem_watch *w, bool ended);
void st_mem_watch_free(struct st_mem_watch *w);
/* Takes one now. */
void st_mem_snapshot_take(struct st_mem_watch *w, uint64_t ns);
/* Leaves out every second one, the last stays; changes go to the next one. */
void st_mem_snapshots_halve(struct st_mem_watch *w);

#endif
