/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_EXPORT_LCOV_H
#define STROBE_EXPORT_LCOV_H

#include "report/report.h"

/* Lines and functions as a tracefile of lcov. all: also of sources that belong to the system or
 * cannot be read. 0, or -1 with *e. */
st_status st_export_lcov(const struct st_report *r, FILE *out, bool all, struct st_error *e);

#endif
