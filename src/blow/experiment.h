/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a campaign that a worker makes in a separate process. The worker is given a line of
 * text that describes the run, and returns its result as lines of text (run.h). */
#ifndef STROBE_BLOW_EXPERIMENT_H
#define STROBE_BLOW_EXPERIMENT_H

#include "blow/campaign.h"

/* The run that selects functions. */
#define ST_BLOW_SELECT "select"
/* Any other run, with its limit; malloc'ed, NULL: memory is exhausted. */
char *st_blow_asked(const struct st_blow_run *run, double limit);
/* Makes the run and writes its lines. selection: the file that the run which selects functions has
 * written; NULL for that run. 0, or -1 with *e. */
st_status st_blow_experiment(const struct st_blow_options *o, const char *asked,
                             const char *selection, FILE *out, struct st_error *e);
/* Reads such lines from a file: with `selected`, also functions. 0, or -1 with *e. */
st_status st_blow_read_experiment(const char *path, struct st_blow *selected, size_t n_functions,
                                  struct st_blow_run *run, struct st_error *e);

#endif
