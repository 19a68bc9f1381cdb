/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers in few bytes: seven bits in each, the lowest first; the last byte is less than 128. */
#ifndef STROBE_BASE_VARINT_H
#define STROBE_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

/* Most bytes of a number of 64 bits. */
enum { ST_VARINT_MOST = 10 };

/* Returns where the next one goes. */
static inline unsigned char *
st_varint_put(unsigned char *at, uint64_t n)
{
	for (; n > 127; n >>= 7)
		*at++ = (unsigned char)(n | 128);
	*at++ = (unsigned char)n;
	return at;
}

/* Reads one of at most `bits` bits and moves *at behind it. False: it is longer than that, or than
 * what there is. */
static inline bool
st_varint_take(const unsigned char **at, const unsigned char *end, unsigned bits, uint64_t *n)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < bits && *at < end; shift += 7) {
		unsigned char byte = *(*at)++;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*n = value;
			return bits == 64 || !(value >> bits);
		}
	}
	return false;
}

/* Small numbers of either sign are small: the sign is in the lowest bit. */
static inline uint64_t
st_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (0 - (uint64_t)(n < 0));
}

static inline int64_t
st_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

#endif
