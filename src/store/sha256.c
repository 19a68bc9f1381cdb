/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/sha256.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

static const uint32_t round_constants[ROUNDS] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};

static inline uint32_t
sha_rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void
sha_schedule(uint32_t w[ROUNDS], const unsigned char *block)
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] + (sha_rotate(a, 7) ^ sha_rotate(a, 18) ^ a >> 3) +
		       (sha_rotate(b, 17) ^ sha_rotate(b, 19) ^ b >> 10);
	}
}

static void
sha_take(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[ROUNDS], s[8];
	sha_schedule(w, block);
	memcpy(s, state, sizeof s);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t a = s[0], e = s[4];
		uint32_t one = s[7] + (sha_rotate(e, 6) ^ sha_rotate(e, 11) ^ sha_rotate(e, 25)) +
		               ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + w[i];
		uint32_t two = (sha_rotate(a, 2) ^ sha_rotate(a, 13) ^ sha_rotate(a, 22)) +
		               ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

struct st_hash
st_sha256(const void *bytes, size_t n)
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	unsigned char last[2 * BLOCK] = {0};
	const unsigned char *at = bytes;
	size_t left = n;
	for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
		sha_take(state, at);
	if (left)
		memcpy(last, at, left);
	last[left] = 0x80;
	size_t used = left + 9 > BLOCK ? 2 * BLOCK : BLOCK;
	for (int i = 0; i < 8; i++)
		last[used - 1 - (size_t)i] = (unsigned char)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < used; i += BLOCK)
		sha_take(state, last + i);
	struct st_hash hash;
	for (int i = 0; i < ST_HASH_BYTES; i++)
		hash.v[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
	return hash;
}

const char *
st_hash_hex(const struct st_hash *h, char hex[ST_HASH_HEX + 1])
{
	for (int i = 0; i < ST_HASH_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", h->v[i]);
	return hex;
}
