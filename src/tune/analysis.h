/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analysis of a study: means, analyses of variance, hypotheses, and the recommended B and T. */
#ifndef STROBE_TUNE_ANALYSIS_H
#define STROBE_TUNE_ANALYSIS_H

#include <stdio.h>

#include "base/status.h"
#include "report/text.h"
#include "stats/anova.h"
#include "tune/study.h"

/* The response variables: R(identifier, "name in JSON", "title of its table", "what it is",
 * decimals). */
#define ST_RESPONSES(R)                                                                            \
	R(CPU, "slowdown_cpu", "slowdown factors (CPU time)", "slowdown factor", 3)                \
	R(WALL, "slowdown_wall", "slowdown factors (wall time)", "slowdown factor", 3)             \
	R(UNIQUE, "unique_coverage", "unique coverage (%)", "unique coverage", 2)                  \
	R(RAW, "raw_coverage", "raw coverage (%)", "raw coverage", 2)
enum st_response {
#define R(id, name, title, text, decimals) ST_RESPONSE_##id,
	ST_RESPONSES(R)
#undef R
	        ST_RESPONSE_COUNT
};

/* The level of significance, as in the literature. */
#define ST_SIGNIFICANCE 0.01

/* One combination of B and T, over all programs and repetitions. */
struct st_study_cell {
	double mean[ST_RESPONSE_COUNT];      /* of slowdowns the geometric one */
	double deviation[ST_RESPONSE_COUNT]; /* standard deviation of the runs */
};

/* Which way a response goes when the period grows. */
enum st_trend { ST_TREND_NONE, ST_TREND_DOWN, ST_TREND_UP, ST_TREND_MIXED };

/*
 * H(identifier, number, response, the trend that it claims, "what it claims")
 */
#define ST_HYPOTHESES(H)                                                                           \
	H(SLOWDOWN, 1, CPU, DOWN, "the longer the period, the smaller the slowdown factor")        \
	H(UNIQUE, 2, UNIQUE, DOWN, "the longer the period, the smaller the unique coverage")       \
	H(RAW, 3, RAW, UP, "the longer the period, the greater the raw coverage")
enum st_hypothesis_id {
#define H(id, number, response, trend, text) ST_HYPOTHESIS_##id,
	ST_HYPOTHESES(H)
#undef H
	        ST_HYPOTHESIS_COUNT
};

struct st_hypothesis {
	double p;            /* of the period's effect */
	bool rejected;       /* the null hypothesis: that the period has no effect */
	bool interacts;      /* the effect depends on the budget */
	enum st_trend trend; /* over all budgets; MIXED: it is not the same for each of them */
	bool stands;         /* rejected, and the trend is the one that it claims */
};

/* The combination to take when it is this response that counts. */
struct st_advice {
	bool found; /* some combination keeps its slowdown */
	size_t budget, period;
};

struct st_analysis {
	size_t repetitions;                                           /* whole ones */
	struct st_study_cell cells[ST_STUDY_LEVELS][ST_STUDY_LEVELS]; /* by budget and period */
	bool kept[ST_STUDY_LEVELS][ST_STUDY_LEVELS]; /* the slowdown is what the budget allows */
	bool tested;                                 /* what follows could be made */
	struct st_error untested;                    /* why not */
	struct st_anova anova[ST_RESPONSE_COUNT];
	struct st_hypothesis hypotheses[ST_HYPOTHESIS_COUNT];
	struct st_advice unique, raw;
	/* If none is recommended: the combination that exceeds its allowed slowdown by the least.
	 */
	struct st_advice nearest;
	double excess; /* of nearest: its slowdown of CPU time less 1 + B */
};

/* How much more CPU time than its share a budget may cost, and how many percentage points of
 * coverage are no difference: docs/notes/tune.md. */
#define ST_ADVICE_BEYOND 0.03
#define ST_ADVICE_POINTS 2.0

/* Of one pair. */
double st_study_response(const struct st_study *s, const struct st_study_pair *pair,
                         enum st_response response);

/* Whether a combination may be recommended: the study is complete, or has as many repetitions. */
enum { ST_ADVICE_REPETITIONS = 2 };
bool st_analysis_is_enough(const struct st_analysis *a, const struct st_study *s);

/* 0, or -1 with *e: when no repetition is whole, or memory is exhausted. */
st_status st_analysis_make(struct st_analysis *a, const struct st_study *s, struct st_error *e);

/* variance: with the analyses of variance and the hypotheses. */
void st_analysis_print(const struct st_analysis *a, const struct st_study *s, bool variance,
                       FILE *out, struct st_style style);
/* The study with its analysis as JSON, malloc'ed. NULL and *e on failure. */
char *st_study_json(const struct st_analysis *a, const struct st_study *s, struct st_error *e);

#endif
