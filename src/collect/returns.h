/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The return addresses that a program's calls have pushed: where its blocks that end in a call end.
 */
#ifndef STROBE_COLLECT_RETURNS_H
#define STROBE_COLLECT_RETURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "wire/results/header.h"

struct st_returns {
	ST_VEC(uint64_t) addresses;
	struct st_hashmap index; /* of addresses */
	uint32_t blocks;         /* taken so far */
};

/* Takes the blocks that have come since the last time. */
void st_returns_update(struct st_returns *r, const struct st_results_header *results);
bool st_returns_has(const struct st_returns *r, uint64_t address);
void st_returns_free(struct st_returns *r);

#endif
