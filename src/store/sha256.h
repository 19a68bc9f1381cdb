/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4): the names of what the store keeps. */
#ifndef STROBE_STORE_SHA256_H
#define STROBE_STORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { ST_HASH_BYTES = 32, ST_HASH_HEX = 2 * ST_HASH_BYTES };

struct st_hash {
	unsigned char v[ST_HASH_BYTES];
};

struct st_hash st_sha256(const void *bytes, size_t n);
/* As hexadecimal digits, with a NUL. Returns hex. */
const char *st_hash_hex(const struct st_hash *h, char hex[ST_HASH_HEX + 1]);

#endif
