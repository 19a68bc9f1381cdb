/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the frames of a flame graph from calling contexts, of one profile or of the difference of
 * two. */
#ifndef STROBE_VIEWS_FRAMES_H
#define STROBE_VIEWS_FRAMES_H

#include "plot/flame.h"
#include "views/costs.h"

struct st_frames {
	ST_VEC(struct st_flame_frame) v;
	ST_VEC(char *) texts; /* names of frames that are no labels */
};

/* inverted: roots are functions with their own values, and the callers of a frame are its children.
 * ST_FAILED with *e: memory is exhausted. The caller frees in both cases; the costs have to outlive
 * the frames. */
st_status st_frames_of(struct st_frames *f, const struct st_costs *c, bool inverted,
                       struct st_error *e);
/* Makes the frames of two profiles with the same metric; `before` is the value in a. */
st_status st_frames_of_difference(struct st_frames *f, const struct st_costs *a,
                                  const struct st_costs *b, struct st_error *e);
void st_frames_free(struct st_frames *f);

#endif
