/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where random code and its data live. Every address is fixed, so that outputs do not depend on
 * address-space randomisation, nor on what else is mapped.
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inside a code region, as offsets from its base. */
enum {
	FZ_R_BEFORE =
	        0x10000,     /* one data page below the code; the pages around it are not mapped */
	FZ_R_CTRL = 0x20000, /* jump tables, loop counters, the way out: no target of random
	                        addresses */
	FZ_R_CODE = 0x40000, /* never writable and executable at once */
	FZ_R_RWX = 0x80000,  /* writable and executable */
	FZ_R_AFTER = 0x100000, /* one data page above the code */
	FZ_SLOT = 0x2000,      /* room for one sequence */
	FZ_CODE_SLOTS = 24,
	FZ_RWX_SLOTS = 4,
	FZ_PAGE = 0x1000,
};

/* Slots of the control page, in 8-byte units. */
enum {
	FZ_CTRL_EXIT = 0,
	FZ_CTRL_TABLE = 8,
	FZ_CTRL_TABLE_END = 256,
	FZ_CTRL_COUNTER = 256,
	FZ_CTRL_END = 384
};

struct fz_region {
	const char *name;
	uint64_t base;
	bool enabled;
};

/* The memory a sequence works on. */
struct fz_arena {
	uint64_t main;     /* FZ_MAIN_SIZE bytes of data, unmapped pages around them */
	uint64_t readonly; /* one page without write permission */
	uint64_t none;     /* one page without any permission */
	uint64_t low;      /* one data page below 2 GiB */
	uint64_t env;      /* images of the x87 and vector state, see env.h; no target of random
	                      addresses */
	uint64_t fs;       /* one data page that FS points to where a sequence uses it */
	uint64_t stack;    /* FZ_STACK_SIZE bytes, unmapped pages around them */
};

enum { FZ_MAIN_SIZE = 0x2000, FZ_STACK_SIZE = 0x6000, FZ_NREGIONS = 5 };

extern struct fz_region fz_regions[FZ_NREGIONS];
extern struct fz_arena fz_arena;

/*
 * Maps everything. `only` names the regions to use, separated by commas (NULL: all); `low` puts all
 * data below 4 GiB, for engines with a small address space. Returns 0, or -1 with a sentence on
 * stderr.
 */
int fz_arena_map(const char *only, bool low);

/* Fills all data of the sequence with bytes that depend on `seed` only. */
void fz_arena_fill(const struct fz_region *r, uint64_t seed);

/* Calls `fn` for each block of memory that is compared after a run. */
typedef void fz_arena_fn(void *arg, const char *name, uint64_t start, size_t size);
void fz_arena_each(const struct fz_region *r, fz_arena_fn *fn, void *arg);

#endif
