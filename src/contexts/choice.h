/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contexts that somebody asks for: below a function (a function of that name is the context's
 * last or among its callers), leading to one (it is the context's last or was called from there
 * on), or both. Those that only lead to them stay, and count nothing.
 */
#ifndef STROBE_CONTEXTS_CHOICE_H
#define STROBE_CONTEXTS_CHOICE_H

#include "contexts/forest.h"
#include "profile/profile.h"

/* The parts of wall time that contexts may have as their metric. P(identifier, word) */
#define ST_WALL_PARTS(P)                                                                           \
	P(ALL, "wall")                                                                             \
	P(ON_CPU, "on-cpu")                                                                        \
	P(WAITING, "waiting")                                                                      \
	P(SAMPLES, "samples")
enum st_wall_part {
	ST_WALL_ANY, /* no choice, also for profiles without wall time */
#define P(id, word) ST_WALL_##id,
	ST_WALL_PARTS(P)
#undef P
};
/* The part of that word; false: there is none. */
bool st_wall_part_named(const char *name, enum st_wall_part *part);
/* The words, for messages. */
#define ST_WALL_WORDS "wall, on-cpu, waiting or samples"

/* The contexts to read, and the way to read them. */
struct st_context_choice {
	bool join_threads; /* one forest for all threads */
	bool kccf;         /* the k-calling context forests, too */
	/* Blocks as they were executed, which overlap where one has an entry in its middle; else
	 * they are cut there. */
	bool pin;
	bool functions, blocks, code; /* lists of all of them, and with their code */
	/* Names or shell patterns of functions; without any, all contexts are asked for. */
	const char *const *under, *const *calls;
	size_t n_under, n_calls;
	/* Nodes that the k-calling context forests may have: when they would have more, they have a
	 * smaller k. 0: as many as there are. */
	size_t most_callers;
	enum st_wall_part part;
};

/* Whether a name or shell pattern stands for a function, whose name may end with its arguments. */
bool st_choice_fits(const char *pattern, const char *name);

/* The same of a function of a profile, by whichever of its names. */
bool st_choice_fits_function(const char *pattern, const struct st_profile *p, uint32_t function);

/* The length of a function's name without its arguments. */
size_t st_choice_plain(const char *name);

/* The properties of a node. */
enum {
	ST_CHOICE_UNDER = 1, /* it is below a function asked for */
	ST_CHOICE_CALLS = 2, /* it leads to one */
	ST_CHOICE_WAY = 4,   /* a context that is asked for is here or below */
	ST_CHOSEN = ST_CHOICE_UNDER | ST_CHOICE_CALLS,
};
/* For each node of a forest, malloc'ed. `labels`: of each label, what it makes of its context.
 * NULL: no memory. */
unsigned char *st_choice_look(const struct st_forest *f, const unsigned char *labels);

#endif
