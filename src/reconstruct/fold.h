/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A long sequence of numbers, kept short: what repeats itself becomes one body and how often, also
 * within others. So a window of ten million blocks is a page.
 */
#ifndef STROBE_RECONSTRUCT_FOLD_H
#define STROBE_RECONSTRUCT_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/vec.h"

/* Ids from here on are bodies of several items. */
#define ST_FOLD_BODY 0x80000000u

struct st_fold_item {
	uint32_t id; /* a number that was pushed, or ST_FOLD_BODY + index of a body */
	uint64_t times;
};

struct st_fold_body {
	uint32_t first, n; /* of the members */
};

typedef ST_VEC(struct st_fold_item) st_fold_items;

/* Bodies, shared by all sequences. */
struct st_fold {
	st_fold_items members;
	ST_VEC(struct st_fold_body) bodies;
	struct st_hashmap index; /* of bodies */
};

/* Puts a number at the end. 0, or -1 when memory is exhausted. */
int st_fold_push(struct st_fold *f, st_fold_items *to, uint32_t number);
/* The items of a body; *n receives their number. */
const struct st_fold_item *st_fold_members(const struct st_fold *f, uint32_t id, uint32_t *n);
void st_fold_free(struct st_fold *f);

#endif
