/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pilots: jobs of Slurm, one for each node, which are workers of a campaign. Their numbers are the
 * names of the files of the campaign's folder `pilots`. */
#ifndef STROBE_CAMPAIGN_SLURM_H
#define STROBE_CAMPAIGN_SLURM_H

#include "campaign/campaign.h"

/* One call of sbatch: an array with a pilot for each good node of the partition (NULL: the default
 * one), at most one for each task. 0, or -1 with *e; *bad: all nodes are in quarantine. */
st_status st_slurm_submit(const struct st_campaign *c, const char *partition, const char *strobe,
                          bool *bad, struct st_error *e);
/* Whether a pilot waits or runs. 0, or -1 with *e: Slurm does not answer. */
st_status st_slurm_alive(const struct st_campaign *c, bool *alive, struct st_error *e);
/* Cancels all pilots, if there are any. */
void st_slurm_cancel(const struct st_campaign *c);
/* Cancels all pilots and waits until none is left, for at most `seconds`, or until `interrupted`
 * returns a signal. While Slurm does not answer, it is asked again. */
void st_slurm_end(const struct st_campaign *c, double seconds, int (*interrupted)(void));

#endif
