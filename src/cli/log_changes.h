/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe log --changes: finds change points in the history of a function or series. */
#ifndef STROBE_CLI_LOG_CHANGES_H
#define STROBE_CLI_LOG_CHANGES_H

#include "store/history.h"

/* Prints the changes. name: of a function or location, or a shell pattern. 0, or -1 with *e, also
 * when no profile has it. */
st_status st_log_changes(struct st_store *s, const struct st_history *h, const char *name,
                         bool json, struct st_error *e);

#endif
