/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise: kinds of it, and the strengths that a campaign tries. */
#ifndef STROBE_BLOW_NOISE_H
#define STROBE_BLOW_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

/* N(identifier, "name", what one unit of strength is, ns of it, 0: not known before it is measured)
 * The first three do the same, in the units that their functions have. The last one is no noise in
 * the function, but in all threads that do not run it: virtual.h. */
#define ST_BLOW_NOISES(N)                                                                          \
	N(NANOSLEEP, "nanosleep", "ns", 1)                                                         \
	N(USLEEP, "usleep", "us", 1000)                                                            \
	N(SLEEP, "sleep", "ms", 1000000)                                                           \
	N(YIELD, "yield", "yields", 0)                                                             \
	N(BUSY, "busy", "ns", 1)                                                                   \
	N(VIRTUAL, "virtual", "%", 0)
enum st_blow_noise_type {
#define N(id, name, unit, ns) ST_BLOW_##id,
	ST_BLOW_NOISES(N)
#undef N
	        ST_BLOW_NOISE_COUNT
};

struct st_blow_noise {
	enum st_blow_noise_type type;
	uint64_t strength; /* in the units of its type */
};
const char *st_blow_noise_name(enum st_blow_noise_type type);
const char *st_blow_noise_unit(enum st_blow_noise_type type);
/* False: there is none of that name. */
bool st_blow_noise_named(const char *name, enum st_blow_noise_type *type);
/* How long it is to take; 0: not known. */
uint64_t st_blow_noise_ns(struct st_blow_noise noise);
/* What a probe does for it, given the speed of the time stamp counter; amounts that a probe cannot
 * have become the greatest that it can. */
uint64_t st_blow_noise_word(struct st_blow_noise noise, double tsc_hz);

/* Strengths from least to most, each so many times the one before. */
struct st_blow_bounds {
	uint64_t least, most;
};
struct st_blow_choice {
	bool types[ST_BLOW_NOISE_COUNT];
	struct st_blow_bounds timed; /* us */
	struct st_blow_bounds yield; /* times */
	struct st_blow_bounds busy;  /* us */
	double growth;               /* more than 1 */
	size_t repeat;               /* each virtual speed-up so often: 25, 50, 75 and 100 % */
};
struct st_blow_noises {
	ST_VEC(struct st_blow_noise) list;
};
/* All of them: type by type, and by strength. -1: memory is exhausted. The caller frees list.v. */
st_status st_blow_database(const struct st_blow_choice *choice, struct st_blow_noises *out);

/*
 * The part of the database for a function that is called so often in a run of so many ns: noise
 * that makes the run at most `most` times longer than that, in all; of noises that do the same,
 * one. When there is none, two strengths that are as long as that allows. yield_ns: what a yield
 * takes.
 */
st_status st_blow_noises_for(const struct st_blow_noises *database, uint64_t calls, double run_ns,
                             double most, double yield_ns, struct st_blow_noises *out);

#endif
