/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runtime is told of the program's images: their code, their unwind information, and which
 * of their functions allocate memory. */
#ifndef STROBE_MEM_IMAGES_H
#define STROBE_MEM_IMAGES_H

#include "mem/mem.h"
#include "probe/probes.h"

struct st_mem_function {
	uint64_t offset;
	enum st_alloc_kind kind;
};

struct st_mem_images {
	struct st_probes *probes;
	ST_VEC(struct st_mem_function) functions; /* of the image that was mapped last */
	ST_VEC(uint64_t) offsets;                 /* of these */
	size_t n_found;                           /* in all images */
	bool out_of_memory;
};

/* The area for allocations, made when it is needed first; NULL: there is no room. */
struct st_alloc_area *st_mem_area(struct st_probes *probes);
/* For struct st_probes. */
void st_mem_mapped(void *images, const struct st_probed_image *image);
size_t st_mem_wanted(void *images, const struct st_probed_image *image, const uint64_t **offsets);
struct st_probe_action st_mem_choose(void *images, const struct st_probed_image *image,
                                     const struct st_function *f);
void st_mem_images_free(struct st_mem_images *images);

#endif
