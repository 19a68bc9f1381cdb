/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_REPORT_QOS_H
#define STROBE_REPORT_QOS_H

#include <jansson.h>
#include <stdio.h>

#include "report/report.h"

/* The share of windows that kept the threshold, for the summary; all of it as key "qos" in JSON. */
void st_qos_print(FILE *out, const struct st_profile *p);
int st_qos_json(json_t *root, const struct st_profile *p);

#endif
