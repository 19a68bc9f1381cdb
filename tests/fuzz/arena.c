/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arena.h"

#include "env.h"
#include "rng.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* "near" is next to a position-independent program without address-space randomisation. */
struct fz_region fz_regions[FZ_NREGIONS] = {
        {"low", 0x1f300000, true},      {"mid", 0x9f300000, true},
        {"near", 0x555560000000, true}, {"far", 0x234560000000, true},
        {"high", 0x6b1230000000, true},
};

struct fz_arena fz_arena = {
        .main = 0x3a1000010000,
        .readonly = 0x3a1000020000,
        .none = 0x3a1000030000,
        .env = 0x3a1000050000,
        .fs = 0x3a1000070000,
        .stack = 0x3b1000010000,
        .low = 0x1e310000,
};

#define POOL 0x10000
static uint64_t pool[POOL / 8];

static int
map(uint64_t at, size_t size, int prot)
{
	void *p = mmap((void *)at, size, prot,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);

	if (p == (void *)at)
		return 0;
	fprintf(stderr,
	        "insnfuzz: cannot map %zu bytes at 0x%llx (%s); something else is there: leave the "
	        "region out "
	        "with --regions\n",
	        size, (unsigned long long)at,
	        p == MAP_FAILED ? strerror(errno) : "address ignored");
	return -1;
}

static int
map_region(const struct fz_region *r)
{
	int rw = PROT_READ | PROT_WRITE;

	if (map(r->base + FZ_R_BEFORE, FZ_PAGE, rw) || map(r->base + FZ_R_CTRL, FZ_PAGE, rw) ||
	    map(r->base + FZ_R_CODE, FZ_CODE_SLOTS * FZ_SLOT, rw) ||
	    map(r->base + FZ_R_RWX, FZ_RWX_SLOTS * FZ_SLOT, rw | PROT_EXEC) ||
	    map(r->base + FZ_R_AFTER, FZ_PAGE, rw))
		return -1;
	return 0;
}

static bool
named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == 0))
			return true;
	}
	return false;
}

static void
use_low_addresses(void)
{
	fz_arena = (struct fz_arena){
	        .main = 0x2a010000,
	        .readonly = 0x2a020000,
	        .none = 0x2a030000,
	        .env = 0x2a050000,
	        .fs = 0x2a070000,
	        .stack = 0x2b010000,
	        .low = 0x1e310000,
	};
}

static int
map_data(void)
{
	int rw = PROT_READ | PROT_WRITE;

	if (map(fz_arena.main, FZ_MAIN_SIZE, rw) || map(fz_arena.readonly, FZ_PAGE, rw) ||
	    map(fz_arena.none, FZ_PAGE, rw) || map(fz_arena.low, FZ_PAGE, rw) ||
	    map(fz_arena.env, FZ_ENV_SIZE, rw) || map(fz_arena.fs, FZ_PAGE, rw) ||
	    map(fz_arena.stack, FZ_STACK_SIZE, rw))
		return -1;
	memset((void *)fz_arena.readonly, 0x5a, FZ_PAGE);
	mprotect((void *)fz_arena.readonly, FZ_PAGE, PROT_READ);
	mprotect((void *)fz_arena.none, FZ_PAGE, PROT_NONE);
	return 0;
}

int
fz_arena_map(const char *only, bool low)
{
	struct fz_rng rng = {.state = 0x5eed};
	unsigned n = 0;

	for (size_t i = 0; i < POOL / 8; i++)
		pool[i] = fz_next(&rng);
	if (low)
		use_low_addresses();
	for (int i = 0; i < FZ_NREGIONS; i++) {
		struct fz_region *r = &fz_regions[i];

		r->enabled = (!only || named(only, r->name)) && (!low || r->base < 1ull << 32);
		if (r->enabled && map_region(r) != 0)
			return -1;
		n += r->enabled;
	}
	if (n == 0) {
		fprintf(stderr,
		        "insnfuzz: no code region left; the names are low, mid, near, far, high\n");
		return -1;
	}
	return map_data();
}

static void
fill_one(void *arg, const char *name, uint64_t start, size_t size)
{
	struct fz_rng *rng = arg;
	size_t from = fz_below(rng, (POOL - FZ_STACK_SIZE) / 64) * 64;

	(void)name;
	memcpy((void *)start, (char *)pool + from, size);
}

void
fz_arena_fill(const struct fz_region *r, uint64_t seed)
{
	struct fz_rng rng = {.state = seed};

	fz_arena_each(r, fill_one, &rng);
	fz_env_fill(fz_arena.env, &rng);
}

void
fz_arena_each(const struct fz_region *r, fz_arena_fn *fn, void *arg)
{
	fn(arg, "main", fz_arena.main, FZ_MAIN_SIZE);
	fn(arg, "low", fz_arena.low, FZ_PAGE);
	fn(arg, "before", r->base + FZ_R_BEFORE, FZ_PAGE);
	fn(arg, "after", r->base + FZ_R_AFTER, FZ_PAGE);
	fn(arg, "fs", fz_arena.fs, FZ_PAGE);
	fn(arg, "stack", fz_arena.stack, FZ_STACK_SIZE);
	fn(arg, "env", fz_arena.env, FZ_ENV_SIZE);
}
