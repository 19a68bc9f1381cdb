/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune: lists of programs. */
#ifndef STROBE_CLI_TUNE_H
#define STROBE_CLI_TUNE_H

#include "tune/run.h"

/* Adds the programs that a file lists, a command on each line. 0, or -1 with *e. */
st_status st_tune_programs(struct st_study *s, const char *path, struct st_error *e);

#endif
