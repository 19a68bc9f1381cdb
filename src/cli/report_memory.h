/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe report: the memory of a program over time, for the page. */
#ifndef STROBE_CLI_REPORT_MEMORY_H
#define STROBE_CLI_REPORT_MEMORY_H

#include <jansson.h>

#include "base/error.h"
#include "profile/profile.h"

/* Adds the live memory over time to the result that was added last, or the reason that there is
 * none. Profiles that are not of strobe mem get nothing. name: of the profile in messages.
 * ST_FAILED with *e: the profile cannot be read, or memory is exhausted. */
st_status st_report_add_memory(json_t *page, const struct st_profile *p, const char *name,
                               struct st_error *e);

#endif
