/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The account against the clock. What measuring costs is charged by a model, block by block, which
 * is right on average and for the machine that its constants come from. The thread's CPU clock
 * tells how long a window has really taken; without what the program's instructions take natively
 * that is what measuring has cost. How many they were is known by samples: the blocks at which a
 * part of the credit is used up come in proportion to what they charge. docs/notes/budget.md.
 */
#ifndef STROBE_RT_AUDIT_H
#define STROBE_RT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Of an instruction, natively, in sixteenths of a tick. */
	AUDIT_NATIVE = 5,
	/* One part in so many is what the model's cost may be wrong by, and the estimate of native
	   time: it may be too little by far, but hardly too much. */
	AUDIT_MODEL_ERROR = 5,
	AUDIT_TOO_LITTLE = 1,
	AUDIT_TOO_MUCH = 6,
	AUDIT_LEAST_SAMPLES = 8,
	AUDIT_MOST_SAMPLES = 256, /* that the mean is of, nearly */
};

/* Instructions for each unit that is charged, in 65536ths: the mean of the last samples. */
struct audit_rate {
	uint32_t mean, samples;
};

/* What a block charges, and how many instructions of the program it has, in one word. */
static inline uint32_t
audit_pack(uint32_t amount, uint32_t insns)
{
	enum { MOST_AMOUNT = (1 << 20) - 1, MOST_INSNS = (1 << 12) - 1 };
	return (amount < MOST_AMOUNT ? amount : MOST_AMOUNT) << 12 |
	       (insns < MOST_INSNS ? insns : MOST_INSNS);
}

static inline void
audit_sample(struct audit_rate *r, uint32_t packed)
{
	uint32_t amount = packed >> 12;
	if (!amount)
		return;
	int64_t seen = (int64_t)(((packed & 0xfff) << 16) / amount);
	if (r->samples < AUDIT_MOST_SAMPLES)
		r->samples++;
	r->mean = (uint32_t)(r->mean + (seen - (int64_t)r->mean) / (int64_t)r->samples);
}

/*
 * What a stretch of measuring has cost, in units of the account: `used` by the clock, `charged`
 * by the account, `timed` of it by the clock as well. The two estimates are weighed by how wrong
 * they may be: where tools do much, native time is a small part, and the clock says nearly all;
 * where they do little the model does. Never less than half of what was charged, or more than four
 * times as much: servers whose code is spread wide take three times what the model says.
 */
static inline int64_t
audit_cost(int64_t used, int64_t charged, int64_t timed, const struct audit_rate *r)
{
	int64_t model = charged - timed;
	if (r->samples < AUDIT_LEAST_SAMPLES || model <= 0 || used <= 0)
		return charged;
	int64_t native = (model >> 8) * r->mean / 256 * AUDIT_NATIVE;
	int64_t more = used - native - charged;
	int64_t wrong = model / AUDIT_MODEL_ERROR,
	        unsure = native / (more > 0 ? AUDIT_TOO_LITTLE : AUDIT_TOO_MUCH);
	for (; (wrong | unsure) >> 24; wrong >>= 1)
		unsure >>= 1; /* their squares must fit */
	int64_t squares = wrong * wrong + unsure * unsure,
	        share = squares ? 1024 * wrong * wrong / squares : 0;
	int64_t cost = charged + more / 1024 * share;
	return cost < charged / 2 ? charged / 2 : cost > 4 * charged ? 4 * charged : cost;
}

#endif
