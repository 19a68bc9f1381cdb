/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that answers with a few lines, such as squeue. */
#ifndef STROBE_CAMPAIGN_PROGRAM_H
#define STROBE_CAMPAIGN_PROGRAM_H

#include <stddef.h>

#include "base/error.h"

/* Runs it and takes its standard output and errors, as much as fits. 0, or -1 with *e: it could not
 * be run, or did not exit with 0. */
st_status st_program_ask(char *const *argv, char *answer, size_t size, struct st_error *e);

#endif
