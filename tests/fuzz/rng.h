/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small deterministic generator (splitmix64): the same seed gives the same sequence on every run.
 */
#ifndef FUZZ_RNG_H
#define FUZZ_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct fz_rng {
	uint64_t state;
};

static inline uint64_t
fz_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint64_t
fz_next(struct fz_rng *r)
{
	r->state += 0x9e3779b97f4a7c15u;
	return fz_mix(r->state);
}

/* A number in [0, n); n > 0. */
static inline uint32_t
fz_below(struct fz_rng *r, uint32_t n)
{
	return (uint32_t)(((fz_next(r) >> 32) * n) >> 32);
}

/* True in `percent` of 100 draws. */
static inline bool
fz_chance(struct fz_rng *r, unsigned percent)
{
	return fz_below(r, 100) < percent;
}

#endif
