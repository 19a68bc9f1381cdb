/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state page: the only memory that instructions which save or load whole machine states
 * (fnstenv, fxsave, xsave, ...) may use. Each layout has its own place, so that the
 * last-instruction pointers in it, which no engine that runs code elsewhere can keep, are known and
 * cleared before the comparison.
 */
#ifndef FUZZ_ENV_H
#define FUZZ_ENV_H

#include "rng.h"

#include <stddef.h>
#include <stdint.h>

enum {
	FZ_ENV_FSTENV16 = 0x000,
	FZ_ENV_FSTENV32 = 0x040,
	FZ_ENV_FSAVE16 = 0x080,
	FZ_ENV_FSAVE32 = 0x140,
	FZ_ENV_MXCSR = 0x1e0,
	FZ_ENV_FXSAVE = 0x200,
	FZ_ENV_FXSAVE64 = 0x400,
	FZ_ENV_XSAVE = 0x800,
	FZ_ENV_XSAVE64 = 0x1800,
	FZ_ENV_SIZE = 0x3000,
};

/* Fills the page at `page` with states that can be loaded. */
void fz_env_fill(uint64_t page, struct fz_rng *rng);

/* Clears what may differ although the program behaved the same. */
void fz_env_mask(uint8_t *page);

/* Clears the instruction and data pointers and the opcode in an FXSAVE-shaped image. */
void fz_mask_fxsave(uint8_t *image);

#endif
