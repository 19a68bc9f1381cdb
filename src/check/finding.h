/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds of changes that a comparison of two versions finds at a location. The names are those of
 * Perun, so that the results of both can be compared.
 */
#ifndef STROBE_CHECK_FINDING_H
#define STROBE_CHECK_FINDING_H

#include <stdbool.h>

/* F(identifier, "name", direction): from the worst to the best. Total kinds are those of a whole
 * image or program. Unknown: the profiles do not suffice to decide. */
#define ST_FINDINGS(F)                                                                             \
	F(NOT_IN_BASELINE, "NotInBaseline", 1)                                                     \
	F(TOTAL_DEGRADATION, "TotalDegradation", 1)                                                \
	F(SEVERE_DEGRADATION, "SevereDegradation", 1)                                              \
	F(DEGRADATION, "Degradation", 1)                                                           \
	F(MAYBE_DEGRADATION, "MaybeDegradation", 1)                                                \
	F(UNKNOWN, "Unknown", 0)                                                                   \
	F(NO_CHANGE, "NoChange", 0)                                                                \
	F(MAYBE_OPTIMIZATION, "MaybeOptimization", -1)                                             \
	F(OPTIMIZATION, "Optimization", -1)                                                        \
	F(SEVERE_OPTIMIZATION, "SevereOptimization", -1)                                           \
	F(TOTAL_OPTIMIZATION, "TotalOptimization", -1)                                             \
	F(NOT_IN_TARGET, "NotInTarget", -1)

enum st_finding_kind {
#define F(id, name, direction) ST_FINDING_##id,
	ST_FINDINGS(F)
#undef F
	        ST_FINDING_COUNT
};

const char *st_finding_name(enum st_finding_kind kind);
/* 1: the target costs more; -1: it costs less; 0: no change, or unknown. */
int st_finding_direction(enum st_finding_kind kind);
/* The same change in the other direction. */
enum st_finding_kind st_finding_mirror(enum st_finding_kind kind);
/* Whether the kind fails a check: every degradation except a possible one. */
bool st_finding_is_alarm(enum st_finding_kind kind);

#endif
