/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The findings of a campaign: functions whose work grows with an input, and the law of the growth.
 *
 * A witness is minimised; a family of inputs of growing size is made after it; the law is fitted to
 * the work of these, which is counted and so has no noise. Only what certainly grows faster than
 * n log n is a finding of kind `slow`.
 */
#ifndef STROBE_FUZZ_FINDING_H
#define STROBE_FUZZ_FINDING_H

#include "fuzz/campaign.h"
#include "fuzz/difference.h"
#include "fuzz/family.h"
#include "fuzz/functions.h"
#include "fuzz/stack.h"

enum st_finding_kind { ST_FINDING_SLOW, ST_FINDING_HANG, ST_FINDING_FAULT };

struct st_finding {
	enum st_finding_kind kind;
	struct st_fuzz_hottest function; /* name NULL: unknown, as of a fault */
	struct st_fuzz_bytes witness;    /* the input that the search found */
	struct st_fuzz_bytes minimal;
	struct st_fuzz_difference difference; /* of the witness to its seed */
	size_t seed, seed_bytes;
	uint64_t work, seed_work; /* of the witness; 0: it did not end */
	struct {
		size_t *v;
		size_t n, cap;
	} chain; /* of rules */
	bool has_family;
	struct st_fuzz_family family;
	struct st_law law;
	ST_VEC(double) times; /* points of the law */
	ST_VEC(double) worked;
	struct st_interval slowdown; /* native time of the witness to that of its seed; NAN: not
	                                measured */
	double seed_seconds, witness_seconds; /* their medians; NAN: not measured */
	bool endless; /* the witness of a hang did not end natively in witness_seconds */
	int signal;   /* of a fault */
	struct st_fuzz_stack stack; /* of a fault or a hang, with the minimised input */
};

struct st_findings {
	ST_VEC(struct st_finding) list;
	size_t linear;     /* functions whose work grew by no more than n log n */
	size_t unsure;     /* functions whose law cannot be determined, and empty inputs */
	size_t left;       /* inputs that were not judged: the time was over */
	size_t executions; /* of judging */
	bool interrupted;
};

/* Judges what the campaign has, for at most `seconds`. ST_FAILED with *e: strobe itself failed. */
st_status st_findings_judge(struct st_findings *findings, struct st_fuzz_campaign *c,
                            struct st_fuzz_functions *functions, double seconds,
                            struct st_error *e);
void st_findings_free(struct st_findings *findings);
const char *st_finding_kind_name(enum st_finding_kind kind);

/* ---- for different.c, judge.c and witness.c only ---- */

struct st_judging {
	struct st_fuzz_campaign *campaign;
	struct st_fuzz_functions *functions;
	double until; /* of st_now_raw */
};
bool st_judging_is_over(const struct st_judging *j);
/* Executes an input for at most the time of --hang and the time that is left. *x says nothing if
 * judging is over afterwards. */
st_status st_judging_execute(struct st_judging *j, const struct st_fuzz_bytes *input,
                             struct st_fuzz_execution *x, struct st_error *e);
/* The native time of an input, at most as long. */
st_status st_judging_time(struct st_judging *j, const struct st_fuzz_bytes *input, double *seconds,
                          struct st_error *e);
/* Minimises, makes the family and finds the law. */
st_status st_witness_explain(struct st_judging *j, struct st_finding *f, struct st_error *e);
/* Executes the members of the family, and finds the law and the function. */
st_status st_witness_family_law(struct st_judging *j, struct st_finding *f, struct st_error *e);
/* Families of different words. */
st_status st_findings_judge_different(struct st_judging *j, struct st_findings *findings,
                                      struct st_error *e);
/* A finding that has what is known of the seed. NULL: no memory. */
struct st_finding *st_findings_add(struct st_findings *findings, const struct st_fuzz_campaign *c,
                                   enum st_finding_kind kind, size_t seed);
void st_findings_drop_last(struct st_findings *findings);
/* Whether another finding than f has a law for the function of f. */
bool st_findings_has_law(const struct st_findings *findings, const struct st_finding *f);
/* The stack of a fault or a hang. */
st_status st_witness_stack(struct st_judging *j, struct st_finding *f, struct st_error *e);
/* The native slowdown against the seed. */
st_status st_witness_time(struct st_judging *j, struct st_finding *f, struct st_error *e);

#endif
