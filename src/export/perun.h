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

/* For a profile that has measurements: "mixed", or the kind of all its series. */
const char *st_perun_type(const struct st_profile *p);
/* The workload of all series; NULL: they have none, or several. */
const char *st_perun_workload(const struct st_profile *p);

/* Inside: the models, those that it keeps after those of an imported file, as a list in JSON.
 * malloc'ed; NULL: memory is exhausted. */
char *st_perun_models_json(const struct st_profile *p);

#endif
