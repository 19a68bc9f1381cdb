/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads by what has created them, so that those of two runs can be matched although they begin in
 * a different order: by the thread that has created them, the function that they begin with, the
 * call that has created them, and their order among threads of which all this is the same.
 *
 *	in a run: st_blow_origins_of -> run->origins -> a line -> st_blow_match_threads
 *
 * In a run, thread 0 is the first one, and the others have numbers that only this run gives them.
 * st_blow_match_threads replaces these by the numbers of the campaign.
 */
#ifndef STROBE_BLOW_ORIGINS_H
#define STROBE_BLOW_ORIGINS_H

#include "blow/blow.h"
#include "probe/probes.h"

struct st_text;

/* Whether the function creates threads, so that a run needs a probe on it. */
bool st_blow_creates_threads(const struct st_function *f);

/* The number that a run gives the thread of a record. */
uint32_t st_blow_thread_number(const struct st_probe_area *a, uint32_t record);
/* Adds the origins of all threads of the run. -1: memory is exhausted. */
st_status st_blow_origins_of(const struct st_probes *probes, struct st_blow_run *run);

/* match.c: gives the threads of the run the numbers that they have in the campaign; those that are
 * new get the next numbers. A run without origins is left as it is. -1: memory is exhausted. */
st_status st_blow_match_threads(struct st_blow *b, struct st_blow_run *run);
/* Prints "worker (created by main in start_pool)", or "thread 3" if that is not known. */
void st_blow_print_thread(const struct st_blow *b, uint32_t thread, FILE *out);

#endif
