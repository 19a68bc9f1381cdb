/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The study for people: what was measured, the tables of the analyses in the form of Arafa,
 * "Time-Aware Dynamic Binary Instrumentation" (PhD thesis, Waterloo 2017), appendix A, and what
 * follows. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "tune/analysis.h"

static const struct {
	const char *title, *text;
	int decimals;
} responses[] = {
#define R(id, name, title, text, decimals) {title, text, decimals},
        ST_RESPONSES(R)
#undef R
};

static void
print_programs(const struct st_study *s, FILE *out, struct st_style style)
{
	static const struct st_table_column columns[] = {{"native s", false},
	                                                 {"CPU s", false},
	                                                 {"slowdown, CPU", false},
	                                                 {"wall", false},
	                                                 {"instructions", false},
	                                                 {"executed", false},
	                                                 {"program, without a budget", true}};
	struct st_table *t = st_table_new(columns, 7);
	for (size_t i = 0; t && i < s->programs.n; i++) {
		const struct st_study_program *p = &s->programs.v[i];
		char *command = st_study_command(p);
		st_table_cell(t, "%.3f", p->native.wall);
		st_table_cell(t, "%.3f", p->native.cpu);
		st_table_cell(t, "%.2f", p->measured.cpu / p->native.cpu);
		st_table_cell(t, "%.2f", p->measured.wall / p->native.wall);
		st_table_count(t, p->instructions);
		st_table_count(t, p->raw);
		st_table_cell(t, "%s", command ? command : "");
		free(command);
	}
	fputc('\n', out);
	st_table_print(t, out, style);
	st_table_free(t);
}

static void
tune_print_print_cell(struct st_table *t, const struct st_study_cell *cell, unsigned response)
{
	st_table_cell(t, "%.*f +- %.*f", responses[response].decimals, cell->mean[response],
	              responses[response].decimals, cell->deviation[response]);
}

static void
print_cells(const struct st_analysis *a, const struct st_study *s, FILE *out, struct st_style style)
{
	static const struct st_table_column columns[] = {{"B", false},
	                                                 {"T", false},
	                                                 {"slowdown, CPU", false},
	                                                 {"wall", false},
	                                                 {"unique coverage, %", false},
	                                                 {"raw coverage, %", false},
	                                                 {"kept", true}};
	struct st_table *t = st_table_new(columns, 7);
	for (size_t b = 0; t && b < s->n_budgets; b++)
		for (size_t p = 0; p < s->n_periods; p++) {
			st_table_cell(t, "%g %%", 100 * s->budgets[b]);
			st_table_cell(t, "%g s", s->periods[p]);
			for (unsigned r = 0; r < ST_RESPONSE_COUNT; r++)
				tune_print_print_cell(t, &a->cells[b][p], r);
			st_table_cell(t, "%s", a->kept[b][p] ? "yes" : "no");
		}
	fputc('\n', out);
	st_table_print(t, out, style);
	st_table_free(t);
}

/* As R prints it, and so the literature: below its precision a number says nothing. */
static void
print_p(struct st_table *t, double p)
{
	if (p < 2e-16)
		st_table_cell(t, "< 2e-16");
	else
		st_table_cell(t, "%.3g", p);
}

static void
print_anova(const struct st_anova *a, unsigned response, FILE *out, struct st_style style)
{
	static const struct st_table_column columns[] = {{"Source of Variation", true},
	                                                 {"Degrees of Freedom", false},
	                                                 {"Sum of Squares", false},
	                                                 {"Mean Square", false},
	                                                 {"F Ratio", false},
	                                                 {"P Value", false},
	                                                 {"Significant?", true}};
	static const char *const sources[ST_ANOVA_SOURCES] = {
	        "Time Period (T)", "Budget (B)", "Program (P)", "Interaction Factor (T:B)",
	        "Residuals"};
	struct st_table *t = st_table_new(columns, 7);
	for (unsigned i = 0; t && i < ST_ANOVA_SOURCES; i++) {
		const struct st_anova_row *row = &a->rows[i];
		if (!row->df)
			continue;
		st_table_cell(t, "%s", sources[i]);
		st_table_count(t, row->df);
		st_table_cell(t, "%.5g", row->ss);
		st_table_cell(t, "%.5g", row->ms);
		if (i == ST_ANOVA_RESIDUALS) {
			for (int empty = 0; empty < 3; empty++)
				st_table_cell(t, "%s", "");
			break;
		}
		st_table_cell(t, "%.3f", row->f);
		print_p(t, row->p);
		st_table_cell(t, "%s", row->p < ST_SIGNIFICANCE ? "Yes" : "No");
	}
	fprintf(out, "\nANOVA table: %s\n", responses[response].title);
	st_table_print(t, out, style);
	st_table_free(t);
}

static const char *
trend_text(enum st_trend trend)
{
	static const char *const texts[] = {[ST_TREND_NONE] = "does not change with it",
	                                    [ST_TREND_DOWN] = "falls as it grows",
	                                    [ST_TREND_UP] = "grows with it",
	                                    [ST_TREND_MIXED] =
	                                            "falls with one budget and grows with another"};
	return texts[trend];
}

static void
print_hypothesis(const struct st_hypothesis *h, int number, const char *claim, const char *response,
                 FILE *out)
{
	fprintf(out, "  %d. %s: %s\n", number, claim, h->stands ? "holds" : "does not hold");
	fprintf(out,
	        "     the null hypothesis, that the period makes no difference, is %s (p %s %.3g)",
	        h->rejected ? "rejected" : "not rejected", h->p < 2e-16 ? "<" : "=",
	        fmax(h->p, 2e-16));
	if (h->rejected)
		fprintf(out, "; the mean of the %s %s", response, trend_text(h->trend));
	fprintf(out, "%s\n", h->interacts ? "; the size of the effect depends on the budget" : "");
}

static void
print_hypotheses(const struct st_analysis *a, const struct st_study *s, FILE *out)
{
	if (s->n_periods < 2)
		return;
	fprintf(out, "\nhypotheses, at a significance level of %g\n", ST_SIGNIFICANCE);
#define H(id, number, response, trend, claim)                                                      \
	print_hypothesis(&a->hypotheses[ST_HYPOTHESIS_##id], number, claim,                        \
	                 responses[ST_RESPONSE_##response].text, out);
	ST_HYPOTHESES(H)
#undef H
}

static void
print_advice(const struct st_advice *advice, const struct st_analysis *a, const struct st_study *s,
             unsigned response, FILE *out)
{
	const struct st_study_cell *cell = &a->cells[advice->budget][advice->period];
	fprintf(out, "  -b %g%% -T %gs: %s of %.2f %%, at a slowdown of %.3f\n",
	        100 * s->budgets[advice->budget], s->periods[advice->period],
	        responses[response].text, cell->mean[response], cell->mean[ST_RESPONSE_CPU]);
}

/* What to do if every combination costs more than it is allowed to. */
static void
print_nearest(const struct st_analysis *a, const struct st_study *s, FILE *out)
{
	const struct st_advice *near = &a->nearest;
	const struct st_study_cell *cell = &a->cells[near->budget][near->period];
	fprintf(out,
	        "\nno combination keeps its slowdown of CPU time at 1 + B + %g or less: "
	        "none is recommended\n",
	        ST_ADVICE_BEYOND);
	if (near->found)
		fprintf(out,
		        "  the nearest is -b %g%% -T %gs, at a slowdown of %.3f, %.3f above "
		        "1 + B; with it, expect %.2f %% of unique and %.2f %% of raw coverage\n",
		        100 * s->budgets[near->budget], s->periods[near->period],
		        cell->mean[ST_RESPONSE_CPU], a->excess, cell->mean[ST_RESPONSE_UNIQUE],
		        cell->mean[ST_RESPONSE_RAW]);
}

static void
print_advices(const struct st_analysis *a, const struct st_study *s, FILE *out)
{
	if (!st_analysis_is_enough(a, s)) {
		fputs("\nnone is recommended: the study ended early, after one repetition\n", out);
		return;
	}
	if (!a->unique.found) {
		print_nearest(a, s, out);
		return;
	}
	fprintf(out,
	        "\nrecommended: of the combinations that keep their slowdown of CPU time (at most "
	        "1 + B + %g), the smallest budget within %g points of the best coverage\n",
	        ST_ADVICE_BEYOND, ST_ADVICE_POINTS);
	print_advice(&a->unique, a, s, ST_RESPONSE_UNIQUE, out);
	print_advice(&a->raw, a, s, ST_RESPONSE_RAW, out);
}

/* A period that no run lasts for is granted once, at its start. */
static void
print_short_programs(const struct st_study *s, FILE *out)
{
	double longest = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->n_periods; i++)
		longest = fmax(longest, s->periods[i]);
	for (size_t i = 0; i < s->programs.n; i++)
		n += s->programs.v[i].native.cpu < longest;
	if (n)
		fprintf(out,
		        "  %s less CPU time than a period of %g s, so its budget is granted once\n",
		        ST_COUNT(n, "program needs", "programs need"), longest);
}

static void
print_variance(const struct st_analysis *a, const struct st_study *s, FILE *out,
               struct st_style style)
{
	for (unsigned r = 0; a->tested && r < ST_RESPONSE_COUNT; r++)
		print_anova(&a->anova[r], r, out, style);
	if (a->tested)
		print_hypotheses(a, s, out);
	else
		fprintf(out, "\n%s\n", a->untested.text);
}

void
st_analysis_print(const struct st_analysis *a, const struct st_study *s, bool variance, FILE *out,
                  struct st_style style)
{
	fprintf(out, "strobe: %s on %s, %s and %s, %s of %s; policy %s, seed %" PRIu64 "\n",
	        s->tool, ST_COUNT(s->programs.n, "program", "programs"),
	        ST_COUNT(s->n_budgets, "budget", "budgets"),
	        ST_COUNT(s->n_periods, "period", "periods"), ST_NUMBER(a->repetitions),
	        ST_COUNT(s->repeat, "repetition", "repetitions"), s->policy, s->seed);
	print_short_programs(s, out);
	print_programs(s, out, style);
	print_cells(a, s, out, style);
	if (variance)
		print_variance(a, s, out, style);
	print_advices(a, s, out);
}
