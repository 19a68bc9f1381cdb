/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of measurements for people and for other programs. */
#ifndef STROBE_REPORT_MEASUREMENTS_H
#define STROBE_REPORT_MEASUREMENTS_H

#include <jansson.h>

#include "report/report.h"

/* A value as people read it: times and sizes in the unit that suits them. Returns buffer. */
const char *st_measured_text(char buffer[2 * ST_NUMBER_SIZE], const char *unit, double value);

/* A table: of each metric the r->top locations with the greatest sums. */
void st_report_measurements(const struct st_report *r, FILE *out);
/* Adds the key "measurements", if there are any: all series with all values. 0, or -1. */
st_status st_json_add_measurements(json_t *root, const struct st_profile *p);

#endif
