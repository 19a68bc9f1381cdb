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

/* The schedule of files that are written during a run. */
struct st_recording_interim {
	double begin, next; /* seconds of st_now_raw; 0: the run has not begun */
	uint64_t calls;     /* that the last file knew of */
};

/* Returns whether it is time to write the records that there are so far. It is each second, unless
 * writing takes more than 2 % of the time then. */
bool st_recording_interim_due(struct st_recording_interim *i);
/* Replaces the file at path, a regular one or none, by the records so far. If this fails, for
 * example because there are no records yet, the file is as it was before. */
void st_recording_interim_save(struct st_recording_interim *i, const char *path,
                               st_recording_writer *write, const void *arg);

#endif
