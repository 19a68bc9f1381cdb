/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calibrations of gates: gates of a version against itself measure on this machine how often a gate
 * raises a false alarm, and how far the estimates of equal sides differ. The greatest difference is
 * kept in the repository's folder of Strobe, with the machine; it is the least limit of later
 * gates on this machine.
 */
#ifndef STROBE_GATE_CALIBRATION_H
#define STROBE_GATE_CALIBRATION_H

#include "gate/gate.h"

#define ST_GATE_CALIBRATIONS "gate-calibrations.json"

struct st_gate_calibration {
	char *machine;            /* lines NAME=VALUE, as in store/traits.h */
	char *benchmark;          /* the command of the base */
	char *metric, *duet;      /* words of the options */
	char *date;               /* "2026-11-26" */
	size_t gates, alarms;     /* of equal sides; those with the verdict regression */
	size_t pairs;             /* of all gates */
	double alarm, limit;      /* of the rule that they had */
	double largest;           /* the largest change that a gate estimated, without its sign */
	ST_VEC(double) estimates; /* of each gate; none if the calibration was read from a file */
};

struct st_gate_calibrations {
	ST_VEC(struct st_gate_calibration) v;
	char *path;    /* NULL: there is no repository */
	char *machine; /* on which strobe runs */
};

/* Reads those of the repository around the current folder; without one, or without a file, there
 * are none. 0, or -1 with *e. The caller frees in both cases. */
st_status st_gate_calibrations_read(struct st_gate_calibrations *c, struct st_error *e);
/* The same of bytes in memory; path: for messages. */
st_status st_gate_calibrations_of_bytes(struct st_gate_calibrations *c, const char *path,
                                        const char *bytes, size_t n, struct st_error *e);
/* Writes the file. The last `made` ones are new: they replace those before them that have the same
 * machine, benchmark, metric and duet. 0, or -1 with *e. */
st_status st_gate_calibrations_keep(struct st_gate_calibrations *c, size_t made,
                                    struct st_error *e);
void st_gate_calibrations_free(struct st_gate_calibrations *c);
void st_gate_calibration_free(struct st_gate_calibration *c);

/* The calibration for a benchmark on this machine; NULL: there is none. *other: one of another
 * machine, or NULL. */
const struct st_gate_calibration *
st_gate_calibration_find(const struct st_gate_calibrations *c, const char *benchmark,
                         const char *metric, const char *duet,
                         const struct st_gate_calibration **other);

/* The differences between the machine of a calibration and another one, "cpu: A, here B",
 * malloc'ed; NULL: none. */
char *st_gate_calibration_differences(const struct st_gate_calibration *c, const char *machine);

/* The probability that a further gate of equal sides has a larger estimate than all n before. */
double st_gate_calibration_exceeded(size_t n);

#endif
