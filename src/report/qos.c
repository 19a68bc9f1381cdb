/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quality of service: the metric and the budget over time. */
#include "report/qos.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/qosplot.h"

/* The totals of the rows. */
struct sums {
	size_t read, kept, idle; /* values; of these kept; with a budget of 0 */
	double budget;           /* sum over them */
};

static struct sums
sum_up(const struct st_profile_qos *q)
{
	struct sums s = {0};
	for (size_t i = 0; i < q->rows.n; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		if (isnan(row->value))
			continue;
		s.read++;
		s.kept += !strcmp(row->state, "kept");
		s.idle += row->budget_ns == 0;
		s.budget += (double)row->budget_ns;
	}
	return s;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The least, the quartiles with the median between them, and the greatest of the values. */
enum { N_QUARTILES = 5 };

/* The quantiles 0, 1/4, 1/2, 3/4 and 1, between neighbours in proportion (type 7 of Hyndman and
 * Fan, "Sample quantiles in statistical packages", 1996). False: there is no value, or no memory.
 */
static bool
find_quartiles(const struct st_profile_qos *q, double out[N_QUARTILES])
{
	double *values = calloc(q->rows.n + 1, sizeof *values);
	size_t n = 0;
	for (size_t i = 0; values && i < q->rows.n; i++)
		if (!isnan(q->rows.v[i].value))
			values[n++] = q->rows.v[i].value;
	if (n)
		qsort(values, n, sizeof *values, by_size);
	for (size_t i = 0; i < N_QUARTILES && n; i++) {
		double at = (double)(n - 1) * (double)i / (N_QUARTILES - 1);
		size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;
		out[i] = values[below] + (at - (double)below) * (values[above] - values[below]);
	}
	free(values);
	return n > 0;
}

void
st_qos_print(FILE *out, const struct st_profile *p)
{
	const struct st_profile_qos *q = &p->qos;
	struct sums s = sum_up(q);
	if (!q->source)
		return;
	char *source = st_printable(q->source), *policy = st_printable(q->policy);
	double period = (double)st_profile_statistic(p, "budget_period_ns");
	fprintf(out, "  quality of service: %s, at %s %.6g, policy %s\n", source ? source : "",
	        q->lower ? "most" : "least", q->threshold, policy ? policy : "");
	free(source);
	free(policy);
	if (!s.read) {
		fputs("  the source gave no value, or none but 0 while the program started\n", out);
		return;
	}
	double quartiles[N_QUARTILES] = {0};
	find_quartiles(q, quartiles);
	fprintf(out, "  kept in %s of %s (%.1f %%); budget 0 in %s, on average %.3g %%\n",
	        ST_NUMBER(s.kept), ST_COUNT(s.read, "reading", "readings"),
	        100 * (double)s.kept / (double)s.read, ST_NUMBER(s.idle),
	        period > 0 ? 100 * s.budget / (double)s.read / period : 0);
	fprintf(out, "  median %.6g, quartiles %.6g and %.6g, least %.6g, greatest %.6g\n",
	        quartiles[2], quartiles[1], quartiles[3], quartiles[0], quartiles[4]);
	st_qos_plot(out, p);
}

/* null: there is no value. */
static json_t *
json_quartiles(const struct st_profile_qos *q)
{
	double quartiles[N_QUARTILES];
	if (!find_quartiles(q, quartiles))
		return json_null();
	json_t *array = json_array();
	for (size_t i = 0; i < N_QUARTILES; i++)
		json_array_append_new(array, json_real(quartiles[i]));
	return array;
}

static json_t *
json_rows(const struct st_profile_qos *q, int *bad)
{
	json_t *array = json_array();
	for (size_t i = 0; i < q->rows.n && !*bad; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		json_t *out = json_object();
		*bad |= json_array_append_new(array, out);
		*bad |= json_object_set_new(out, "time_ns", json_integer(row->time_ns));
		*bad |= json_object_set_new(out, "value", st_json_real(row->value));
		*bad |= json_object_set_new(out, "budget_ns", json_integer(row->budget_ns));
		*bad |= json_object_set_new(out, "state", st_json_text(row->state));
	}
	return array;
}

int
st_qos_json(json_t *root, const struct st_profile *p)
{
	const struct st_profile_qos *q = &p->qos;
	struct sums s = sum_up(q);
	json_t *out = json_object();
	if (!q->source) {
		json_decref(out);
		return 0;
	}
	int bad = json_object_set_new(root, "qos", out);
	bad |= json_object_set_new(out, "source", st_json_text(q->source));
	bad |= json_object_set_new(out, "policy", st_json_text(q->policy));
	bad |= json_object_set_new(out, q->lower ? "max" : "min", json_real(q->threshold));
	bad |= json_object_set_new(out, "readings", st_json_count(s.read));
	bad |= json_object_set_new(out, "kept", st_json_count(s.kept));
	bad |= json_object_set_new(out, "quartiles", json_quartiles(q));
	bad |= json_object_set_new(out, "rows", json_rows(q, &bad));
	return bad;
}

static void
qos_print_csv(FILE *out, const struct st_profile_qos *q, size_t shown)
{
	fputs("time_ns,value,budget_ns,state\n", out);
	for (size_t i = 0; i < shown; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		fprintf(out, "%" PRId64 ",", row->time_ns);
		if (!isnan(row->value))
			fprintf(out, "%.17g", row->value);
		fprintf(out, ",%" PRId64 ",", row->budget_ns);
		st_csv_text(out, row->state);
		fputc('\n', out);
	}
}

static void
qos_print_text(const struct st_report *r, FILE *out, size_t shown)
{
	static const struct st_table_column columns[] = {
	        {"time", false}, {"value", false}, {"budget", false}, {"state", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	const struct st_profile_qos *q = &r->profile->qos;
	for (size_t i = 0; i < shown; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		char *state = st_printable(row->state);
		st_table_cell(t, "%.3f s", (double)row->time_ns / 1e9);
		if (isnan(row->value))
			st_table_cell(t, "-");
		else
			st_table_cell(t, "%.6g", row->value);
		st_table_cell(t, "%.3f ms", (double)row->budget_ns / 1e6);
		st_table_cell(t, "%s", state ? state : "");
		free(state);
	}
	st_table_print(t, out, r->style);
	if (shown < q->rows.n)
		fprintf(out, "  ... and %s (--top)\n",
		        ST_COUNT(q->rows.n - shown, "more row", "more rows"));
	st_table_free(t);
}

st_status
st_report_qos(const struct st_report *r, FILE *out, enum st_report_format format,
              struct st_error *e)
{
	const struct st_profile_qos *q = &r->profile->qos;
	size_t shown = r->top && r->top < q->rows.n ? r->top : q->rows.n;
	int bad = 0;
	if (format == ST_FORMAT_CSV)
		qos_print_csv(out, q, shown);
	else if (format == ST_FORMAT_TEXT)
		qos_print_text(r, out, shown);
	if (format != ST_FORMAT_JSON)
		return 0;
	json_t *root = json_object();
	bad |= st_qos_json(root, r->profile) || json_dumpf(root, out, ST_JSON_DOCUMENT);
	json_decref(root);
	fputc('\n', out);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left to write the table") : 0;
}
