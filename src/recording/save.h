/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves a file of records after the program has run: the run cannot be repeated, so the records are
 * saved elsewhere if they cannot be written to their file. */
#ifndef STROBE_RECORDING_SAVE_H
#define STROBE_RECORDING_SAVE_H

#include <stdio.h>

#include "recording/recording.h"

/* Writes the records into a stream, whose errors are not its concern. -1 with *e: there are none,
 * or memory is exhausted. e: NULL if the cause is not needed. */
typedef st_status st_recording_writer(const void *arg, FILE *out,
                                      struct st_recording_outcome *outcome, struct st_error *e);

/* Replaces the file at path by the records. -1 with *e: the writer failed, and the file is as it
 * was before; or the file cannot be written, and *e says where the records are. */
st_status st_recording_save(const char *path, st_recording_writer *write, const void *arg,
                            struct st_recording_outcome *outcome, struct st_error *e);

/* The schedule of the files that are written during a run. */
struct st_recording_interim {
	double begin, next; /* seconds of st_now_raw; 0: the run has not begun */
	uint64_t calls;     /* number of calls when the last file was written */
};

/* Returns whether it is time to write the records so far: every second, or less often so that
 * writing takes at most 2 % of the time. */
bool st_recording_interim_due(struct st_recording_interim *i);
/* Replaces the file at path, a regular one or none, by the records so far; the writer gets NULL in
 * place of an error. Returns whether it has; otherwise, for example because there are no records
 * yet, the file is unchanged. */
bool st_recording_interim_save(struct st_recording_interim *i, const char *path,
                               st_recording_writer *write, const void *arg);

#endif
