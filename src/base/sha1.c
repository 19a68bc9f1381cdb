/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-1, by FIPS 180-4. */
#include "base/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 80 };

struct sha1 {
	uint32_t h[5];
	unsigned char block[BLOCK];
	uint64_t n; /* bytes so far */
};

static uint32_t
sha1_turn(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static uint32_t
sha1_mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return ((b & c) | (~b & d)) + 0x5a827999;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1;
	case 2:
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	default:
		return (b ^ c ^ d) + 0xca62c1d6;
	}
}

static void
sha1_block(struct sha1 *s)
{
	uint32_t w[ROUNDS], h[5];
	for (unsigned i = 0; i < 16; i++) {
		const unsigned char *at = s->block + (size_t)4 * i;
		w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	}
	for (unsigned i = 16; i < ROUNDS; i++)
		w[i] = sha1_turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(h, s->h, sizeof h);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t next = sha1_turn(h[0], 5) + sha1_mix(i, h[1], h[2], h[3]) + h[4] + w[i];
		h[4] = h[3];
		h[3] = h[2];
		h[2] = sha1_turn(h[1], 30);
		h[1] = h[0];
		h[0] = next;
	}
	for (unsigned i = 0; i < 5; i++)
		s->h[i] += h[i];
}

static void
sha1_add(struct sha1 *s, const unsigned char *bytes, size_t n)
{
	while (n) {
		size_t at = s->n % BLOCK, take = BLOCK - at < n ? BLOCK - at : n;
		memcpy(s->block + at, bytes, take);
		s->n += take;
		bytes += take;
		n -= take;
		if (s->n % BLOCK == 0)
			sha1_block(s);
	}
}

void
st_sha1_hex(const void *head, size_t n_head, const void *body, size_t n_body,
            char hex[ST_SHA1_HEX + 1])
{
	static const unsigned char zeros[BLOCK];
	struct sha1 s = {.h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
	unsigned char bits[8];
	sha1_add(&s, head, n_head);
	sha1_add(&s, body, n_body);
	uint64_t n = 8 * s.n;
	for (unsigned i = 0; i < 8; i++)
		bits[i] = (unsigned char)(n >> (56 - 8 * i));
	sha1_add(&s, (const unsigned char *)"\x80", 1);
	sha1_add(&s, zeros, (size_t)(2 * BLOCK - 8 - s.n % BLOCK) % BLOCK);
	sha1_add(&s, bits, sizeof bits);
	for (unsigned i = 0; i < 5; i++)
		snprintf(hex + (size_t)8 * i, 9, "%08x", s.h[i]);
}
