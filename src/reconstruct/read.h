/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The path that `strobe run -t branches:trace` has recorded, from its file of rows. */
#ifndef STROBE_RECONSTRUCT_READ_H
#define STROBE_RECONSTRUCT_READ_H

#include "base/error.h"
#include "reconstruct/walk.h"
#include "rows/rowfile.h"

#define ST_PATH_STREAM "path"

enum st_path_event { ST_PATH_BLOCK, ST_PATH_GAP, ST_PATH_SIGNAL };

/* A row, as it was recorded. Of a gap and a signal only event and thread count. */
struct st_path_row {
	enum st_path_event event;
	uint32_t process, image;
	int64_t pid, tid;
	uint64_t offset, sp, bp;
};

/* 0, or -1 with *e when the rows are not those of a path. */
st_status st_path_check(const struct st_row_reader *r, struct st_error *e);
/* As st_row_reader_next. */
int st_path_next(struct st_row_reader *r, struct st_path_row *row, struct st_error *e);
/* Hands a row over. 0, or -1 with *e. */
st_status st_path_take(struct st_walk *w, const struct st_row_reader *r,
                       const struct st_path_row *row, struct st_error *e);

enum { ST_PATH_TOLD = 1 << 20 }; /* rows, some tenths of a second */

/* All of them, up to the end or to where the file is damaged: then 1, and *e says so. -1 with *e
 * when there is no result. The walk refers to the reader's images. tell: told how many it has read,
 * each ST_PATH_TOLD rows; or NULL. */
int st_path_read(struct st_walk *w, struct st_row_reader *r, void (*tell)(void *arg, uint64_t rows),
                 void *arg, struct st_error *e);

#endif
