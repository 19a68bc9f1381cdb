/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frames of a file of rows, on their way to it. */
#ifndef STROBE_ROWS_ROWFILE_OUT_H
#define STROBE_ROWS_ROWFILE_OUT_H

#include "base/status.h"
#include "rows/rowfile.h"

struct st_row_out {
	char *path;
	int fd;    /* -1: it could not be made, or written */
	int error; /* errno of that */
	/* The frame at hand. */
	struct st_row_bytes {
		unsigned char *v;
		size_t n, room;
	} records, columns[ST_CODEC_COLUMNS];
	uint32_t frame;     /* its number, from 1 */
	double frame_begin; /* seconds; of its first record */
	uint64_t frame_rows;
	uint64_t rows, bytes; /* in the file */
	uint64_t lost;        /* rows that did not get there */
	void *zstd;
	unsigned char *packed; /* room for a frame, as it is written */
	size_t packed_room;
};

/* Takes ownership of the path. A failure is in *o. */
void st_row_out_open(struct st_row_out *o, char *path);
void st_row_out_close(struct st_row_out *o);
/* Appends a record; returns where its bytes go. NULL: no memory. */
void *st_row_out_record(struct st_row_out *o, enum st_rows_kind kind, uint32_t process,
                        size_t bytes);
/* Makes room in the columns for the encoding of rows of that many bytes; the caller increases n. 0,
 * or -1: no memory. */
st_status st_row_out_reserve(struct st_row_out *o, size_t bytes);
/* Bytes of the frame at hand. */
size_t st_row_out_frame(const struct st_row_out *o);
/* Writes the frame at hand. When that fails, its rows and all later ones are lost. */
void st_row_out_flush(struct st_row_out *o, double tsc_hz);

#endif
