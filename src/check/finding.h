/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison of two versions finds at one location: which kind of change, from what to what,
 * and how sure that is. The names are those of Perun, so that both can be compared.
 */
#ifndef STROBE_CHECK_FINDING_H
#define STROBE_CHECK_FINDING_H

#include <stdbool.h>

/* F(identifier, "name", direction): from the worst to the best. Total kinds are of a whole image or
 * program; Unknown: the profiles cannot tell. */
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
/* 1: the target costs more; -1: it costs less; 0: neither is said. */
int st_finding_direction(enum st_finding_kind kind);
/* The same change in the other direction. */
enum st_finding_kind st_finding_mirror(enum st_finding_kind kind);
/* Whether it is certain enough to fail a check: a degradation that is not a mere possibility. */
bool st_finding_is_alarm(enum st_finding_kind kind);

#endif
