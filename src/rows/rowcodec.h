/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows in few bytes. A program in a loop passes the same points in the same order, and what it
 * records at one of them grows by the same amount each time, or each second time (two buffers that
 * change places), or by the same as at the point before:
 * so of each row only that is kept which does not come as foretold. What is left is for a general
 * compressor, which is the faster the more alike the bytes are that it sees: so each kind of them
 * has a column of its own. docs/profile.md says what is in them. Both ends forget everything at
 * st_codec_reset.
 */
#ifndef STROBE_ROWS_ROWCODEC_H
#define STROBE_ROWS_ROWCODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

struct st_codec;

/* NULL: no memory. */
struct st_codec *st_codec_new(void);
void st_codec_free(struct st_codec *c);
void st_codec_reset(struct st_codec *c);

enum st_codec_column {
	ST_CODEC_RUNS,    /* numbers, in pairs: a site, and rows of which the sites are foretold */
	ST_CODEC_STRANGE, /* a bit for each value: it does not grow as before */
	ST_CODEC_HOW,     /* four bits for each that does not: foretold otherwise, or so long */
	ST_CODEC_VALUES,  /* the bytes of the values */
	ST_CODEC_COLUMNS
};

/* The most that rows add to a column, from their number of bytes: a row has eight for its site, of
 * which ten become a run, and eight for each value. */
#define ST_CODEC_MOST(bytes) ((bytes) / 8 * 10 + 16)

struct st_encoded {
	unsigned char *at[ST_CODEC_COLUMNS]; /* where the next bytes go; with room */
	uint32_t n_rows;
	bool whole; /* else what follows is no row, or memory is exhausted */
};
/* Encodes the rows that lie in `bytes` bytes. */
void st_codec_encode(struct st_codec *c, const void *rows, size_t bytes, const strobe_site *sites,
                     uint32_t n_sites, struct st_encoded *out);

/* Bits of a column, some at a time. */
struct st_codec_bits {
	unsigned bits, left;
};
struct st_decoding {
	const unsigned char *at[ST_CODEC_COLUMNS], *end[ST_CODEC_COLUMNS];
	const strobe_site *sites;
	uint32_t n_sites;
	uint32_t version; /* of the file: ST_ROWS_VERSION, or the one before */
	uint32_t rows;    /* left, of those that were encoded together */
	uint32_t run;     /* of these, whose sites are foretold */
	uint32_t last;    /* site of the row before, or UINT32_MAX */
	struct st_codec_bits strange, how;
	uint64_t moved[STROBE_MOST_COLUMNS];
};
/* Begins to decode the next n_rows rows. */
void st_codec_begin(struct st_decoding *in, uint32_t n_rows);
/* The next of them: its site and values. 1; 0 when there is none; -1 when the bytes cannot be rows,
 * or memory is exhausted. */
int st_codec_decode(struct st_codec *c, struct st_decoding *in, uint32_t *site,
                    uint64_t values[STROBE_MOST_COLUMNS]);

#endif
