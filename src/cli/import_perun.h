/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe import of a folder: the profiles of a project of Perun, into the store. */
#ifndef STROBE_CLI_IMPORT_PERUN_H
#define STROBE_CLI_IMPORT_PERUN_H

#include <stdbool.h>

#include "base/error.h"

/* *code receives 1 when a profile or a change was left out, after a message. 0, or -1 with *e. */
st_status st_import_folder(const char *folder, bool quiet, int *code, struct st_error *e);

#endif
