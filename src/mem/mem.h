/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The allocations of a program: their callers, sizes, and the live bytes over time.
 *
 * A run leaves it in the shared memory (wire/alloc.h), from where it comes into this form; a
 * profile keeps it as the tables of the tool `mem`.
 *
 *	st_mem_run -> a profile -> st_mem_read -> tables, JSON, formats of other tools
 */
#ifndef STROBE_MEM_MEM_H
#define STROBE_MEM_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "wire/alloc.h"

#define ST_MEM_TOOL "mem"

/* The tool whose tables of allocations by call stack a profile has: ST_MEM_TOOL or ST_ALLOC_TOOL.
 * NULL: it has none. */
const char *st_mem_tool(const struct st_profile *p);

enum { ST_MEM_NONE = UINT32_MAX };

/* A function on a path from the program's begin to an allocation. */
struct st_mem_frame {
	uint32_t parent;      /* comes before it; ST_MEM_NONE: the outermost */
	const char *function; /* demangled; without one IMAGE+0xOFFSET */
	const char *image;    /* path; "" where the code belongs to no file */
	const char *file;     /* "": not known */
	uint64_t offset;      /* of the call in the image */
	uint32_t line;
	bool inlined; /* its code stands in its parent's */
};

/* Allocations of one path. Bytes are those that the program has asked for. */
struct st_mem_context {
	uint32_t frame; /* the allocation function */
	bool mapped;    /* pages of mmap, which are counted apart */
	uint64_t calls, bytes;
	uint64_t live, live_blocks; /* at the end */
	uint64_t peak;              /* live when most of all was live */
	uint64_t own_peak;          /* the most of it that was live at a time */
	uint64_t short_lived;       /* freed before their thread allocated another block */
	uint64_t largest;
};

struct st_mem_totals {
	uint64_t calls, bytes, frees, freed, live, live_blocks, peak;
	uint64_t in_place, moved, failed, unknown, short_lived;
	uint64_t classes[ST_ALLOC_CLASSES];
};

/* At a time since the program's begin. */
struct st_mem_snapshot {
	uint64_t ns, live, blocks, mapped;
};

/* The numbers of one context. */
struct st_mem_share {
	uint32_t snapshot, context;
	uint64_t live;
};

/* Live bytes of the heap in a range of addresses, at a time. */
struct st_mem_place {
	uint64_t ns, from, live;
};

struct st_mem {
	ST_VEC(struct st_mem_frame) frames;
	ST_VEC(struct st_mem_context) contexts; /* those with the greatest peak first */
	struct st_mem_totals totals[ST_ALLOC_DOMAINS];
	ST_VEC(struct st_mem_snapshot) snapshots; /* in their order */
	ST_VEC(struct st_mem_share) shares;       /* of the contexts that have most */
	ST_VEC(struct st_mem_place) places;       /* by time, then by address */
	uint64_t range_bytes;                     /* of each place; 0: not known */
	uint64_t interval_ns;                     /* between snapshots, at last */
	uint64_t peak_from_ns, peak_to_ns;        /* the heap's peak was in between */
	uint64_t missed;                          /* calls that are not in these numbers */
	uint64_t cut;                             /* allocations whose callers are not all known */
	ST_VEC(char *) texts; /* that belong to it; others are the images', or the profile's */
};

void st_mem_free(struct st_mem *m);
/* The frame where a context's memory is asked for: the innermost that is no allocation function,
 * and no part of a language's library of containers. */
uint32_t st_mem_site(const struct st_mem *m, const struct st_mem_context *c);

/* Contexts that share a site, or what else `key` says. */
struct st_mem_site_row {
	uint32_t frame; /* of one of them */
	bool mapped;
	struct st_mem_context sum; /* peaks are sums; own_peak is of no use */
};
struct st_mem_sites {
	ST_VEC(struct st_mem_site_row) rows; /* the greatest peak first */
};
/* By function and line. -1: memory is exhausted. The caller frees rows.v. */
st_status st_mem_group(const struct st_mem *m, struct st_mem_sites *out);

/* put.c, read.c: as tables of a profile. */
st_status st_mem_put(const struct st_mem *m, struct st_profile *p);
/* Of the tool alloc, only contexts and totals are known. -1 with *e: the profile is of another
 * tool, or memory is exhausted. p has to outlive it. */
st_status st_mem_read(struct st_mem *m, const struct st_profile *p, struct st_error *e);

/* run.c */
struct st_mem_request {
	char *const *program;
	const char *given; /* strobe's options, for the record; may be NULL */
	bool own_group;
	uint64_t interval_ns; /* between snapshots; 0: chosen, so that there are some hundred */
};
/* Runs the program, and makes a profile. -1 with *e: it has not run, or nothing was counted. */
st_status st_mem_run(const struct st_mem_request *r, struct st_profile **profile, uint32_t *pid,
                     int *exit_code, struct st_error *e);

#endif
