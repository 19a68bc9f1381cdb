/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop: its number of entries, and the iterations of each entry. */
#ifndef STROBE_PROFILE_LOOPS_H
#define STROBE_PROFILE_LOOPS_H

#include <stdint.h>

#include <strobe/tool.h>

#include "wire/results/forest.h"

/* classes: entries by their iterations, as strobe_loop has them. */
struct st_loop {
	uint64_t entries, iterations;
	uint64_t least, most;
	uint64_t classes[STROBE_LOOP_CLASSES];
};

/* The results of a loop, given the count of its head. */
struct st_loop st_loop_read(const strobe_loop *l, uint64_t count);
/* Adds what is known of another one. */
void st_loop_add(struct st_loop *to, const struct st_loop *from);

#endif
