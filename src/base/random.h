/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers that follow from a seed, the same on every machine. Hosted code only. */
#ifndef STROBE_BASE_RANDOM_H
#define STROBE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* SplitMix64. The state begins as the seed. */
static inline uint64_t
st_random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 to n - 1, each as likely as the others. */
static inline size_t
st_random_below(uint64_t *state, size_t n)
{
	uint64_t most = UINT64_MAX - UINT64_MAX % n, drawn;
	do
		drawn = st_random_next(state);
	while (drawn >= most);
	return (size_t)(drawn % n);
}

#endif
