/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of callgrind.out, as far as its lines stand for themselves: names, positions, costs. */
#ifndef STROBE_IMPORT_CALLGRIND_H
#define STROBE_IMPORT_CALLGRIND_H

#include "base/vec.h"
#include "import/import.h"

/* As many events as a table of functions has columns for; others are left out. */
enum { ST_CALLGRIND_EVENTS = 9, ST_CALLGRIND_POSITIONS = 2 };

/* Kinds of names, which are numbered apart: "fn=(3) main" says that 3 is main from here on. */
enum st_callgrind_names {
	ST_CALLGRIND_OBJECT,
	ST_CALLGRIND_FILE,
	ST_CALLGRIND_FUNCTION,
	ST_CALLGRIND_KINDS
};

struct st_callgrind_text {
	ST_VEC(const char *) names[ST_CALLGRIND_KINDS]; /* by number; NULL: none yet */
	size_t n_positions, n_events, left_out;
	size_t line_position; /* which position is the line; SIZE_MAX: none */
	char events[ST_CALLGRIND_EVENTS][24];
	uint64_t position[ST_CALLGRIND_POSITIONS]; /* the last ones, which others are relative to */
};

/* The name that "(3) main", "(3)" or "main" stands for; NULL: it is none. */
struct st_profile;
const char *st_callgrind_name(struct st_callgrind_text *t, struct st_profile *p,
                              enum st_callgrind_names kind, const char *text);
/* "positions: instr line", "events: Ir Dr": what comes after the colon. */
bool st_callgrind_positions(struct st_callgrind_text *t, const char *words);
bool st_callgrind_events(struct st_callgrind_text *t, const char *words);
/* A line of positions and costs; costs that it has not are 0. */
bool st_callgrind_costs(struct st_callgrind_text *t, const char *line, uint64_t *line_number,
                        uint64_t costs[ST_CALLGRIND_EVENTS]);
void st_callgrind_text_free(struct st_callgrind_text *t);

#endif
