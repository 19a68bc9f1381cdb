/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs as bytes that are cut and pasted. */
#ifndef STROBE_FUZZ_BYTES_H
#define STROBE_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* All zeros is an empty one. The owner calls st_fuzz_bytes_free. */
struct st_fuzz_bytes {
	uint8_t *v;
	size_t n, cap;
	size_t most; /* a rule need not make more, as the rest is cut off; 0: no limit */
};

/* Replaces `drop` bytes at `at` by n others, which may be a part of b. Fails when memory is
 * exhausted: then nothing has changed. */
st_status st_fuzz_bytes_splice(struct st_fuzz_bytes *b, size_t at, size_t drop, const void *with,
                               size_t n);
st_status st_fuzz_bytes_copy(struct st_fuzz_bytes *to, const struct st_fuzz_bytes *from);
void st_fuzz_bytes_free(struct st_fuzz_bytes *b);

/* The whole file. ST_FAILED with *e: it cannot be read, or has more than `most` bytes. */
st_status st_fuzz_bytes_read(struct st_fuzz_bytes *b, const char *path, size_t most,
                             struct st_error *e);
/* Writes a file. It is written under another name and renamed, so that it is complete or missing
 * after a crash. */
st_status st_fuzz_bytes_write(const struct st_fuzz_bytes *b, const char *path, struct st_error *e);

#endif
