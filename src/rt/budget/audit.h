/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The account against the clock. What measuring costs is charged by a model, block by block, which
 * is right on average and for the machine that its constants come from. The thread's CPU clock
 * tells how long a window has really taken; without what the program's instructions take natively
 * that is what measuring has cost. How many they were is known by samples: the blocks at which a
 * part of the credit is used up come in proportion to what they charge
 * (docs/notes/budget-account.md).
 */
#ifndef STROBE_RT_BUDGET_AUDIT_H
#define STROBE_RT_BUDGET_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Of an instruction, natively, in sixteenths of a tick. */
	AUDIT_NATIVE = 5,
	/* The model's cost may be wrong by one part in this many, and so may the estimate of native
	   time: it may be too little by far, but hardly too much. */
	AUDIT_MODEL_ERROR = 5,
	AUDIT_TOO_LITTLE = 1,
	AUDIT_TOO_MUCH = 6,
	/* The same of what is known by the program's own system calls. */
	AUDIT_LEARNT = 32,
	/* Enough of them to know it; units of the account from call to call with which they say
	   nothing of what is between them; those that are remembered, nearly. */
	AUDIT_LEAST_CALLS = 1024,
	AUDIT_SELDOM = 1 << 23,
	AUDIT_MOST_CALLS = 1 << 18,
	/* A stretch is like the others with up to that many times as many calls, or as few; with
	   too few of them nobody can tell. */
	AUDIT_ALIKE = 2,
	AUDIT_FEW_CALLS = 8,
	/* Of an instruction, natively, at the most, in sixteenths of a tick. */
	AUDIT_MOST_NATIVE = 32,
	AUDIT_FRACTION = 64, /* parts of a sixteenth */
	AUDIT_LEAST_SAMPLES = 8,
	AUDIT_MOST_SAMPLES = 256, /* that the mean is of, nearly */
};

/*
 * A program's work by its own measure, system calls, for one that makes many: natively, CPU time
 * and calls; measured, calls, what of the time was the kernel's, and instructions. Times in units
 * of the account.
 */
struct audit_work {
	uint64_t native, native_calls, seen_calls, seen_kernel, seen_insns;
};

/* Instructions for each unit that is charged, in 65536ths: the mean of the last samples. */
struct audit_rate {
	uint32_t mean, samples;
};

/* The charge of a block and the number of its instructions, in one word. */
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

/* Half of what is old is forgotten where there is much, of both at once: they must be of the same
 * time. The others may add to it meanwhile. */
static inline void
audit_forget(struct audit_work *w, uint64_t calls)
{
	uint64_t *const sums[] = {&w->native, &w->native_calls, &w->seen_calls, &w->seen_kernel,
	                          &w->seen_insns};
	for (unsigned i = 0; i < 5 && calls > AUDIT_MOST_CALLS; i++) {
		uint64_t is = __atomic_load_n(sums[i], __ATOMIC_RELAXED);
		__atomic_compare_exchange_n(sums[i], &is, is / 2, false, __ATOMIC_RELAXED,
		                            __ATOMIC_RELAXED);
	}
}

/* That many calls, in so much CPU time, were made natively. */
static inline void
audit_learn_native(struct audit_work *w, uint64_t time, uint64_t calls)
{
	__atomic_fetch_add(&w->native, time, __ATOMIC_RELAXED);
	audit_forget(w, __atomic_add_fetch(&w->native_calls, calls, __ATOMIC_RELAXED));
}

/* And that many while the thread was measured. */
static inline void
audit_learn_seen(struct audit_work *w, uint64_t calls, uint64_t kernel, uint64_t insns)
{
	__atomic_fetch_add(&w->seen_kernel, kernel, __ATOMIC_RELAXED);
	__atomic_fetch_add(&w->seen_insns, insns, __ATOMIC_RELAXED);
	audit_forget(w, __atomic_add_fetch(&w->seen_calls, calls, __ATOMIC_RELAXED));
}

/* Is a stretch with that many calls and instructions like what was measured before? A program has
 * phases, of which each has its own work from call to call. */
static inline bool
audit_is_alike(const struct audit_work *w, uint64_t calls, uint64_t insns)
{
	uint64_t all = w->seen_insns, usual = all ? insns * w->seen_calls / all : 0;
	return usual >= AUDIT_FEW_CALLS && calls * AUDIT_ALIKE >= usual &&
	       calls <= usual * AUDIT_ALIKE;
}

/* Returns the native cost of an instruction, in 1/1024 of a tick. 0: it is unknown, or larger than
 * that of any real program, so the calls belong to other work. */
static inline int64_t
audit_native(const struct audit_work *w)
{
	uint64_t calls = w->native_calls, seen = w->seen_calls, insns = w->seen_insns;
	if (calls < AUDIT_LEAST_CALLS || seen < AUDIT_LEAST_CALLS || !insns ||
	    w->native / calls > AUDIT_SELDOM)
		return 0;
	int64_t time = (int64_t)(w->native * seen / calls - w->seen_kernel),
	        each = time * AUDIT_FRACTION / (int64_t)insns;
	const int64_t least = AUDIT_NATIVE * AUDIT_FRACTION,
	              most = AUDIT_MOST_NATIVE * AUDIT_FRACTION;
	return each < least || each > most ? 0 : each;
}

/* Instructions of the program in a stretch for which the model has charged so much. */
static inline int64_t
audit_insns(int64_t model, const struct audit_rate *r)
{
	return r->samples < AUDIT_LEAST_SAMPLES || model <= 0 ? 0 : (model >> 8) * r->mean / 256;
}

/*
 * What a stretch of measuring has cost, in units of the account: `used` by the clock, `charged`
 * by the account, `timed` of it by the clock as well. The two estimates are weighed by how wrong
 * they may be: where tools do much, native time is a small part, and the clock says nearly all;
 * where they do little the model does, unless it is known what an instruction takes natively
 * (audit_native, 0: it is not) and the model is below that. Never less than half of what was
 * charged, or more than four times as much: servers whose code is spread wide take three times what
 * the model says.
 */
static inline int64_t
audit_cost(int64_t used, int64_t charged, int64_t timed, const struct audit_rate *r, int64_t each)
{
	int64_t model = charged - timed, insns = audit_insns(model, r);
	if (r->samples < AUDIT_LEAST_SAMPLES || model <= 0 || used <= 0)
		return charged;
	int64_t learnt = insns * each / AUDIT_FRACTION;
	bool is_learnt = each && used - learnt - charged > 0;
	int64_t native = is_learnt ? learnt : insns * AUDIT_NATIVE;
	int64_t more = used - native - charged;
	int64_t wrong = model / AUDIT_MODEL_ERROR, unsure = native / (is_learnt  ? AUDIT_LEARNT
	                                                              : more > 0 ? AUDIT_TOO_LITTLE
	                                                                         : AUDIT_TOO_MUCH);
	for (; (wrong | unsure) >> 24; wrong >>= 1)
		unsure >>= 1; /* their squares must fit */
	int64_t squares = wrong * wrong + unsure * unsure,
	        share = squares ? 1024 * wrong * wrong / squares : 0;
	int64_t cost = charged + more / 1024 * share;
	return cost < charged / 2 ? charged / 2 : cost > 4 * charged ? 4 * charged : cost;
}

#endif
