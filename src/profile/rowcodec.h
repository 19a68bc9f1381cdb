/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows in few bytes. A program in a loop passes the same points in the same order, and what it
 * records at one of them grows by the same amount each time: so of each row only that is kept which
 * does not come as it did the last time. What is left is for a general compressor.
 *
 * Encoded rows are two strings of bytes. The controls, for each row one byte, or more if it has
 * more than three values: bit 0: the site is not the one that followed last time; from bit 1 on two
 * bits for each value, then four in each further byte: 0: as foretold, 1, 2: the difference from
 * the site's last value in one or four bytes, 3: the value in eight. And the data that the controls
 * ask for: the site in four bytes, then the values. Both ends forget everything at st_codec_reset.
 */
#ifndef STROBE_PROFILE_ROWCODEC_H
#define STROBE_PROFILE_ROWCODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

struct st_codec;

/* NULL: no memory. */
struct st_codec *st_codec_new(void);
void st_codec_free(struct st_codec *c);
void st_codec_reset(struct st_codec *c);

/* The most that rows of so many bytes can take: controls, data. */
#define ST_CODEC_MOST_CONTROL(bytes) ((bytes) / 8)
#define ST_CODEC_MOST_DATA(bytes) (bytes)

struct st_encoded {
	unsigned char *control, *data; /* with room for all rows */
	size_t n_control, n_data;
	uint32_t n_rows;
	bool whole; /* else what follows is no row, or memory is exhausted */
};
/* Encodes the rows that lie in `bytes` bytes. */
void st_codec_encode(struct st_codec *c, const void *rows, size_t bytes, const strobe_site *sites,
                     uint32_t n_sites, struct st_encoded *out);

struct st_decoding {
	const unsigned char *control, *data;
	size_t n_control, n_data;
	const strobe_site *sites;
	uint32_t n_sites;
	uint32_t last; /* site of the row before; begins as UINT32_MAX */
};
/* The next row: its site and values. 1; 0 when there is none; -1 when the bytes cannot be rows, or
 * memory is exhausted. */
int st_codec_decode(struct st_codec *c, struct st_decoding *in, uint32_t *site,
                    uint64_t values[STROBE_MOST_COLUMNS]);

#endif
