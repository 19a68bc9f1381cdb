/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of the time budget. */
#ifndef STROBE_REPORT_BUDGET_H
#define STROBE_REPORT_BUDGET_H

#include <jansson.h>
#include <stdio.h>

#include "profile/profile.h"

/* A line of the summary, if there was a budget. */
void st_budget_print(FILE *out, const struct st_profile *p);
/* The key `budget`, if there was one. 0, or not when there is no memory. */
int st_budget_json(json_t *root, const struct st_profile *p);

#endif
