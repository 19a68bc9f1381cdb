/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "env.h"

#include <string.h>

static void
put16(uint64_t at, uint16_t v)
{
	memcpy((void *)at, &v, 2);
}

static void
put32(uint64_t at, uint32_t v)
{
	memcpy((void *)at, &v, 4);
}

static uint16_t
control_word(struct fz_rng *rng)
{
	return (uint16_t)(0x37f & ~(fz_below(rng, 4) << 8)) | (uint16_t)(fz_below(rng, 4) << 10);
}

static void
fill_fxsave(uint64_t at, struct fz_rng *rng)
{
	memset((void *)at, 0, 512);
	put16(at, control_word(rng));
	put16(at + 2, (uint16_t)(fz_below(rng, 8) << 11));
	put16(at + 4, (uint16_t)fz_below(rng, 256));
	put32(at + 24, 0x1f80 | fz_below(rng, 4) << 13);
	for (unsigned i = 32; i < 416; i += 4)
		put32(at + i, (uint32_t)fz_next(rng));
}

void
fz_env_fill(uint64_t page, struct fz_rng *rng)
{
	memset((void *)page, 0, FZ_ENV_SIZE);
	put16(page + FZ_ENV_FSTENV16, control_word(rng));
	put16(page + FZ_ENV_FSTENV16 + 4, 0xffff);
	put16(page + FZ_ENV_FSTENV32, control_word(rng));
	put16(page + FZ_ENV_FSTENV32 + 8, 0xffff);
	put16(page + FZ_ENV_FSAVE16, control_word(rng));
	put16(page + FZ_ENV_FSAVE32, control_word(rng));
	put32(page + FZ_ENV_MXCSR, 0x1f80 | fz_below(rng, 64) | fz_below(rng, 4) << 13);
	fill_fxsave(page + FZ_ENV_FXSAVE, rng);
	fill_fxsave(page + FZ_ENV_FXSAVE64, rng);
	fill_fxsave(page + FZ_ENV_XSAVE, rng);
	fill_fxsave(page + FZ_ENV_XSAVE64, rng);
	put32(page + FZ_ENV_XSAVE + 512, 3);
	put32(page + FZ_ENV_XSAVE64 + 512, 3);
}

void
fz_mask_fxsave(uint8_t *image)
{
	memset(image + 6, 0, 18);
}

void
fz_env_mask(uint8_t *page)
{
	memset(page + FZ_ENV_FSTENV16 + 6, 0, 8);
	memset(page + FZ_ENV_FSTENV32 + 12, 0, 16);
	memset(page + FZ_ENV_FSAVE16 + 6, 0, 8);
	memset(page + FZ_ENV_FSAVE32 + 12, 0, 16);
	fz_mask_fxsave(page + FZ_ENV_FXSAVE);
	fz_mask_fxsave(page + FZ_ENV_FXSAVE64);
	fz_mask_fxsave(page + FZ_ENV_XSAVE);
	fz_mask_fxsave(page + FZ_ENV_XSAVE64);
	/* Which components are "in use" is up to the processor. */
	memset(page + FZ_ENV_XSAVE + 512, 0, 8);
	memset(page + FZ_ENV_XSAVE64 + 512, 0, 8);
}
