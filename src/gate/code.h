/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a function is the same code in two builds, wherever it and what it refers to lie. */
#ifndef STROBE_GATE_CODE_H
#define STROBE_GATE_CODE_H

#include "base/vec.h"
#include "gate/counts.h"

struct st_image;

struct st_gate_place {
	const char *path, *build_id;
	uint64_t offset, size;
};

/* A cache of opened images. */
struct st_gate_images {
	ST_VEC(struct st_image *) v;
};

/* Returns SAME, CHANGED, or UNKNOWN if the bytes cannot be read. Data is not compared. */
enum st_gate_code st_gate_compare_code(struct st_gate_images *images,
                                       const struct st_gate_place places[ST_GATE_SIDES]);
void st_gate_images_free(struct st_gate_images *images);

#endif
