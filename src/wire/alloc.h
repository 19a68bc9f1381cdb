/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations of memory, as the probe runtime counts them (src/rt/probe/alloc.c) and the controller
 * reads them (src/mem). All of it lies in the area of wire/probe.h; the controller makes it before
 * the first allocation.
 */
#ifndef STROBE_WIRE_ALLOC_H
#define STROBE_WIRE_ALLOC_H

#include <stdint.h>

/* What a function does that has a probe with ST_PROBE_ALLOC: the action's amount. K(identifier,
 * name of the function) */
#define ST_ALLOC_FUNCTIONS(K)                                                                      \
	K(MALLOC, "malloc")                                                                        \
	K(CALLOC, "calloc")                                                                        \
	K(REALLOC, "realloc")                                                                      \
	K(REALLOCARRAY, "reallocarray")                                                            \
	K(ALIGNED, "aligned_alloc")                                                                \
	K(ALIGNED, "memalign")                                                                     \
	K(MALLOC, "valloc")                                                                        \
	K(MALLOC, "pvalloc")                                                                       \
	K(POSIX_MEMALIGN, "posix_memalign")                                                        \
	K(FREE, "free")                                                                            \
	K(FREE, "cfree")                                                                           \
	K(FREE, "free_sized")                                                                      \
	K(FREE, "free_aligned_sized")                                                              \
	K(MMAP, "mmap")                                                                            \
	K(MMAP, "mmap64")                                                                          \
	K(MUNMAP, "munmap")                                                                        \
	K(MREMAP, "mremap")

enum st_alloc_kind {
	ST_ALLOC_NONE,
	ST_ALLOC_MALLOC,
	ST_ALLOC_CALLOC,
	ST_ALLOC_REALLOC,
	ST_ALLOC_REALLOCARRAY,
	ST_ALLOC_ALIGNED,
	ST_ALLOC_POSIX_MEMALIGN,
	ST_ALLOC_FREE,
	ST_ALLOC_MMAP,
	ST_ALLOC_MUNMAP,
	ST_ALLOC_MREMAP,
};

/* The heap, and memory that the program has mapped itself. They are counted apart. */
enum st_alloc_domain { ST_ALLOC_HEAP, ST_ALLOC_MAPPED, ST_ALLOC_DOMAINS };

enum {
	ST_ALLOC_IMAGES = 4096,
	ST_ALLOC_NODES = 1 << 22,
	ST_ALLOC_CONTEXTS = 1 << 20,
	ST_ALLOC_BUCKETS = 1 << 18,
	ST_ALLOC_REGIONS = 1 << 20,
	ST_ALLOC_MAPPINGS = 1 << 16,
	ST_ALLOC_DEPTH = 512, /* callers of an allocation that are told apart */
	ST_ALLOC_RULES = 4096,
	ST_ALLOC_CLASSES = 65,   /* of sizes: class n has those below 2^n, from 2^(n-1) on */
	ST_ALLOC_SIZE_BITS = 40, /* of a block */
};

/* Code that is mapped, and its unwind information (.eh_frame_hdr). */
struct st_alloc_image {
	uint64_t from, to; /* of the code; to 0: it is gone */
	uint64_t frames;   /* 0: there is none */
	/* Without it: .eh_frame, and the table that the runtime has made of it: offset / 8, and its
	 * entries + 1; 0: not made yet. */
	uint64_t lone, lone_end;
	uint32_t table, n_table;
	uint64_t low, high; /* memory around `frames` that can be read */
};

/* A path from the outermost function to a call: the return addresses. Numbers are indices. */
struct st_alloc_node {
	uint64_t pc;      /* a return address; of the innermost node: the allocation function */
	uint32_t parent;  /* ST_ALLOC_ROOT, ST_ALLOC_CUT, or a node before it */
	uint32_t next;    /* in its bucket; 0: none */
	uint32_t context; /* of the innermost node; 0: none */
	uint32_t unused;
};
enum { ST_ALLOC_ROOT, ST_ALLOC_CUT /* its callers are not known */, ST_ALLOC_FIRST_NODE };

/* The allocations of a context. Bytes are the requested ones. */
struct st_alloc_context {
	uint32_t node, domain;
	uint64_t calls,
	        bytes; /* allocations that succeeded; a reallocation is one, of its new size */
	uint64_t live, live_blocks; /* that have not been given back */
	uint64_t own_peak;          /* the most that was live */
	uint64_t at_peak;           /* live when the domain's peak number `epoch` was reached */
	uint64_t epoch;
	uint64_t short_lived; /* blocks that their thread gave back before it allocated another */
	uint64_t largest;     /* bytes of one */
};

struct st_alloc_totals {
	uint64_t calls, bytes;
	uint64_t frees, freed; /* blocks, bytes */
	uint64_t live, live_blocks;
	uint64_t peak, epoch;     /* epoch: how often the peak has risen */
	uint64_t in_place, moved; /* reallocations */
	uint64_t failed;          /* calls */
	uint64_t unknown;         /* blocks given back that were not known: that count nothing */
	uint64_t short_lived;
	uint64_t classes[ST_ALLOC_CLASSES]; /* calls by their sizes */
};

struct st_alloc_region {
	uint64_t key;    /* 0: free */
	uint64_t blocks; /* offset / 8 of ST_ALLOC_SLOTS numbers */
	uint64_t live;   /* bytes of the blocks that begin in it */
	uint64_t reach;  /* the last block's end, from the region's begin, since live was 0 */
};
/* A region is 64 KiB, or half of the places in one: those that are a multiple of 16 bytes, and
 * others. A block's number has its context and its size. */
enum { ST_ALLOC_REGION_BITS = 16, ST_ALLOC_SLOTS = 1 << (ST_ALLOC_REGION_BITS - 4) };

struct st_alloc_mapping {
	uint64_t from, to;
	uint32_t context, unused;
};

struct st_alloc_area {
	uint64_t lock;   /* thread pointer of who has it; 0: free */
	uint64_t missed; /* calls that could not be counted: no room, or in a signal handler */
	uint64_t cut;    /* allocations whose callers are not all known */
	uint32_t n_nodes, n_contexts; /* the first ones are nobody's */
	uint32_t n_images, version;   /* version: changes with each image */
	uint32_t n_mappings;
	uint32_t without_callers; /* stacks are not walked to find the callers */
	uint32_t n_regions, unused;
	struct st_alloc_totals totals[ST_ALLOC_DOMAINS];
	struct st_alloc_image images[ST_ALLOC_IMAGES];
	struct st_alloc_mapping mappings[ST_ALLOC_MAPPINGS]; /* ordered */
	uint32_t buckets[ST_ALLOC_BUCKETS];
	struct st_alloc_region regions[ST_ALLOC_REGIONS];
	uint32_t region_list[ST_ALLOC_REGIONS]; /* those that are not free, as they were made */
	struct st_alloc_context contexts[ST_ALLOC_CONTEXTS];
	struct st_alloc_node nodes[ST_ALLOC_NODES];
};

/* ---- of each thread, for the runtime alone ---- */

/* A caller on the stack: its return address, where that lies, the frame pointer then, and where the
 * next caller's frame pointer lies (0: it is the same). */
struct st_alloc_frame {
	uint64_t slot, pc, bp, bp_at;
	uint32_t node;
	uint32_t is_odd; /* how its caller is found depends on more than that */
};

enum st_alloc_how { ST_ALLOC_SIMPLE, ST_ALLOC_ODD, ST_ALLOC_OUTERMOST, ST_ALLOC_LOST };

/* The rule by which the caller of the code at a return address is found. */
struct st_alloc_rule {
	uint64_t key; /* the address and the images' version; 0: none */
	int32_t cfa;  /* from the stack pointer or the frame pointer */
	int32_t bp;   /* from the CFA; 0: it stays */
	uint8_t how, by_bp, unused[6];
};

struct st_alloc_thread {
	uint32_t tid;
	uint32_t busy;   /* it is counting: what a signal handler allocates meanwhile is missed */
	uint64_t inside; /* where the return address of the outermost allocation lies; 0: none */
	uint64_t low, high; /* its stack, as far as it is known to be readable */
	uint64_t last;      /* address of the block that it allocated last */
	uint32_t n;         /* frames, the outermost first */
	uint32_t unused;
	struct st_alloc_frame frames[ST_ALLOC_DEPTH];
	struct st_alloc_frame
	        fresh[ST_ALLOC_DEPTH]; /* of the allocation at hand, innermost first */
	struct st_alloc_rule rules[ST_ALLOC_RULES];
};

#endif
