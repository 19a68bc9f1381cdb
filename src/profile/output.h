/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a result so that it is there as a whole or not at all. */
#ifndef STROBE_PROFILE_OUTPUT_H
#define STROBE_PROFILE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A file being written: beside its final place under a temporary name, or, when the place is no
 * regular file (a pipe, a device), straight into it.
 */
struct st_output {
	const char *path;
	char *final;     /* path with symbolic links followed */
	char *temporary; /* NULL when written directly */
	int fd;
	int error; /* that a stream met first */
};

/* Whether path can be written; to be asked before anything costly. 0, or -1 with *e. */
st_status st_output_check(const char *path, struct st_error *e);
/* The same of a profile: a name that usually belongs to another kind of file, such as x.csv, is
 * refused with the command that makes such a file (usage). */
st_status st_output_check_profile(const char *path, struct st_error *e);
/* The same of a file of one kind, "SVG", with its ending ".svg". */
st_status st_output_check_kind(const char *path, const char *kind, const char *ending,
                               struct st_error *e);
/* Fails (usage) if the name belongs to a file of another kind than one with this ending, such as
 * "json": JSON is not written to x.html. */
st_status st_output_check_ending(const char *path, const char *ending, struct st_error *e);
/* Whether path is another file than input, which is read: 0, or -1 with *e (usage). */
st_status st_output_check_input(const char *path, const char *input, struct st_error *e);
st_status st_output_begin(struct st_output *o, const char *path, struct st_error *e);
/* Appends bytes. 0, or -1 with *e. */
st_status st_output_write(struct st_output *o, const void *bytes, size_t n, struct st_error *e);
/* A stream whose bytes are appended; what goes wrong is said when it is closed, before the file is
 * put in its place. 0, or -1 with *e. */
st_status st_output_stream(struct st_output *o, FILE **out, struct st_error *e);
st_status st_output_close(struct st_output *o, FILE *out, struct st_error *e);
/* Puts the file in its place. 0, or -1 with *e; in both cases nothing is left to release. */
st_status st_output_commit(struct st_output *o, struct st_error *e);
/* Leaves what was at path before as it was. */
void st_output_abandon(struct st_output *o);
/* All of these: a file that holds the text, or the bytes. 0, or -1 with *e. */
st_status st_output_text(const char *path, const char *text, struct st_error *e);
st_status st_output_bytes(const char *path, const void *bytes, size_t n, struct st_error *e);
/* Writes what standard output has buffered. 0, or -1 with *e, also after an earlier error. */
st_status st_output_flush(struct st_error *e);
/* Fills *e for a failure with the given errno and returns -1. */
st_status st_output_failed(const char *path, int error, struct st_error *e);

#endif
