/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An experiment of an earlier campaign, made again: a fault under noise can be looked at then. */
#ifndef STROBE_BLOW_AGAIN_H
#define STROBE_BLOW_AGAIN_H

#include "blow/campaign.h"

/* Whether b has an experiment of that number that can be made again. -1 with *e: it has not. */
st_status st_blow_again_check(const struct st_blow *b, size_t number, struct st_error *e);
/* Runs the program with the noise of that experiment, and judges the run by those of b without
 * noise. how->limit: 0: as a campaign has it. The caller clears the run. -1 with *e: the run cannot
 * be made, or its noise was nowhere in it, as the program has changed. */
st_status st_blow_again(const struct st_blow *b, size_t number, const struct st_blow_how *how,
                        struct st_blow_run *run, struct st_error *e);

#endif
