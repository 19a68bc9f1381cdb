/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A budget in bursts (--sampling): a period is divided into that many stretches of the same length,
 * and in each of them another part of the budget is granted. What a burst has left is there for the
 * next one of the same period.
 *
 * A burst begins somewhere in the first half of its stretch, elsewhere each time: a program that
 * does the same thing once in each stretch is seen doing other things, too.
 */
#ifndef STROBE_RT_BUDGET_BURSTS_H
#define STROBE_RT_BUDGET_BURSTS_H

#include <stdint.h>

/* Of the amount of a period, how much may have been granted when `passed` ns of it are over. All of
 * it where there are no bursts (bursts: 0 or 1). The first burst of the period with the number 0
 * begins at once. */
static inline int64_t
bursts_due(int64_t amount, uint32_t bursts, uint64_t period_ns, uint64_t number, uint64_t passed)
{
	if (bursts < 2)
		return amount;
	uint64_t stretch = period_ns / bursts, begun = passed / stretch;
	if (begun >= bursts)
		return amount;
	/* Multiples of the golden ratio: they never come near each other. */
	uint64_t part = (number * bursts + begun) * 0x9e3779b97f4a7c15u >> 48;
	uint64_t begin = (stretch / 2 * part) >> 16;
	begun += passed % stretch >= begin;
	return begun == bursts ? amount : amount / (int64_t)bursts * (int64_t)begun;
}

#endif
