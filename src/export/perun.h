/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements as a profile of Perun. */
#ifndef STROBE_EXPORT_PERUN_H
#define STROBE_EXPORT_PERUN_H

#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* To a file that may be full; the caller looks at it. 0, or -1 with *e: the profile has no
 * measurements. */
st_status st_export_perun(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
