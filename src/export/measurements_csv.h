/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements as a table of text: a line for each value. */
#ifndef STROBE_EXPORT_MEASUREMENTS_CSV_H
#define STROBE_EXPORT_MEASUREMENTS_CSV_H

#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* To a file that may be full; the caller looks at it. 0, or -1 with *e: the profile has no
 * measurements, or their frames have no place in a table. */
st_status st_export_measurements_csv(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
