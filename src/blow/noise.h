/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of noise, and the strengths that a campaign tries. */
#ifndef STROBE_BLOW_NOISE_H
#define STROBE_BLOW_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

/* N(identifier, "name", unit of strength, ns of one unit, 0: unknown until measured)
 * The first three types do the same, with the units of the functions they are named after. The last
 * one is a virtual speed-up, which pauses the threads that do not run the function: virtual.h. */
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
	uint64_t strength; /* in units of the type */
};
const char *st_blow_noise_name(enum st_blow_noise_type type);
const char *st_blow_noise_unit(enum st_blow_noise_type type);
/* False: no type has that name. */
bool st_blow_noise_named(const char *name, enum st_blow_noise_type *type);
/* Nominal duration of the noise; 0: unknown. */
uint64_t st_blow_noise_ns(struct st_blow_noise noise);
/* The noise as a word for a probe (st_probe_noise), given the frequency of the time stamp counter.
 * at_end: at the returns of a function. Amounts are limited to the greatest one of a probe. */
uint64_t st_blow_noise_word(struct st_blow_noise noise, bool at_end, double tsc_hz);

/* The least and the greatest strength. */
struct st_blow_bounds {
	uint64_t least, most;
};
struct st_blow_choice {
	bool types[ST_BLOW_NOISE_COUNT];
	struct st_blow_bounds timed; /* us */
	struct st_blow_bounds yield; /* yields */
	struct st_blow_bounds busy;  /* us */
	double growth;               /* quotient of successive strengths, greater than 1 */
	bool above;                  /* also the first strength above the greatest one */
	double sampling;             /* of a speed-up: part of the mean time of a call by which
	                                strengths differ, above 0 and at most 1 */
	size_t repeat;               /* experiments with each noise, of virtual speed-ups (25, 50,
	                                75 and 100 %) and in windows */
};
struct st_blow_noises {
	ST_VEC(struct st_blow_noise) list;
};
/* Lists the noises of the chosen types, by type and strength. -1: memory is exhausted. The caller
 * frees list.v. */
st_status st_blow_database(const struct st_blow_choice *choice, struct st_blow_noises *out);

/* The sleeps of a speed-up of a function whose calls take mean_ns: `sampling` of that, twice as
 * much, and so on, up to mean_ns. -1: memory is exhausted. The caller frees list.v. */
st_status st_blow_speedup_noises(double sampling, double mean_ns, struct st_blow_noises *out);

/*
 * The part of the database that suits a function with `calls` calls in a run of run_ns: noise that
 * takes at most most * run_ns in all calls together; of noises that do the same, one. If the
 * database has none, the list gets two: one as long as that limit allows, and one of half that
 * duration. yield_ns: duration of a yield.
 */
st_status st_blow_noises_for(const struct st_blow_noises *database, uint64_t calls, double run_ns,
                             double most, double yield_ns, struct st_blow_noises *out);

#endif
