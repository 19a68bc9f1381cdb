/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares new records of a function with its annotation: is the cost of a call higher than it was?
 *
 * The findings are the mean, the value at the largest prediction (where faster growth shows), the
 * spread, and the shares of modes. Each has an interval that allows for the scatter of the records,
 * which need not be even, for the standard errors in the annotation, and for the differences
 * between the processes that it was made of. A finding is raised if its whole interval is above the
 * margin, and kept if the interval is below the margin.
 *
 * Times that are far above the others are left out of these findings, and their share is a finding.
 * It is raised only if it is much larger than that of the annotation, because a busy machine raises
 * it as well as the program.
 */
#ifndef STROBE_ANNOTATE_COMPARE_H
#define STROBE_ANNOTATE_COMPARE_H

#include "annotate/annotation.h"
#include "annotate/processes.h"
#include "annotate/records.h"

/* A(identifier, "name") */
#define ST_ANN_ASPECTS(A)                                                                          \
	A(MEAN, "mean")                                                                            \
	A(LARGEST, "largest")                                                                      \
	A(SPREAD, "spread")                                                                        \
	A(SHARE, "share")                                                                          \
	A(SLOW, "slow")

enum st_ann_aspect {
#define A(id, name) ST_ANN_ASPECT_##id,
	ST_ANN_ASPECTS(A)
#undef A
};

/* C(identifier, "name"), the graver ones later. */
#define ST_ANN_CHANGES(C)                                                                          \
	C(SAME, "kept")                                                                            \
	C(LOWERED, "lower")                                                                        \
	C(UNCERTAIN, "cannot tell")                                                                \
	C(RAISED, "broken")

enum st_ann_change {
#define C(id, name) ST_ANN_CHANGE_##id,
	ST_ANN_CHANGES(C)
#undef C
};

struct st_ann_finding {
	enum st_ann_aspect aspect;
	enum st_ann_change change;
	size_t scope, mode; /* of a share: that of the calls of this mode and of costlier ones */
	/* What the annotation says, and what the records say with the interval: costs in the unit
	 * of the metric, standard deviations, or shares. */
	double annotated, value, low, high;
};

struct st_ann_compared {
	enum st_ann_change change; /* the gravest finding */
	/* Records with the metric; of these, the number that a condition and the observed ranges
	 * cover, of those outside the ranges, and of those for which no condition holds. */
	size_t records, judged, outside, uncovered;
	size_t disturbed; /* of the records of a time: left out because they are far above others */
	/* Of a time: how long the new processes took for a fixed loop, as a multiple of what those
	 * of the annotation took; 0: not known. Where it is not near 1, the processor was slower or
	 * faster, so that times that are higher, or not higher, say little. */
	double pace;
	ST_VEC(struct st_ann_finding) findings;
	char reason[160]; /* why nothing was judged; empty: it was */
};

struct st_ann_comparison {
	double margin; /* relative increase that is accepted */
	double error;  /* probability that a finding of an unchanged function is raised */
};

/* Returns the number of findings that a comparison with this annotation has, at most. */
size_t st_ann_compare_findings(const struct st_ann_annotation *a);

/* Fails when memory is exhausted. The caller frees out->findings.v in both cases. */
st_status st_ann_compare(const struct st_ann_annotation *a, const struct st_ann_records *r,
                         size_t metric, const struct st_ann_comparison *how,
                         struct st_ann_compared *out);

const char *st_ann_aspect_name(enum st_ann_aspect aspect);
const char *st_ann_change_name(enum st_ann_change change);

#endif
