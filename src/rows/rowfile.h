/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of rows: what a stream of a tool recorded, in the order in which each thread recorded it.
 * docs/profile.md describes the format. A file holds all that is needed to read it, and may end
 * anywhere: what was written up to there can be read.
 */
#ifndef STROBE_ROWS_ROWFILE_H
#define STROBE_ROWS_ROWFILE_H

#include "base/status.h"
#include "control/run.h"
#include "profile/profile.h"
#include "rows/rowcodec.h"

#define ST_ROWS_MAGIC "STROROWS"
#define ST_ROWS_VERSION 3u
#define ST_ROWS_OLDEST 2u        /* that can be read */
#define ST_ROWS_MARK 0x4d415246u /* "FRAM" */

enum {
	ST_ROWS_FRAME = 1 << 20,      /* bytes of content from which on a frame is written */
	ST_ROWS_MOST_FRAME = 8 << 20, /* that a frame holds at most */
	ST_ROWS_PIECE = 256 << 10,    /* of the strings that one record holds at most */
};

struct st_rows_header {
	char magic[8];
	uint32_t version, bytes; /* of this header */
	uint64_t reserved[2];
};

/* Behind it `bytes` bytes that zstd has made of `content` bytes: records, and if there is more, a
 * struct st_rows_columns and the columns. */
struct st_rows_frame {
	uint32_t mark, bytes, content, records;
	uint64_t rows;
	double tsc_hz; /* as well as it was known then */
};

enum st_rows_kind {
	ST_ROWS_STREAM = 1, /* texts: name, help, tool; for each column its type and name */
	ST_ROWS_PROCESS,    /* struct st_rows_process */
	ST_ROWS_STRINGS,    /* offset; bytes that go there */
	ST_ROWS_MAP,        /* index; struct st_map */
	ST_ROWS_THREAD,     /* index; struct st_thread */
	ST_ROWS_SITES,      /* index of the first; strobe_site of each */
	ST_ROWS_ROWS,       /* struct st_rows_rows; they follow in the frame's columns */
};
struct st_rows_record {
	uint32_t kind, process;
	uint64_t bytes; /* of what follows; filled up to a multiple of 8 */
};
struct st_rows_process {
	uint32_t pid, ppid;
	uint64_t tsc_begin;
};
struct st_rows_rows {
	uint32_t thread, rows;
};
/* The frame's rows, one record's after the other's (rowcodec.h). */
struct st_rows_columns {
	uint32_t bytes[ST_CODEC_COLUMNS];
};

/* ---- writing ---- */

struct st_row_writer;

/* Where files go: before, the first process' id if with_pid, behind, ".STREAM.rows". The texts must
 * live as long as the writer. NULL: no memory. */
struct st_row_place {
	const char *before, *behind;
	bool with_pid;
};
struct st_row_writer *st_row_writer_new(const struct st_row_place *place, const char *const *tools,
                                        size_t n_tools);
void st_row_writer_free(struct st_row_writer *w);
/* For st_run_options; arg is the writer. */
void st_row_writer_begin(void *arg, const struct st_results_header *results, size_t size);
void st_row_writer_take(void *arg, const struct st_results_header *results,
                        const struct st_row_chunk *chunk);
void st_row_writer_end(void *arg, const struct st_results_header *results);
/* Completes the files, and tells the profile of them. 0, or -1 when memory is exhausted. */
st_status st_row_writer_finish(struct st_row_writer *w, struct st_profile *p);

/* ---- reading ---- */

struct st_image;
struct st_row_reader;

struct st_row_shown {
	const struct st_profile_value *values; /* of places, text is the function's name */
	int64_t pid, tid;
	uint32_t process;  /* its number in the run: after execve another one */
	uint64_t start_ns; /* when that began, since the first one did: times in rows are its own */
};

/* Whether a file begins as files of rows do. */
bool st_row_file_is(const char *path);
/* NULL and *e when there is no such file, or it is foreign, or of a newer version. */
struct st_row_reader *st_row_reader_open(const char *path, struct st_error *e);
void st_row_reader_close(struct st_row_reader *r);
/* The stream of the file; the profile has its images. */
const struct st_profile_table *st_row_reader_stream(const struct st_row_reader *r);
const struct st_profile *st_row_reader_profile(const struct st_row_reader *r);
/* The image that a place is in by its index; NULL when it cannot be read. It lives as long as the
 * reader. */
struct st_image *st_row_reader_image(const struct st_row_reader *r, uint32_t index);
/* Rows in all. */
uint64_t st_row_reader_rows(const struct st_row_reader *r);
/* The next row. 1; 0 at the end; -1 with *e when the rest of the file is damaged or missing. */
int st_row_reader_next(struct st_row_reader *r, struct st_row_shown *row, struct st_error *e);

#endif
