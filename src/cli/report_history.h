/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe report --history: the history of functions and series, from the store into the page. */
#ifndef STROBE_CLI_REPORT_HISTORY_H
#define STROBE_CLI_REPORT_HISTORY_H

#include <jansson.h>

#include "base/error.h"

struct st_report_history {
	const char *name; /* of a function or location, or a shell pattern */
	const char *rev;  /* the youngest version; NULL: the one that is checked out */
	size_t versions;  /* at most; 0: all */
};

/* Adds a history to the page. ST_FAILED with *e: there is no store, no profile of these versions
 * has a value, or memory is exhausted. */
st_status st_report_add_history(json_t *page, const struct st_report_history *what,
                                struct st_error *e);

#endif
