/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which points a regression is made of: all of them, parts of them one after the other, or each
 * part for itself. Perun has the same ways; here the best kind is the one with the least AICc, and
 * while kinds have different numbers of points, the one with the least AICc per point.
 */
#ifndef STROBE_MODEL_WAYS_H
#define STROBE_MODEL_WAYS_H

#include "base/vec.h"
#include "model/choice.h"

#define ST_WAYS(W)                                                                                 \
	W(FULL, "full")                                                                            \
	W(ITERATIVE, "iterative")                                                                  \
	W(INITIAL_GUESS, "initial-guess")                                                          \
	W(INTERVAL, "interval")                                                                    \
	W(BISECTION, "bisection")

enum st_way {
#define W(id, name) ST_WAY_##id,
	ST_WAYS(W)
#undef W
	        ST_WAY_COUNT
};

struct st_way_choice {
	enum st_way way;
	size_t parts; /* of iterative, initial-guess and interval */
	unsigned kinds;
	enum st_noise noise;
	double level;
	uint64_t seed; /* of the order in which points are taken */
};

struct st_segments {
	ST_VEC(struct st_choice) list; /* in the order of x */
};

/*
 * full: all kinds by all points. iterative: the points in random order, in parts; the best kind so
 * far takes one more part, until one has all. initial-guess: the kind that is best for the first
 * part takes all. interval: parts by x, each with its best kind. bisection: halves by x, as long as
 * the best kind of a half is another one than that of the whole, and both halves together have an
 * AICc that is clearly less. Points of one x are not divided.
 * ST_FAILED with *e: as st_choice_make. The caller frees in both cases.
 */
st_status st_ways_model(const struct st_way_choice *w, const struct st_points *points,
                        struct st_segments *out, struct st_error *e);
void st_segments_free(struct st_segments *s);
const char *st_way_name(enum st_way way);

#endif
