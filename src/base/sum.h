/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A checksum of code, by which the controller and the runtime tell that they speak of the same. */
#ifndef STROBE_BASE_SUM_H
#define STROBE_BASE_SUM_H

#include <stdint.h>
#include <string.h>

/* Of n bytes, and of as many zeros as `all` has more. Never 0. */
static inline uint64_t
st_sum(const uint8_t *bytes, uint64_t n, uint64_t all)
{
	uint64_t sum = all;
	for (uint64_t at = 0; at < all; at += 8) {
		uint64_t word = 0;
		if (at < n)
			memcpy(&word, bytes + at, n - at < 8 ? n - at : 8);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 32;
	}
	return sum ? sum : 1;
}

#endif
