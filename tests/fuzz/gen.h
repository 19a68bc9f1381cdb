/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The generator: from (seed, index) a plan, a tree of units, and from the plan code. A unit is one
 * instruction with what it needs, or a structure around other units. Each unit has its own random
 * numbers, so a plan from which units are dropped still gives the same code for the rest: that is
 * how a failing sequence is minimised.
 */
#ifndef FUZZ_GEN_H
#define FUZZ_GEN_H

#include "arena.h"
#include "code.h"
#include "corpus.h"
#include "insn.h"
#include "rng.h"

enum { FZ_MAX_UNITS = 96, FZ_MAX_BOUNDS = 256, FZ_MAX_LEAVES = 48 };

/* kind, weight, largest number of child units (0: never any) */
#define FZ_UNITS(X)                                                                                \
	X(insn, 560, 0)                                                                            \
	X(flags, 70, 0)                                                                            \
	X(store, 40, 0)                                                                            \
	X(stack, 60, 0)                                                                            \
	X(skip, 60, 4)                                                                             \
	X(loop, 35, 5)                                                                             \
	X(call, 45, 4)                                                                             \
	X(icall, 30, 4)                                                                            \
	X(ijump, 30, 2)                                                                            \
	X(switch, 15, 4)                                                                           \
	X(recurse, 6, 3)                                                                           \
	X(pushret, 15, 0)                                                                          \
	X(callpop, 12, 0)                                                                          \
	X(overlap, 10, 0)                                                                          \
	X(smc, 20, 0)                                                                              \
	X(syscall, 12, 0)                                                                          \
	X(cpu, 6, 0)                                                                               \
	X(fault, 14, 0)

#define FZ_UNIT_ENUM(name, weight, children) FZ_U_##name,
enum fz_unit_kind { FZ_UNITS(FZ_UNIT_ENUM) FZ_NKINDS };
#undef FZ_UNIT_ENUM

struct fz_options {
	uint64_t seed;
	const struct fz_corpus *corpus; /* NULL: random encodings only */
	enum fz_isa isa;
	unsigned max_units;
	int repeat; /* 0: as the sequence wants */
	bool no_fs, no_smc, no_syscalls, no_faults, no_rwx;
	bool loose_signals; /* end at the first fault, compare only what and where it was */
	uint32_t kinds;     /* bit k: units of kind k may be planned */
};

struct fz_unit {
	uint8_t kind;
	uint16_t end; /* first unit after this one and its children */
	uint64_t seed;
};

/* A place where a signal handler may resume, and which unit starts there. */
struct fz_bound {
	uint32_t offset;
	uint16_t unit;
};

/* A function to be placed after the way out. */
struct fz_leaf {
	uint16_t unit;
	uint16_t label;
	uint16_t self; /* label for recursion */
	uint16_t counter;
	uint16_t reserved;
	uint8_t end; /* how it returns, enum in flow.c */
	uint8_t arg;
};

struct fz_gen {
	const struct fz_options *opt;
	struct fz_rng rng; /* of the unit being emitted */
	uint64_t index, seed;

	/* The plan. */
	struct fz_unit units[FZ_MAX_UNITS];
	unsigned nunits;
	const uint8_t *selected; /* NULL: all units; else one byte each */

	/* Where it runs. */
	const struct fz_region *region;
	bool rwx;
	unsigned slot;
	uint64_t gpr[16]; /* at the start */
	uint64_t flags;
	unsigned repeat;
	bool resume; /* after a fault, go on with the next unit */
	bool uses_fs;

	/* The code so far. */
	struct fz_code code;
	struct fz_bound bounds[FZ_MAX_BOUNDS];
	unsigned nbounds;
	struct fz_leaf leaves[FZ_MAX_LEAVES];
	unsigned nleaves;
	uint64_t ctrl[FZ_CTRL_END];
	unsigned next_table, next_counter;
	uint16_t reserved; /* registers that hold loop counters */
	uint16_t known;    /* registers whose value is in value[] */
	uint64_t value[16];
	bool balanced;       /* the stack pointer must stay where it is */
	unsigned iterations; /* of all loops around */
	bool force_near;
};

/* Makes sequence `index`. `selected` as in struct fz_gen. */
void fz_generate(struct fz_gen *g, const struct fz_options *opt, uint64_t index,
                 const uint8_t *selected);

const char *fz_unit_name(unsigned kind);

/* For the emitters. */
void fz_emit_range(struct fz_gen *g, unsigned first, unsigned end);
void fz_emit_leaves(struct fz_gen *g);
void fz_add_bound(struct fz_gen *g, unsigned unit);
void fz_junk(struct fz_gen *g, unsigned n);
unsigned fz_pick_reg(struct fz_gen *g, unsigned avoid_set);
uint64_t fz_some_value(struct fz_rng *rng);
uint64_t fz_ctrl_address(const struct fz_gen *g, unsigned slot);
unsigned fz_new_counter(struct fz_gen *g);
unsigned fz_new_table(struct fz_gen *g, unsigned n);
void fz_set_reg(struct fz_gen *g, unsigned r, uint64_t v);
void fz_produce_flags(struct fz_gen *g);
void fz_use_flags(struct fz_gen *g);

static inline bool
fz_reserved(const struct fz_gen *g, unsigned r)
{
	return r == RSP || (g->reserved >> r & 1);
}

static inline void
fz_clobber(struct fz_gen *g, unsigned set)
{
	g->known = (uint16_t)(g->known & ~set);
}

#define FZ_UNIT_EMIT(name, weight, children) void fz_emit_##name(struct fz_gen *g, unsigned unit);
FZ_UNITS(FZ_UNIT_EMIT)
#undef FZ_UNIT_EMIT

#endif
