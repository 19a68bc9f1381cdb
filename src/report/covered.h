/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints logs of measured code as text and as JSON. */
#ifndef STROBE_REPORT_COVERED_H
#define STROBE_REPORT_COVERED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "coverage/covered.h"
#include "report/text.h"

struct st_covered_report {
	const struct st_covered *logs;
	const struct st_covered *against; /* NULL: nothing to compare with */
	bool functions, missing;          /* tables of them */
	size_t top;                       /* rows of each; 0: all */
	struct st_style style;
};

void st_covered_print(const struct st_covered_report *r, FILE *out);
/* The same as JSON, malloc'ed. NULL and *e on failure. */
char *st_covered_json(const struct st_covered_report *r, struct st_error *e);

#endif
