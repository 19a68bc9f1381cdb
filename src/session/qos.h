/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quality of service: --qos and what goes with it. */
#ifndef STROBE_SESSION_QOS_H
#define STROBE_SESSION_QOS_H

#include "base/status.h"
#include "qos/qos.h"
#include "session/budget.h"

struct st_qos_choice {
	const char *source;
	bool has_min, has_max, has_policy, has_below, has_start;
	double min, max;
	struct st_budget_amount below; /* the budget while it is missed */
	struct st_budget_amount start; /* until it is known */
	enum st_qos_policy policy;
};

st_status st_qos_choose_number(double *number, bool *chosen, const char *option, const char *value,
                               struct st_error *e);
st_status st_qos_choose_policy(struct st_qos_choice *q, const char *value, struct st_error *e);
/* Whether they fit together. 0, or -1 with *e. */
st_status st_qos_check(const struct st_qos_choice *q, struct st_error *e);
/* Without --budget it may be all of a period. */
void st_qos_complete(const struct st_qos_choice *q, struct st_budget_choice *b);
/* Opens the source, once the budget is in the options of the run. The caller frees options->qos.
 * 0, or -1 with *e. */
st_status st_qos_apply(const struct st_qos_choice *q, struct st_run_options *options,
                       struct st_error *e);

#endif
