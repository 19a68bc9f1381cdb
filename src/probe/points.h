/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes within functions: where basic blocks begin, and before and after calls. The same patches
 * and stubs as at entries (site.h, stub.h), with two differences: the code may have data below the
 * stack pointer (the red zone), and a jump of a moved instruction to the point itself is another
 * visit of it.
 *
 * A point is refused unless all that may lead into its bytes is known. So the whole function must
 * decode to instructions, and its indirect jumps must be those of tables.
 */
#ifndef STROBE_PROBE_POINTS_H
#define STROBE_PROBE_POINTS_H

#include "base/vec.h"
#include "probe/site.h"
#include "wire/probe.h"

enum st_probe_point_kind {
	ST_POINT_BLOCK,  /* a basic block begins: jumps lead there, or it follows one */
	ST_POINT_BEFORE, /* a call instruction */
	ST_POINT_AFTER,  /* the instruction behind a call, which may be the begin of a block, too */
};

/* An instruction of a function that may have a probe. */
struct st_probe_point {
	uint64_t at;     /* link-time address */
	uint64_t call;   /* ST_POINT_BEFORE, ST_POINT_AFTER: of the call instruction, */
	uint64_t target; /* and where it leads; 0: it is indirect */
	uint8_t kind;    /* enum st_probe_point_kind */
};
struct st_probe_point_list {
	ST_VEC(struct st_probe_point) list; /* list.v is to be freed */
};

/* Adds all points of a function in the order of their addresses. Returns why no point of it takes
 * a probe (enum st_probe_refusal); the list is not changed then. */
uint8_t st_probe_list_points(struct st_probe_planner *planner, const struct st_function *f,
                             struct st_probe_point_list *to);

/* The same as st_probe_judge, of an instruction of the function. All entries and exits are to be
 * judged before: their bytes are theirs. */
void st_probe_judge_point(struct st_probe_planner *planner, const struct st_function *f,
                          uint64_t at, struct st_probe_site *site);

/* Points that are to have probes (st_probes' `points`). */
struct st_wanted_point {
	uint64_t at;
	struct st_probe_action action; /* ST_PROBE_POINT */
};
struct st_wanted_points {
	ST_VEC(struct st_wanted_point) list;
};

#endif
