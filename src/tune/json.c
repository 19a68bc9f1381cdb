/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The study as JSON: what was measured, from which all the rest follows, and its analysis. */

#include "report/json.h"
#include "tune/analysis.h"
#include "tune/form.h"

static const char *const names[] = {
#define R(id, name, title, text, decimals) name,
        ST_RESPONSES(R)
#undef R
};

static json_t *
time_json(const struct st_study_time *t)
{
	return json_pack("{s:f, s:f}", "seconds", t->wall, "cpu_seconds", t->cpu);
}

static json_t *
levels_json(const double *levels, size_t n)
{
	json_t *out = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(out, json_real(levels[i]));
	return out;
}

static json_t *
program_json(const struct st_study_program *p)
{
	json_t *out = json_object(), *words = json_array();
	for (char **word = p->argv; *word; word++)
		json_array_append_new(words, st_json_text(*word));
	json_object_set_new(out, "command", words);
	json_object_set_new(out, "exit", json_integer(p->exit_code));
	json_object_set_new(out, "native", time_json(&p->native));
	json_object_set_new(out, "measured", time_json(&p->measured));
	json_object_set_new(out, "instructions", st_json_count(p->instructions));
	json_object_set_new(out, "raw_instructions", st_json_count(p->raw));
	return out;
}

static json_t *
json_pair_json(const struct st_study *s, const struct st_study_pair *p)
{
	json_t *out = json_object();
	json_object_set_new(out, "program", st_json_count(p->program));
	json_object_set_new(out, "repetition", st_json_count(p->repetition));
	json_object_set_new(out, "budget", json_real(s->budgets[p->budget]));
	json_object_set_new(out, "period", json_real(s->periods[p->period]));
	json_object_set_new(out, "native", time_json(&p->native));
	json_object_set_new(out, "measured", time_json(&p->measured));
	json_object_set_new(out, "instructions", st_json_count(p->instructions));
	json_object_set_new(out, "raw_instructions", st_json_count(p->raw));
	for (unsigned r = 0; r < ST_RESPONSE_COUNT; r++)
		json_object_set_new(out, names[r],
		                    st_json_real(st_study_response(s, p, (enum st_response)r)));
	return out;
}

/* ---- the analysis ---- */

static json_t *
cell_json(const struct st_analysis *a, const struct st_study *s, size_t budget, size_t period)
{
	const struct st_study_cell *cell = &a->cells[budget][period];
	json_t *out = json_object();
	json_object_set_new(out, "budget", json_real(s->budgets[budget]));
	json_object_set_new(out, "period", json_real(s->periods[period]));
	for (unsigned r = 0; r < ST_RESPONSE_COUNT; r++)
		json_object_set_new(out, names[r],
		                    json_pack("{s:o, s:o}", "mean", st_json_real(cell->mean[r]),
		                              "deviation", st_json_real(cell->deviation[r])));
	json_object_set_new(out, "kept", json_boolean(a->kept[budget][period]));
	return out;
}

static json_t *
row_json(const struct st_anova_row *row, const char *source, bool residuals)
{
	json_t *out = json_object();
	json_object_set_new(out, "source", json_string(source));
	json_object_set_new(out, "df", st_json_count(row->df));
	json_object_set_new(out, "sum_of_squares", json_real(row->ss));
	json_object_set_new(out, "mean_square", json_real(row->ms));
	if (residuals)
		return out;
	json_object_set_new(out, "f", st_json_real(row->f));
	json_object_set_new(out, "p", json_real(row->p));
	json_object_set_new(out, "significant", json_boolean(row->p < ST_SIGNIFICANCE));
	return out;
}

static json_t *
anova_json(const struct st_anova *a)
{
	static const char *const sources[ST_ANOVA_SOURCES] = {"T", "B", "P", "T:B", "residuals"};
	json_t *out = json_array();
	for (unsigned i = 0; i < ST_ANOVA_SOURCES; i++)
		if (a->rows[i].df)
			json_array_append_new(
			        out, row_json(&a->rows[i], sources[i], i == ST_ANOVA_RESIDUALS));
	return out;
}

static json_t *
hypothesis_json(const struct st_hypothesis *h, int number, const char *claim)
{
	static const char *const trends[] = {[ST_TREND_NONE] = "none",
	                                     [ST_TREND_DOWN] = "falls",
	                                     [ST_TREND_UP] = "grows",
	                                     [ST_TREND_MIXED] = "mixed"};
	return json_pack("{s:i, s:s, s:f, s:b, s:b, s:s, s:b}", "number", number, "claim", claim,
	                 "p", h->p, "null_rejected", h->rejected, "interacts", h->interacts,
	                 "trend", trends[h->trend], "stands", h->stands);
}

static json_t *
hypotheses_json(const struct st_analysis *a)
{
	json_t *out = json_array();
#define H(id, number, response, trend, claim)                                                      \
	json_array_append_new(out,                                                                 \
	                      hypothesis_json(&a->hypotheses[ST_HYPOTHESIS_##id], number, claim));
	ST_HYPOTHESES(H)
#undef H
	return out;
}

static json_t *
advice_json(const struct st_advice *advice, const struct st_study *s)
{
	return advice->found ? json_pack("{s:f, s:f}", "budget", s->budgets[advice->budget],
	                                 "period", s->periods[advice->period])
	                     : json_null();
}

static json_t *
analysis_json(const struct st_analysis *a, const struct st_study *s)
{
	json_t *out = json_object(), *cells = json_array(), *tables = json_object();
	for (size_t b = 0; b < s->n_budgets; b++)
		for (size_t t = 0; t < s->n_periods; t++)
			json_array_append_new(cells, cell_json(a, s, b, t));
	for (unsigned r = 0; a->tested && r < ST_RESPONSE_COUNT; r++)
		json_object_set_new(tables, names[r], anova_json(&a->anova[r]));
	json_object_set_new(out, "repetitions", st_json_count(a->repetitions));
	json_object_set_new(out, "cells", cells);
	json_object_set_new(out, "anova", tables);
	json_object_set_new(out, "hypotheses",
	                    a->tested && s->n_periods > 1 ? hypotheses_json(a) : json_array());
	json_object_set_new(out, "nearest", advice_json(&a->nearest, s));
	json_object_set_new(out, "recommended",
	                    json_pack("{s:o, s:o}", "unique_coverage", advice_json(&a->unique, s),
	                              "raw_coverage", advice_json(&a->raw, s)));
	return out;
}

char *
st_study_json(const struct st_analysis *a, const struct st_study *s, struct st_error *e)
{
	json_t *root = json_object(), *programs = json_array(), *runs = json_array();
	for (size_t i = 0; i < s->programs.n; i++)
		json_array_append_new(programs, program_json(&s->programs.v[i]));
	for (size_t i = 0; i < s->pairs.n; i++)
		json_array_append_new(runs, json_pair_json(s, &s->pairs.v[i]));
	json_object_set_new(root, "strobe",
	                    json_pack("{s:i, s:i}", "version", 1, "study", ST_STUDY_VERSION));
	json_object_set_new(root, "tool", st_json_text(s->tool));
	json_object_set_new(root, "policy", st_json_text(s->policy));
	/* JSON numbers of other programs end at 53 bits. */
	json_object_set_new(root, "seed", json_sprintf("%llu", (unsigned long long)s->seed));
	json_object_set_new(root, "repeat", st_json_count(s->repeat));
	json_object_set_new(root, "complete", json_boolean(s->complete));
	json_object_set_new(root, "budgets", levels_json(s->budgets, s->n_budgets));
	json_object_set_new(root, "periods", levels_json(s->periods, s->n_periods));
	json_object_set_new(root, "programs", programs);
	json_object_set_new(root, "runs", runs);
	json_object_set_new(root, "analysis", analysis_json(a, s));
	return st_json_document(root, JSON_INDENT(2), "the study", e);
}
