/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads from the code of images how many call sites a function has, and whether it does I/O or uses
 * locks. Calls through pointers, such as those of virtual functions, are not seen.
 */
#ifndef STROBE_BLOW_CALLS_H
#define STROBE_BLOW_CALLS_H

#include "blow/blow.h"
#include "symbol/symbol.h"

struct st_blow_calls;

/* NULL: memory is exhausted. */
struct st_blow_calls *st_blow_calls_new(void);
void st_blow_calls_free(struct st_blow_calls *c);
/* Adds an image, which must outlive it; images that are added before others come before them in the
 * search for symbols. -1: memory is exhausted. */
st_status st_blow_calls_add(struct st_blow_calls *c, struct st_image *image);
/* Call it when all images were added. -1: memory is exhausted. */
st_status st_blow_calls_connect(struct st_blow_calls *c);
/* Fills in `sites` and `traits` of the function at the offset of the image. */
void st_blow_calls_fill(const struct st_blow_calls *c, const struct st_image *image,
                        struct st_blow_function *f);

/* Traits by the name of a function alone; raw_name may end with a version. */
uint32_t st_blow_traits_of_name(const char *raw_name);
/* Traits of a function that makes the system call. */
uint32_t st_blow_traits_of_call(uint32_t number);

#endif
