/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a sequence and recording everything a program could see of it. */
#ifndef FUZZ_MACHINE_H
#define FUZZ_MACHINE_H

#include "gen.h"

#include <signal.h>

enum { FZ_MAX_FAULTS = 16, FZ_XSAVE_MAX = 8192 };

/* The parts of the vector and x87 state, in one form whatever the layout it came from. */
struct fz_vectors {
	uint8_t fxsave[512];
	uint8_t ymm_high[256];
	uint8_t opmask[64];
	uint8_t zmm_high[512];
	uint8_t zmm16[1024];
};

/* One signal, as the handler saw it. */
struct fz_fault {
	int32_t sig, code;
	uint64_t address;
	uint64_t gpr[16]; /* in encoding order */
	uint64_t rip, flags, err, trapno, cr2;
	struct fz_vectors vec;
};

struct fz_result {
	bool left;   /* through the exit; otherwise a signal ended it */
	bool beyond; /* that of a transfer to a non-canonical address: nothing after it counts */
	uint64_t gpr[16], flags;
	struct fz_vectors vec;
	unsigned nfaults;
	struct fz_fault faults[FZ_MAX_FAULTS];
};

/* Prepares processor state and signal handlers. Returns 0, or -1 with a sentence on stderr. */
int fz_machine_init(enum fz_isa isa);

/* Places the code of the sequence; done once, before its runs. */
int fz_place(const struct fz_gen *g);

/* Runs it once from fresh memory and registers. */
void fz_run(const struct fz_gen *g, unsigned round, struct fz_result *r);

/* A hash of the result and of all memory. */
uint64_t fz_hash(const struct fz_gen *g, const struct fz_result *r);
uint64_t fz_hash_bytes(uint64_t h, const void *p, size_t n);

/*
 * Called before each instruction while the trap flag is set, with the place that holds the stack
 * pointer; false ends the stepping. See cover.c. NULL: no single-stepping.
 */
typedef bool fz_step_fn(uint64_t rip, const uint64_t *rsp);
extern fz_step_fn *fz_on_step;
typedef void fz_fault_fn(void);
extern fz_fault_fn *fz_on_fault;

#endif
