/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frames of a file of rows, on their way to it. */
#ifndef STROBE_PROFILE_ROWFILE_OUT_H
#define STROBE_PROFILE_ROWFILE_OUT_H

#include "profile/rowfile.h"

struct st_row_out {
	char *path;
	int fd;    /* -1: it could not be made, or written */
	int error; /* errno of that */
	unsigned char *records;
	size_t n, room;     /* bytes of the frame at hand */
	uint32_t frame;     /* its number, from 1 */
	double frame_begin; /* seconds; of its first record */
	uint64_t frame_rows;
	uint64_t rows, bytes; /* in the file */
	uint64_t lost;        /* rows that did not get there */
};

/* Takes the path over. What fails is in *o. */
void st_row_out_open(struct st_row_out *o, char *path);
void st_row_out_close(struct st_row_out *o);
/* Appends a record; returns where its bytes go. NULL: no memory. */
void *st_row_out_record(struct st_row_out *o, enum st_rows_kind kind, uint32_t process,
                        size_t bytes);
/* Writes the frame at hand. When that fails, its rows and all later ones are lost. */
void st_row_out_flush(struct st_row_out *o, double tsc_hz);

#endif
