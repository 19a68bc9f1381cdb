/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a probed image's stubs lie in: within 2 GiB of the image, written by the
 * controller only. The process can read and execute it. Stubs lie one behind the other from the
 * beginning on, and from the end back is the list of what has been patched: that belongs to each
 * process alone, as the patches themselves do.
 */
#ifndef STROBE_WIRE_PROBE_ARENA_H
#define STROBE_WIRE_PROBE_ARENA_H

#include <stdint.h>

enum {
	ST_ARENA_ENTRY = 0,    /* 8 bytes: address of the handler of entries */
	ST_ARENA_RETURN = 8,   /* 8 bytes: address of the handler of patched returns */
	ST_ARENA_ALLOC = 16,   /* 8 bytes: address of the handler of allocations */
	ST_ARENA_READ = 24,    /* 8 bytes: address of the handler of entries that reads arguments */
	ST_ARENA_PATCHED = 32, /* 8 bytes: number of struct st_arena_patch */
	ST_ARENA_STUBS = 64,   /* the first stub; each begins at a multiple of ST_ARENA_ALIGN */
	ST_ARENA_ALIGN = 16,
	ST_ARENA_BYTES = 32 << 20,
	ST_ARENA_GAP = 4096, /* that stays between stubs and patches; more than a stub has */
	ST_ARENA_PATCH = 8,  /* bytes of code, at most */
};

/* Bytes that are, or are about to be, others than the program's. */
struct st_arena_patch {
	uint64_t at;
	uint8_t is[ST_ARENA_PATCH], was[ST_ARENA_PATCH];
	uint64_t n;
};

/* Where the n-th of them lies in the arena. */
static inline uint64_t
st_arena_patch_at(uint64_t n)
{
	return ST_ARENA_BYTES - (n + 1) * sizeof(struct st_arena_patch);
}

#endif
