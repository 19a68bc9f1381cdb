/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe log --of: the values of a function or series in the stored profiles, by version. */
#ifndef STROBE_CLI_LOG_OF_H
#define STROBE_CLI_LOG_OF_H

#include "store/history.h"

/* Prints the values. name: of a function or location, or a shell pattern. 0, or -1 with *e, also
 * when no profile has it. */
st_status st_log_of(struct st_store *s, const struct st_history *h, const char *name, bool json,
                    struct st_error *e);

#endif
