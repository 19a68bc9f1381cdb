/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/measurements.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "stats/spread.h"

/* A series in the order of the table. */
struct entry {
	const struct st_series *series;
	size_t rank; /* of its metric, by the first series that has it */
	struct st_spread spread;
};

static int
series_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->spread.sum != y->spread.sum)
		return x->spread.sum > y->spread.sum ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
}

static bool
same_metric(const struct st_series *a, const struct st_series *b)
{
	return !strcmp(a->key.metric, b->key.metric) && !strcmp(a->key.unit, b->key.unit);
}

/* malloc'ed; NULL: no memory. */
static struct entry *
entries_of(const struct st_measurements *m)
{
	struct entry *v = calloc(m->series.n, sizeof *v);
	for (size_t i = 0; v && i < m->series.n; i++) {
		v[i].series = &m->series.v[i];
		while (!same_metric(v[i].series, &m->series.v[v[i].rank]))
			v[i].rank++;
		if (st_spread_of(v[i].series->values, v[i].series->n, &v[i].spread)) {
			free(v);
			return NULL;
		}
	}
	if (v)
		st_order(v, m->series.n, sizeof *v, series_order);
	return v;
}

/* 0: it is no unit of time. */
static double
ns_of_unit(const char *unit)
{
	return !strcmp(unit, "ns")   ? 1
	       : !strcmp(unit, "us") ? 1e3
	       : !strcmp(unit, "ms") ? 1e6
	       : !strcmp(unit, "s")  ? 1e9
	                             : 0;
}

const char *
st_measured_text(char buffer[2 * ST_NUMBER_SIZE], const char *unit, double value)
{
	double ns = ns_of_unit(unit) * fabs(value);
	bool plain = fabs(value) < 1e15 && ns < 1e18;
	int sign = snprintf(buffer, 2 * ST_NUMBER_SIZE, value < 0 ? "-" : "");
	if (isnan(value))
		strcpy(buffer, "-");
	else if (ns_of_unit(unit) > 0 && plain)
		st_duration(buffer + sign, llround(ns));
	else if (!strcmp(unit, "B") && plain)
		st_size(buffer + sign, (uint64_t)llround(fabs(value)));
	else
		snprintf(buffer, 2 * ST_NUMBER_SIZE, "%.6g%s%s", value, *unit ? " " : "", unit);
	return buffer;
}

/* A mean of counts needs no more digits than tell it from others: "52.3" faults, and "0.70". */
static const char *
value_text(char buffer[2 * ST_NUMBER_SIZE], const struct st_series *s, double value)
{
	const bool counts = !strcmp(s->key.kind, ST_KIND_COUNT) && !*s->key.unit;
	if (!counts || !(fabs(value) < 1e4) || value == nearbyint(value))
		return st_measured_text(buffer, s->key.unit, value);
	snprintf(buffer, 2 * ST_NUMBER_SIZE, "%.*f", fabs(value) < 10 ? 2 : 1, value);
	return buffer;
}

static void
value_cell(struct st_table *t, const struct st_series *s, double value)
{
	char buffer[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%s", value_text(buffer, s, value));
}

/* The interval of a mean may begin below zero, where times and counts have no values. */
static void
interval_cell(struct st_table *t, const struct entry *x, double low, double high)
{
	char a[2 * ST_NUMBER_SIZE], b[2 * ST_NUMBER_SIZE];
	if (low < 0 && x->spread.least >= 0)
		low = 0;
	if (isnan(low))
		st_table_cell(t, "-");
	else
		st_table_cell(t, "%s to %s", value_text(a, x->series, low),
		              value_text(b, x->series, high));
}

/* Where it was measured, and of which workload. */
static void
location_cell(struct st_table *t, const struct st_series *s)
{
	char *uid = st_series_uid(s);
	const char *workload = st_series_label(s, "workload");
	const struct st_series_frame *f = s->key.frames;
	if (workload)
		st_table_cell(t, "%s (workload %s)", uid ? uid : "", workload);
	else if (s->key.n_frames > 1 && f[1].function)
		st_table_cell(t, "%s, called by %s", uid ? uid : "", f[1].function);
	else
		st_table_cell(t, "%s", uid ? uid : "");
	free(uid);
}

static void
entry_row(struct st_table *t, const struct entry *x, bool with_location)
{
	const struct st_spread *s = &x->spread;
	st_table_cell(t, "%s", x->series->key.metric);
	st_table_count(t, s->n);
	value_cell(t, x->series, s->mean);
	interval_cell(t, x, s->mean_low, s->mean_high);
	value_cell(t, x->series, s->median);
	interval_cell(t, x, s->median_low, s->median_high);
	value_cell(t, x->series, s->least);
	value_cell(t, x->series, s->most);
	value_cell(t, x->series, s->deviation);
	if (with_location)
		location_cell(t, x->series);
}

/* Whether the command that the summary names says where all was measured. */
static bool
is_one_location(const struct st_profile *p)
{
	const struct st_measurements *m = &p->measurements;
	for (size_t i = 0; i < m->series.n; i++) {
		const struct st_series_key *k = &m->series.v[i].key;
		if (!p->run.command.n || !k->image || strcmp(k->image, p->run.command.v[0]) ||
		    k->file || k->module || k->class || k->function || k->n_labels)
			return false;
	}
	return true;
}

void
st_report_measurements(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"metric", true},   {"n", false},      {"mean", false}, {"95 %", false},
	        {"median", false},  {"95 %", false},   {"min", false},  {"max", false},
	        {"std dev", false}, {"location", true}};
	const struct st_measurements *m = &r->profile->measurements;
	struct entry *v = m->series.n ? entries_of(m) : NULL;
	bool one = is_one_location(r->profile);
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns - one);
	size_t shown = 0, first = 0;
	for (size_t i = 0; v && i < m->series.n; i++) {
		if (v[i].rank != v[first].rank)
			first = i;
		if (r->top && i - first >= r->top)
			continue;
		entry_row(t, &v[i], !one);
		shown++;
	}
	if (shown) {
		putc('\n', out);
		st_table_print(t, out, r->style);
	}
	if (v && shown < m->series.n)
		fprintf(out, "  ... and %s (--top)\n",
		        ST_COUNT(m->series.n - shown, "more series", "more series"));
	st_table_free(t);
	free(v);
}
