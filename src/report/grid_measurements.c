/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of repeated measurements: a row for each series, and a row for each value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/grid.h"
#include "report/measurements.h"
#include "stats/spread.h"

/* The text of each series, by its index. */
struct series_facts {
	size_t n;
	struct st_spread *spreads; /* NULL in the table of values */
	char **uids;
	size_t *first; /* row of each series, and of what would follow; NULL in that of series */
	const char **labels;
	size_t n_labels, labels_cap;
};

static void
facts_release(void *owned)
{
	struct series_facts *f = owned;
	for (size_t i = 0; f && f->uids && i < f->n; i++)
		free(f->uids[i]);
	if (!f)
		return;
	free(f->uids);
	free(f->spreads);
	free(f->first);
	free(f->labels);
	free(f);
}

static st_status
facts_add_label(struct series_facts *f, const char *name)
{
	for (size_t i = 0; i < f->n_labels; i++)
		if (!strcmp(f->labels[i], name))
			return ST_OK;
	const char **grown = st_vec_grow(f->labels, f->n_labels, &f->labels_cap, sizeof *f->labels);
	if (!grown)
		return ST_FAILED;
	f->labels = grown;
	f->labels[f->n_labels++] = name;
	return ST_OK;
}

/* The data of both tables. The grid owns it. NULL: no memory. */
static struct series_facts *
facts_of(struct st_grid *g, const struct st_measurements *m)
{
	struct series_facts *f = calloc(1, sizeof *f);
	g->owned = f;
	g->release = facts_release;
	if (!f || !(f->uids = calloc(m->series.n, sizeof *f->uids)))
		return NULL;
	f->n = m->series.n;
	for (size_t i = 0; i < f->n; i++) {
		const struct st_series_key *k = &m->series.v[i].key;
		if (!(f->uids[i] = st_series_uid(&m->series.v[i])))
			return NULL;
		for (size_t l = 0; l < k->n_labels; l++)
			if (facts_add_label(f, k->labels[l].name))
				return NULL;
	}
	return f;
}

static void
set_real(struct st_grid_cell *out, double value)
{
	*out = (struct st_grid_cell){.kind = isnan(value) ? ST_GRID_NULL : ST_GRID_REAL,
	                             .real = value};
}

static void
set_series_text(struct st_grid_cell *out, const char *text)
{
	*out = (struct st_grid_cell){.kind = text ? ST_GRID_TEXT : ST_GRID_NULL, .text = text};
}

/* Columns that say which series it is; then those of each table, features, and labels. */
enum { K_METRIC, K_KIND, K_UNIT, K_LOCATION, K_FUNCTION, K_FILE, K_LINE, K_COUNT };
enum { S_N = K_COUNT, S_SUM, S_MEAN, S_MEAN_LOW, S_MEAN_HIGH, S_MEDIAN, S_MEDIAN_LOW };
enum { S_MEDIAN_HIGH = S_MEDIAN_LOW + 1, S_MIN, S_MAX, S_DEVIATION, V_VALUE, FEATURE, LABEL };

static void
key_cell(const struct series_facts *f, const struct st_series *s, size_t index, size_t of,
         struct st_grid_cell *out)
{
	const struct st_series_key *k = &s->key;
	if (of == K_LINE) {
		*out = (struct st_grid_cell){.kind = k->line ? ST_GRID_COUNT : ST_GRID_NULL,
		                             .number = k->line};
		return;
	}
	const char *const texts[] = {
	        [K_METRIC] = k->metric,        [K_KIND] = k->kind,         [K_UNIT] = k->unit,
	        [K_LOCATION] = f->uids[index], [K_FUNCTION] = k->function, [K_FILE] = k->file};
	set_series_text(out, texts[of]);
}

static void
series_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
            struct st_grid_cell *out)
{
	const struct series_facts *f = g->owned;
	const struct st_series *series = &g->profile->measurements.series.v[row];
	const struct st_spread *s = &f->spreads[row];
	const double values[] = {s->sum,    s->mean,       s->mean_low,    s->mean_high,
	                         s->median, s->median_low, s->median_high, s->least,
	                         s->most,   s->deviation};
	if (c->of < K_COUNT)
		key_cell(f, series, row, c->of, out);
	else if (c->of == S_N)
		*out = (struct st_grid_cell){.kind = ST_GRID_COUNT, .number = s->n};
	else if (c->of == LABEL)
		set_series_text(out, st_series_label(series, f->labels[c->part]));
	else
		set_real(out, values[c->of - S_SUM]);
}

static char *
series_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	struct st_grid_cell cell;
	char buffer[2 * ST_NUMBER_SIZE];
	series_cell(g, row, c, &cell);
	if (c->of < S_SUM || c->of > S_DEVIATION)
		return st_grid_plain(&cell);
	return strdup(st_measured_text(buffer, g->profile->measurements.series.v[row].key.unit,
	                               cell.kind == ST_GRID_NULL ? NAN : cell.real));
}

static st_status
add_key_columns(struct st_grid *g)
{
	static const char *const names[] = {"metric",   "kind", "unit", "location",
	                                    "function", "file", "line"};
	for (size_t i = 0; i < K_COUNT; i++) {
		struct st_grid_column *c = st_grid_add(g, names[i], i == K_LINE, i);
		if (!c)
			return ST_FAILED;
		if (i != K_METRIC)
			c->position = 0; /* the location says the others, and comes last */
	}
	return ST_OK;
}

static st_status
add_last_columns(struct st_grid *g, const struct series_facts *f)
{
	for (size_t i = 0; i < f->n_labels; i++) {
		struct st_grid_column *c = st_grid_add(g, f->labels[i], false, LABEL);
		if (!c)
			return ST_FAILED;
		c->part = i;
	}
	g->columns.v[K_LOCATION].position = g->columns.n + 1;
	return ST_OK;
}

st_status
st_grid_of_series(struct st_grid *g, const struct st_profile *p)
{
	static const char *const names[] = {"n",         "sum",    "mean",       "mean_low",
	                                    "mean_high", "median", "median_low", "median_high",
	                                    "min",       "max",    "deviation"};
	struct series_facts *f = facts_of(g, &p->measurements);
	if (!f || !(f->spreads = calloc(f->n, sizeof *f->spreads)) || add_key_columns(g))
		return ST_FAILED;
	for (size_t i = 0; i < f->n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		if (st_spread_of(s->values, s->n, &f->spreads[i]))
			return ST_FAILED;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!st_grid_add(g, names[i], true, S_N + i))
			return ST_FAILED;
	g->rows = f->n;
	g->cell = series_cell;
	g->text = series_text;
	return add_last_columns(g, f);
}

/* The series that a value belongs to. */
static size_t
series_of_row(const struct series_facts *f, size_t row)
{
	size_t low = 0, high = f->n;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;
		if (f->first[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void
measurement_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
                 struct st_grid_cell *out)
{
	const struct series_facts *f = g->owned;
	const struct st_measurements *m = &g->profile->measurements;
	const size_t index = series_of_row(f, row), at = row - f->first[index];
	const struct st_series *s = &m->series.v[index];
	if (c->of < K_COUNT) {
		key_cell(f, s, index, c->of, out);
	} else if (c->of == V_VALUE) {
		set_real(out, s->values[at]);
	} else if (c->of == FEATURE) {
		const double *v = st_series_feature(s, m->names.v[c->part]);
		set_real(out, v ? v[at] : NAN);
	} else {
		set_series_text(out, st_series_label(s, f->labels[c->part]));
	}
}

static char *
measurement_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	const struct series_facts *f = g->owned;
	struct st_grid_cell cell;
	char buffer[2 * ST_NUMBER_SIZE];
	measurement_cell(g, row, c, &cell);
	if (c->of != V_VALUE)
		return st_grid_plain(&cell);
	const struct st_series *s = &g->profile->measurements.series.v[series_of_row(f, row)];
	return strdup(
	        st_measured_text(buffer, s->key.unit, cell.kind == ST_GRID_NULL ? NAN : cell.real));
}

st_status
st_grid_of_measurements(struct st_grid *g, const struct st_profile *p)
{
	const struct st_measurements *m = &p->measurements;
	struct series_facts *f = facts_of(g, m);
	if (!f || !(f->first = calloc(f->n + 1, sizeof *f->first)) || add_key_columns(g) ||
	    !st_grid_add(g, "value", true, V_VALUE))
		return ST_FAILED;
	for (size_t i = 0; i < f->n; i++)
		f->first[i + 1] = f->first[i] + m->series.v[i].n;
	for (size_t i = 0; i < m->names.n; i++) {
		struct st_grid_column *c = st_grid_add(g, m->names.v[i], true, FEATURE);
		if (!c)
			return ST_FAILED;
		c->part = i;
	}
	g->rows = f->first[f->n];
	g->cell = measurement_cell;
	g->text = measurement_text;
	return add_last_columns(g, f);
}
