/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of calls as results of the page. */
#ifndef STROBE_CLI_REPORT_COSTS_H
#define STROBE_CLI_REPORT_COSTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* Does the file begin as records of calls do? */
bool st_report_is_records(const char *path);
/* Reads the records, analyses all metrics of all functions, and returns the result. NULL with *e.
 */
json_t *st_report_costs(const char *path, struct st_error *e);

#endif
