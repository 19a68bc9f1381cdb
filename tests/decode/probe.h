/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executes single instructions beside pages that may not be accessed. */
#ifndef STROBE_TESTS_DECODE_PROBE_H
#define STROBE_TESTS_DECODE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBE_PAGE = 4096 };

/* What enter.S loads. */
struct state {
	uint32_t vector[16][16]; /* zmm0 to zmm15 */
	uint64_t gpr[16];        /* by the numbers of their encoding */
	uint64_t k[8];
	uint64_t flags;
};

enum probe_end {
	PROBE_DONE,    /* it ended */
	PROBE_INVALID, /* #UD */
	PROBE_FAULT,   /* page fault in a forbidden page */
	PROBE_OTHER,   /* another exception: misaligned, privileged, divided by zero .. */
};

struct probe {
	uint8_t *page;    /* the one that is tried, between two forbidden ones */
	uint8_t *scratch; /* the middle of memory for all other accesses */
	uint8_t *code;    /* room for one instruction */
	uintptr_t fault;  /* of the last PROBE_FAULT */
};

bool probe_open(struct probe *p);

/* Fills page and scratch with a byte. */
void probe_fill(struct probe *p, int byte);
void probe_allow_writes(struct probe *p, bool allow);

/* Executes the instruction that probe_put has put at p->code. */
void probe_put(struct probe *p, const uint8_t *bytes, unsigned length);
enum probe_end probe_run(struct probe *p, const struct state *s);

#endif
