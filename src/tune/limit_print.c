/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the result of a search, as text and as JSON. */
#include "base/number.h"
#include "report/json.h"
#include "tune/form.h"
#include "tune/limit.h"

static double
limit_print_percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void
limit_print_print_step(struct st_table *t, const struct st_limit *l, const struct st_limit_step *s)
{
	if (l->of_threshold)
		st_table_cell(t, "%.6g", s->level);
	else
		st_table_cell(t, "%g %%", 100 * s->level);
	st_table_count(t, s->quality.readings);
	st_table_cell(t, "%.2f",
	              limit_print_percent((double)s->quality.kept, (double)s->quality.readings));
	st_table_cell(t, "%.6g", s->quality.median);
	st_table_cell(t, "%.2f",
	              limit_print_percent((double)s->instructions, (double)l->instructions));
	st_table_cell(t, "%s", s->holds ? "yes" : "no");
}

static void
print_steps(const struct st_limit *l, FILE *out, struct st_style style)
{
	const struct st_table_column columns[] = {{l->of_threshold ? "threshold" : "B", false},
	                                          {"readings", false},
	                                          {"kept, %", false},
	                                          {"median", false},
	                                          {"unique coverage, %", false},
	                                          {"holds", true}};
	struct st_table *t = st_table_new(columns, 6);
	for (size_t i = 0; t && i < l->steps.n; i++)
		limit_print_print_step(t, l, &l->steps.v[i]);
	fputc('\n', out);
	st_table_print(t, out, style);
	st_table_free(t);
}

static void
print_result(const struct st_limit *l, FILE *out)
{
	const struct st_limit_step *s = l->found ? &l->steps.v[l->best] : NULL;
	const char *side = l->lower ? "--qos-max" : "--qos-min";
	if (!l->complete)
		fputs("\nthe search ended before it found anything certain\n", out);
	else if (s && l->of_threshold)
		fprintf(out,
		        "\nbest threshold that is kept: -b %g%% -T %gs --qos-policy %s %s %.6g\n",
		        100 * l->budget, l->period, l->policy, side, s->level);
	else if (s)
		fprintf(out, "\nlargest budget that keeps it: -b %g%% -T %gs\n", 100 * s->level,
		        l->period);
	else if (l->of_threshold)
		fprintf(out, "\nnot even %s %.6g is kept\n", side, l->threshold);
	else
		fprintf(out, "\nnot even a budget of %g %% keeps it\n", 100.0 / ST_LIMIT_LEVELS);
}

static void
print_runs_to(const struct st_limit *l, double share, FILE *out)
{
	size_t runs = st_limit_runs_to(l, share);
	if (runs)
		fprintf(out, "  %g %% after %s\n", 100 * share, ST_COUNT(runs, "run", "runs"));
	else
		fprintf(out, "  %g %% not after %s: %.2f %%\n", 100 * share,
		        ST_COUNT(l->n_runs, "run", "runs"),
		        limit_print_percent((double)l->covered[l->n_runs - 1],
		                            (double)l->instructions));
}

/* The number of runs at the limit found that see nearly all code. */
static void
print_runs(const struct st_limit *l, FILE *out)
{
	if (!l->n_runs)
		return;
	fputs("\nunique coverage of further runs with it, which share a log (--unique-log):\n",
	      out);
	print_runs_to(l, 0.98, out);
	print_runs_to(l, ST_LIMIT_COVERED, out);
}

void
st_limit_print(const struct st_limit *l, FILE *out, struct st_style style)
{
	char *command = st_printable(l->command), *source = st_printable(l->source);
	fprintf(out, "strobe: %s on %s\n", l->tool, command ? command : "");
	fprintf(out, "  %s, at %s %.6g in %g %% of the readings; T %g s\n", source ? source : "",
	        l->lower ? "most" : "least", l->threshold, 100 * ST_LIMIT_KEPT, l->period);
	fprintf(out, "  natively: %s, median %.6g, %g %% of them at %s %.6g\n",
	        ST_COUNT(l->native.readings, "reading", "readings"), l->native.median,
	        100 * ST_LIMIT_KEPT, l->lower ? "most" : "least", l->native.worst);
	free(command);
	free(source);
	print_steps(l, out, style);
	print_result(l, out);
	print_runs(l, out);
}

/* ---- JSON ---- */

static json_t *
quality_json(const struct st_quality *q)
{
	return json_pack("{s:o, s:o, s:f, s:f}", "readings", st_json_count(q->readings), "kept",
	                 st_json_count(q->kept), "median", q->median, "worst", q->worst);
}

static json_t *
step_json(const struct st_limit *l, const struct st_limit_step *s)
{
	json_t *out = quality_json(&s->quality);
	json_object_set_new(out, l->of_threshold ? "threshold" : "budget", json_real(s->level));
	json_object_set_new(out, "instructions", st_json_count(s->instructions));
	json_object_set_new(out, "holds", json_boolean(s->holds));
	return out;
}

static json_t *
runs_json(const struct st_limit *l, double share)
{
	size_t runs = st_limit_runs_to(l, share);
	return runs ? st_json_count(runs) : json_null();
}

char *
st_limit_json(const struct st_limit *l, struct st_error *e)
{
	json_t *root = json_object(), *steps = json_array(), *covered = json_array();
	for (size_t i = 0; i < l->n_runs; i++)
		json_array_append_new(covered, st_json_count(l->covered[i]));
	for (size_t i = 0; i < l->steps.n; i++)
		json_array_append_new(steps, step_json(l, &l->steps.v[i]));
	json_object_set_new(root, "strobe",
	                    json_pack("{s:i, s:i}", "version", 1, "search", ST_STUDY_VERSION));
	json_object_set_new(root, "of", json_string(l->of_threshold ? "threshold" : "budget"));
	json_object_set_new(root, "tool", st_json_text(l->tool));
	json_object_set_new(root, "command", st_json_text(l->command));
	json_object_set_new(root, "source", st_json_text(l->source));
	json_object_set_new(root, "policy", st_json_text(l->policy));
	json_object_set_new(root, l->lower ? "max" : "min", json_real(l->threshold));
	json_object_set_new(root, "budget", json_real(l->budget));
	json_object_set_new(root, "period", json_real(l->period));
	json_object_set_new(root, "repeat", st_json_count(l->repeat));
	json_object_set_new(root, "instructions", st_json_count(l->instructions));
	json_object_set_new(root, "native", quality_json(&l->native));
	json_object_set_new(root, "steps", steps);
	json_object_set_new(root, "complete", json_boolean(l->complete));
	json_object_set_new(root, "best",
	                    l->found ? step_json(l, &l->steps.v[l->best]) : json_null());
	json_object_set_new(root, "covered", covered);
	json_object_set_new(root, "runs_to_98", runs_json(l, 0.98));
	json_object_set_new(root, "runs_to_99", runs_json(l, ST_LIMIT_COVERED));
	return st_json_document(root, JSON_INDENT(2), "what was found", e);
}
