/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries and returns one by one, as the probe runtime leaves them in chunks of the area
 * (wire/probe.h). The process can write there at any time: nothing is believed that could lead out
 * of it.
 */
#ifndef STROBE_CONTROL_PROBE_EVENTS_H
#define STROBE_CONTROL_PROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/probe.h"

struct st_probe_event {
	uint64_t ticks;
	uint32_t record, function, depth; /* depth 1: the outermost */
	bool returns;
};

/* Words of a thread, from where the last ones ended: `last` is the time of its last event. */
size_t st_probe_decode(const uint64_t *words, size_t n, uint32_t record, uint64_t *last,
                       struct st_probe_event *events);

/* Emptying the chunks of an area. */
struct st_probe_drain;
/* Takes the events of one thread, in its order. */
typedef void st_probe_take(void *arg, uint32_t record, const struct st_probe_event *events,
                           size_t n);

/* NULL: no memory. */
struct st_probe_drain *st_probe_drain_new(struct st_probe_area *area, st_probe_take *take,
                                          void *arg);
void st_probe_drain_free(struct st_probe_drain *d);
/* Takes the chunks that are full; all that there is, once nothing is written any more. How many
 * were taken. */
size_t st_probe_drain(struct st_probe_drain *d, bool all);

/* Starts a thread that takes the chunks while the process runs. False: there is no thread. */
bool st_probe_drain_start(struct st_probe_drain *d);
/* When nothing is written any more: ends the thread, and takes all that there is. */
void st_probe_drain_finish(struct st_probe_drain *d);

#endif
