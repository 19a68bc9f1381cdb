/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_LIVE_INTERNAL_H
#define STROBE_LIVE_INTERNAL_H

#include "live/counts.h"

/* live/places.c: the places of the process' labels from `first` on. */
void st_live_find_places(struct st_live *l, struct st_live_process *p, const struct st_view *v,
                         uint32_t first);
/* live/names.c: frees names and images. */
void st_live_free_names(struct st_live *l);

#endif
