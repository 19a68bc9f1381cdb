/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a probed image's stubs lie in: within 2 GiB of the image, written by the
 * controller only. The process can read and execute it. Stubs grow upward from the beginning, and
 * the list of patches grows downward from the end. Each process has its own list, since each has
 * its own patches.
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
	ST_ARENA_POINT = 40,   /* 8 bytes: address of the handler of points within functions */
	ST_ARENA_CLOCK = 48,   /* 8 bytes: address of the function that stands for a clock's */
	ST_ARENA_DEADLINE = 56, /* 8 bytes: address of the handler of calls with a deadline */
	ST_ARENA_STUBS = 64,    /* the first stub; each begins at a multiple of ST_ARENA_ALIGN */
	ST_ARENA_ALIGN = 16,
	ST_ARENA_BYTES = 32 << 20,
	ST_ARENA_GAP = 4096, /* least distance between stubs and patches; larger than a stub */
	ST_ARENA_PATCH = 8,  /* bytes of code, at most */
};

/* Code that the controller has overwritten, or is about to overwrite. */
struct st_arena_patch {
	uint64_t at;
	uint8_t is[ST_ARENA_PATCH], was[ST_ARENA_PATCH];
	uint64_t n;
};

/* Offset of the n-th patch in the arena. */
static inline uint64_t
st_arena_patch_at(uint64_t n)
{
	return ST_ARENA_BYTES - (n + 1) * sizeof(struct st_arena_patch);
}

#endif
