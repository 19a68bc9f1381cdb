/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of system-call patches share: system-call patch.c (which there are),
 * native/syspatch_code.c (their code, and what of the program's they replace), source.c (the
 * program's code as it was). */
#ifndef STROBE_RT_NATIVE_SYSPATCHES_H
#define STROBE_RT_NATIVE_SYSPATCHES_H

#include "rt/code.h"
#include "rt/maps.h"
#include "rt/native/syspatch.h"
#include "rt/world.h"

enum {
	MOST_SYSPATCHES = 128,
	SYSPATCH_BYTES = 96,
	MOST_AREAS = 4,
	AREA_BYTES = MOST_SYSPATCHES * SYSPATCH_BYTES,
	SITES = 1024, /* to look up those of system calls; a power of two */
	MOST_SITES = SITES / 2,
	MOST_SOURCES = 64, /* pages with system-call patches */
	SOURCE_SLOTS = 256,
	/* A block may begin at the end of a page, and be looked beyond. */
	SOURCE_BYTES = 4096 + MAX_BLOCK_BYTES + 256,
	MOST_WINDOW = 16,
};

/* Bytes [site, site + bytes) of the program are a jump to `code`. */
struct syspatch {
	uint64_t site, call;
	uint64_t code;
	uint32_t bytes; /* whole instructions */
	bool open;
	uint8_t saved[MOST_WINDOW];
};

/* Where the program makes system calls. */
struct site {
	uint64_t call;         /* 0: none */
	uint32_t times, least; /* when it gets a system-call patch */
	uint16_t syspatch;     /* + 1; 0: it has none */
	bool refused;
};

struct area {
	uint64_t start;
	uint32_t used;
};

/* A page of the program's code as it was, and what follows it. */
struct source {
	uint64_t page;
	uint8_t code[SOURCE_BYTES];
};

/* Ordered so that few pages are touched where there are few of them. */
struct syspatches {
	uint32_t n_sites, n, n_areas, n_sources;
	uint16_t site_by_call[SITES]; /* + 1, open addressing; 0: none */
	struct site sites[MOST_SITES];
	struct source *sources[SOURCE_SLOTS]; /* by page, open addressing */
	struct area area[MOST_AREAS];
	struct syspatch syspatch[MOST_SYSPATCHES];
};

/* Code of a file that nobody can write to? */
static inline bool
is_plain(const struct map *m)
{
	return m && !m->writable && !m->shared && !m->anonymous;
}

/* system-call patch.c: puts what system-call patches have replaced of [start, start + bytes) into a
 * copy of it. rt.lock held.
 */
void syspatches_hide(uint8_t *code, uint64_t start, uint64_t bytes);
/* system-call patch.c: the system-call patch of the system call at `call`, or NULL. */
const struct syspatch *syspatch_of(uint64_t call);

/* native/syspatch_code.c. rt.lock held. */

/* Does `mov $number, %eax` stand before the call? */
bool syspatch_number_before(const struct map *m, uint64_t call);
/* Makes a system-call patch of its own for the call, to which nobody leads yet; `before`: in place
 * of that `mov`. False: none is possible. */
bool syspatch_prepare(struct syspatch *k, const struct map *m, uint64_t call, bool before);
/* The program leads to it; it does not any more. No other thread executes there. */
bool syspatch_lead_in(const struct syspatch *k);
bool syspatch_put_back(const struct syspatch *k);
/* Does the program lead to it? */
bool syspatch_leads_in(const struct syspatch *k);
/* The area that a system-call patch's code is in. */
struct area *syspatch_area(const struct syspatch *k);

/* source.c. rt.lock held. */

/* Keeps what [start, end) and the blocks that reach there are made of. */
bool sources_keep(uint64_t start, uint64_t end);
/* Nobody reads those of [start, end) any more. */
void sources_drop(uint64_t start, uint64_t end);

#endif
