/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two halves of an annotated function. */
#ifndef STROBE_REPORT_ANNOTATE_H
#define STROBE_REPORT_ANNOTATE_H

#include "report/report.h"

void st_annotate_source(const struct st_report *r, FILE *out, uint32_t function);
void st_annotate_code(const struct st_report *r, FILE *out, uint32_t function);

#endif
