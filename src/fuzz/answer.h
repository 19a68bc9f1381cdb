/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the process that measured an execution tells the campaign, in a file that both have. */
#ifndef STROBE_FUZZ_ANSWER_H
#define STROBE_FUZZ_ANSWER_H

#include "control/run.h"
#include "fuzz/execute.h"

/* Writes what came of a run, or (run NULL) the error why there was none. False: the file cannot be
 * written. */
bool st_fuzz_answer_write(int fd, const struct st_run *run, const struct st_error *e);
/* Reads it. ST_FAILED with *e: what the child said, or that it said nothing. */
st_status st_fuzz_answer_read(int fd, struct st_fuzz_places *places, struct st_fuzz_execution *out,
                              struct st_error *e);

#endif
