/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the budget of a period is granted: --sampling. */
#ifndef STROBE_SESSION_SAMPLING_H
#define STROBE_SESSION_SAMPLING_H

#include "base/status.h"
#include "control/run.h"

struct st_sampling_choice {
	bool chosen;
	uint32_t kind; /* enum st_budget_sampling */
	long bursts;   /* of a period; 0: the default */
};

/* "window", "bursts", "adaptive", or one of these two with ":N". 0, or -1 with *e. */
st_status st_sampling_choose(struct st_sampling_choice *s, const char *value, struct st_error *e);
/* Puts it into the options of a run, which have the budget; unique: each piece of code is measured
 * once. 0, or -1 with *e. */
st_status st_sampling_apply(const struct st_sampling_choice *s, bool unique,
                            struct st_run_options *options, struct st_error *e);

#endif
