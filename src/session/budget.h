/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time budget: --budget and --period. */
#ifndef STROBE_SESSION_BUDGET_H
#define STROBE_SESSION_BUDGET_H

#include <stdbool.h>

#include "base/status.h"
#include "control/run.h"

#define ST_BUDGET_PERIOD 1.0 /* seconds, unless another is chosen */

struct st_budget_amount {
	double share;   /* of the period; or 0 */
	double seconds; /* in each period; or 0 */
};

struct st_budget_choice {
	bool chosen;
	struct st_budget_amount amount;
	double period; /* seconds; 0: the default */
	bool clock_chosen;
	uint32_t clock; /* enum st_budget_clock */
	bool policy_chosen;
	uint32_t policy; /* enum st_budget_policy */
	bool sharing_chosen;
	uint32_t sharing; /* enum st_budget_share */
};

/* "10%", or a time as st_region_time takes it. 0, or -1 with *e. */
st_status st_budget_parse(struct st_budget_amount *amount, const char *option, const char *value,
                          struct st_error *e);
/* Returns the seconds of the budget in each period of that many seconds. */
double st_budget_seconds(const struct st_budget_amount *amount, double period);
st_status st_budget_clock(struct st_budget_choice *b, const char *value, struct st_error *e);
st_status st_budget_policy(struct st_budget_choice *b, const char *value, struct st_error *e);
st_status st_budget_sharing(struct st_budget_choice *b, const char *value, struct st_error *e);
st_status st_budget_period(struct st_budget_choice *b, const char *value, struct st_error *e);
/* 0, or -1 with *e: the settings do not fit together. */
st_status st_budget_check(const struct st_budget_choice *b, struct st_error *e);
/* Puts it into the options of a run, once it is known whole. 0, or -1 with *e. */
st_status st_budget_apply(const struct st_budget_choice *b, struct st_run_options *options,
                          struct st_error *e);

#endif
