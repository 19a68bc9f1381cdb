/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tune/analysis.h"

#include <math.h>
#include <stdlib.h>

double
st_study_response(const struct st_study *s, const struct st_study_pair *pair,
                  enum st_response response)
{
	const struct st_study_program *p = &s->programs.v[pair->program];
	switch (response) {
	case ST_RESPONSE_CPU:
		return pair->measured.cpu / pair->native.cpu;
	case ST_RESPONSE_WALL:
		return pair->measured.wall / pair->native.wall;
	case ST_RESPONSE_UNIQUE:
		return 100 * (double)pair->instructions / (double)p->instructions;
	default:
		return 100 * (double)pair->raw / (double)p->raw;
	}
}

static bool
is_factor(enum st_response response)
{
	return response == ST_RESPONSE_CPU || response == ST_RESPONSE_WALL;
}

/* The pairs of the whole repetitions. */
static size_t
whole_pairs(const struct st_analysis *a, const struct st_study *s)
{
	return a->repetitions * st_study_steps(s);
}

static bool
is_in_cell(const struct st_study_pair *p, size_t budget, size_t period)
{
	return p->budget == budget && p->period == period;
}

static void
fill_cell(struct st_analysis *a, const struct st_study *s, size_t budget, size_t period,
          enum st_response response)
{
	struct st_study_cell *cell = &a->cells[budget][period];
	double sum = 0, squares = 0, logs = 0;
	size_t n = 0;
	for (size_t i = 0; i < whole_pairs(a, s); i++) {
		if (!is_in_cell(&s->pairs.v[i], budget, period))
			continue;
		double y = st_study_response(s, &s->pairs.v[i], response);
		double before = sum / (double)(n ? n : 1);
		sum += y;
		n++;
		squares += (y - before) * (y - sum / (double)n);
		logs += log(y);
	}
	cell->mean[response] = is_factor(response) ? exp(logs / (double)n) : sum / (double)n;
	cell->deviation[response] = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

static void
fill_cells(struct st_analysis *a, const struct st_study *s)
{
	for (size_t b = 0; b < s->n_budgets; b++)
		for (size_t t = 0; t < s->n_periods; t++) {
			for (unsigned r = 0; r < ST_RESPONSE_COUNT; r++)
				fill_cell(a, s, b, t, (enum st_response)r);
			a->kept[b][t] = a->cells[b][t].mean[ST_RESPONSE_CPU] <=
			                1 + s->budgets[b] + ST_ADVICE_BEYOND;
		}
}

static st_status
make_tables(struct st_analysis *a, const struct st_study *s, struct st_error *e)
{
	const size_t levels[3] = {s->n_periods, s->n_budgets, s->programs.n};
	size_t n = whole_pairs(a, s);
	struct st_anova_point *points = calloc(n, sizeof *points);
	int status = points ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (unsigned r = 0; r < ST_RESPONSE_COUNT && !status; r++) {
		for (size_t i = 0; i < n; i++) {
			const struct st_study_pair *p = &s->pairs.v[i];
			points[i] = (struct st_anova_point){
			        .first = p->period,
			        .second = p->budget,
			        .block = p->program,
			        .y = st_study_response(s, p, (enum st_response)r)};
		}
		status = st_anova(points, n, levels, &a->anova[r], e);
	}
	free(points);
	return status;
}

/* ---- hypotheses ---- */

/* By the covariance of the response with the logarithm of the period, at one budget. */
static double
slope(const struct st_analysis *a, const struct st_study *s, size_t budget,
      enum st_response response)
{
	double x = 0, sum = 0;
	for (size_t t = 0; t < s->n_periods; t++)
		x += log(s->periods[t]) / (double)s->n_periods;
	for (size_t t = 0; t < s->n_periods; t++)
		sum += (log(s->periods[t]) - x) * a->cells[budget][t].mean[response];
	return sum;
}

static enum st_trend
trend_of(double slope)
{
	return slope < 0 ? ST_TREND_DOWN : slope > 0 ? ST_TREND_UP : ST_TREND_NONE;
}

static enum st_trend
trend(const struct st_analysis *a, const struct st_study *s, enum st_response response,
      bool interacts)
{
	double sum = 0;
	bool up = false, down = false;
	for (size_t b = 0; b < s->n_budgets; b++) {
		double one = slope(a, s, b, response);
		up |= one > 0;
		down |= one < 0;
		sum += one;
	}
	return interacts && up && down ? ST_TREND_MIXED : trend_of(sum);
}

static void
judge(struct st_analysis *a, const struct st_study *s, unsigned i, enum st_response response,
      enum st_trend claim)
{
	const struct st_anova_row *rows = a->anova[response].rows;
	struct st_hypothesis *h = &a->hypotheses[i];
	bool has_interaction = rows[ST_ANOVA_INTERACTION].df > 0;
	h->p = rows[ST_ANOVA_FIRST].df ? rows[ST_ANOVA_FIRST].p : 1;
	h->rejected = h->p < ST_SIGNIFICANCE;
	h->interacts = has_interaction && rows[ST_ANOVA_INTERACTION].p < ST_SIGNIFICANCE;
	h->trend = trend(a, s, response, h->interacts);
	h->stands = h->rejected && h->trend == claim;
}

/* ---- advice ---- */

/* Is the combination better than another one whose coverage is as good? */
static bool
is_better(const struct st_analysis *a, const struct st_study *s, const struct st_advice *than,
          size_t budget, size_t period, enum st_response response)
{
	double one = s->budgets[budget], other = s->budgets[than->budget];
	if (!than->found || one != other)
		return !than->found || one < other;
	return a->cells[budget][period].mean[response] >
	       a->cells[than->budget][than->period].mean[response];
}

/* The smallest budget whose coverage is next to the best of those that are kept. */
static struct st_advice
advise(const struct st_analysis *a, const struct st_study *s, enum st_response response)
{
	struct st_advice advice = {0};
	double best = 0;
	for (size_t b = 0; b < s->n_budgets; b++)
		for (size_t t = 0; t < s->n_periods; t++)
			if (a->kept[b][t])
				best = fmax(best, a->cells[b][t].mean[response]);
	for (size_t b = 0; b < s->n_budgets; b++)
		for (size_t t = 0; t < s->n_periods; t++)
			if (a->kept[b][t] &&
			    a->cells[b][t].mean[response] >= best - ST_ADVICE_POINTS &&
			    is_better(a, s, &advice, b, t, response))
				advice = (struct st_advice){true, b, t};
	return advice;
}

/* The combination whose slowdown exceeds its allowed one by the least. */
static void
find_nearest(struct st_analysis *a, const struct st_study *s)
{
	a->excess = INFINITY;
	for (size_t b = 0; b < s->n_budgets; b++)
		for (size_t t = 0; t < s->n_periods; t++) {
			double slowdown = a->cells[b][t].mean[ST_RESPONSE_CPU];
			double excess = slowdown - (1 + s->budgets[b]);
			if (!(excess < a->excess))
				continue;
			a->excess = excess;
			a->nearest = (struct st_advice){true, b, t};
		}
}

bool
st_analysis_is_enough(const struct st_analysis *a, const struct st_study *s)
{
	return s->complete || a->repetitions >= ST_ADVICE_REPETITIONS;
}

st_status
st_analysis_make(struct st_analysis *a, const struct st_study *s, struct st_error *e)
{
	*a = (struct st_analysis){.repetitions = st_study_repetitions(s)};
	if (!a->repetitions)
		return st_fail(e, ST_EXIT_FAILED,
		               "no repetition is complete, so there is nothing to analyse");
	fill_cells(a, s);
	a->tested = !make_tables(a, s, &a->untested);
	if (a->tested) {
#define H(id, number, response, trend, text)                                                       \
	judge(a, s, ST_HYPOTHESIS_##id, ST_RESPONSE_##response, ST_TREND_##trend);
		ST_HYPOTHESES(H)
#undef H
	}
	if (!st_analysis_is_enough(a, s))
		return ST_OK;
	a->unique = advise(a, s, ST_RESPONSE_UNIQUE);
	a->raw = advise(a, s, ST_RESPONSE_RAW);
	if (!a->unique.found)
		find_nearest(a, s);
	return 0;
}
