/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lengths of the instructions of a block, from the file of its code. */
#ifndef STROBE_COLLECT_LENGTHS_H
#define STROBE_COLLECT_LENGTHS_H

#include <stdint.h>

enum { ST_LENGTHS_MOST = 1 << 20 }; /* bytes of a block; far beyond what the engine puts in one */

struct st_image;
struct st_lengths;

/* NULL: no memory. */
struct st_lengths *st_lengths_new(void);
void st_lengths_free(struct st_lengths *l);

/* Of the first `insns` instructions at the link-time address, which lie in `bytes` (at most
 * ST_LENGTHS_MOST), and in *sum their sum. Valid until the next call. NULL: they are not there, or
 * insns is 0. */
const uint8_t *st_lengths_of(struct st_lengths *l, struct st_image *image, uint64_t offset,
                             uint32_t bytes, uint32_t insns, uint32_t *sum);

/* Of all instructions that the bytes (at most ST_LENGTHS_MOST) at the address are, and in *insns
 * how many. Valid until the next call. NULL: the bytes are not there, or no whole instructions. */
const uint8_t *st_lengths_in(struct st_lengths *l, struct st_image *image, uint64_t offset,
                             uint32_t bytes, uint32_t *insns);

#endif
