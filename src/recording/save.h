/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves a file of records after the program has run: the run cannot be repeated, so the records are
 * saved elsewhere if they cannot be written to their file. */
#ifndef STROBE_RECORDING_SAVE_H
#define STROBE_RECORDING_SAVE_H

#include <stdio.h>

#include "recording/recording.h"

/* Writes the records into a stream, whose errors are not its concern. -1 with *e: there are none,
 * or memory is exhausted. */
typedef st_status st_recording_writer(const void *arg, FILE *out,
                                      struct st_recording_outcome *outcome, struct st_error *e);

/* Replaces the file at path by the records. -1 with *e: the writer failed, and the file is as it
 * was before; or the file cannot be written, and *e says where the records are. */
st_status st_recording_save(const char *path, st_recording_writer *write, const void *arg,
                            struct st_recording_outcome *outcome, struct st_error *e);

#endif
