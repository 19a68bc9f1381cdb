/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of gates share: gate.c (which there are), native/gate_code.c (their code, and
 * what of the program's they replace), source.c (the program's code as it was). */
#ifndef STROBE_RT_NATIVE_GATES_H
#define STROBE_RT_NATIVE_GATES_H

#include "rt/jit/jit.h"
#include "rt/native/gate.h"
#include "rt/os/os.h"

enum {
	MOST_GATES = 128,
	GATE_BYTES = 96,
	MOST_AREAS = 4,
	AREA_BYTES = MOST_GATES * GATE_BYTES,
	SITES = 1024, /* to look up those of system calls; a power of two */
	MOST_SITES = SITES / 2,
	MOST_SOURCES = 64, /* pages with gates */
	SOURCE_SLOTS = 256,
	/* A block may begin at the end of a page, and be looked beyond. */
	SOURCE_BYTES = 4096 + MAX_BLOCK_BYTES + 256,
	MOST_WINDOW = 16,
};

/* Bytes [site, site + bytes) of the program are a jump to `code`. */
struct gate {
	uint64_t site, call;
	uint64_t code;
	uint32_t bytes; /* whole instructions */
	bool open;
	uint8_t saved[MOST_WINDOW];
};

/* Where the program makes system calls. */
struct site {
	uint64_t call;         /* 0: none */
	uint32_t times, least; /* when it gets a gate */
	uint16_t gate;         /* + 1; 0: it has none */
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
struct gates {
	uint32_t n_sites, n, n_areas, n_sources;
	uint16_t site_by_call[SITES]; /* + 1, open addressing; 0: none */
	struct site sites[MOST_SITES];
	struct source *sources[SOURCE_SLOTS]; /* by page, open addressing */
	struct area area[MOST_AREAS];
	struct gate gate[MOST_GATES];
};

/* Code of a file that nobody can write to? */
static inline bool
is_plain(const struct map *m)
{
	return m && !m->writable && !m->shared && !m->anonymous;
}

/* gate.c: puts what gates have replaced of [start, start + bytes) into a copy of it. rt.lock held.
 */
void gates_hide(uint8_t *code, uint64_t start, uint64_t bytes);
/* gate.c: the gate of the system call at `call`, or NULL. */
const struct gate *gate_of(uint64_t call);

/* native/gate_code.c. rt.lock held. */

/* Does `mov $number, %eax` stand before the call? */
bool gate_number_before(const struct map *m, uint64_t call);
/* Makes a gate of its own for the call, to which nobody leads yet; `before`: in place of that
 * `mov`. False: none is possible. */
bool gate_prepare(struct gate *k, const struct map *m, uint64_t call, bool before);
/* The program leads to it; it does not any more. No other thread executes there. */
bool gate_lead_in(const struct gate *k);
bool gate_put_back(const struct gate *k);
/* Does the program lead to it? */
bool gate_leads_in(const struct gate *k);
/* The area that a gate's code is in. */
struct area *gate_area(const struct gate *k);

/* source.c. rt.lock held. */

/* Keeps what [start, end) and the blocks that reach there are made of. */
bool sources_keep(uint64_t start, uint64_t end);
/* Nobody reads those of [start, end) any more. */
void sources_drop(uint64_t start, uint64_t end);

#endif
