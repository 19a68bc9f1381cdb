/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table of measurements: a value is in a column `value`, or in a column whose header names a
 * metric and its unit, "wall [ns]". The other columns say where it was measured (image, file,
 * function, ...) and are features if they hold numbers, labels if not.
 */
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "import/cells.h"
#include "import/json.h"
#include "profile/profile.h"

enum role { ROLE_FEATURE, ROLE_LABEL, ROLE_METRIC, ROLE_VALUE, ROLE_KEY };

struct column {
	enum role role;
	size_t key;                       /* of ROLE_KEY: which part of the key */
	const char *metric, *unit, *kind; /* of ROLE_METRIC */
};

/* Parts of a series' key that have a column of their own. */
enum {
	KEY_METRIC,
	KEY_UNIT,
	KEY_KIND,
	KEY_IMAGE,
	KEY_FILE,
	KEY_MODULE,
	KEY_CLASS,
	KEY_FUNCTION,
	KEY_LINE,
	KEY_COUNT
};
static const char *const key_names[KEY_COUNT] = {"metric", "unit",  "kind",     "image", "file",
                                                 "module", "class", "function", "line"};

struct measured {
	struct st_import *in;
	struct st_error *e;
	struct st_cells cells;
	struct column *columns;
	struct st_import_key key;
	size_t values;
};

bool
st_import_is_table(const struct st_import *in)
{
	if (!in->bytes || !in->n)
		return false;
	const char *header = in->bytes, *end = in->bytes + in->n, *line_end;
	while (header < end && (*header == '#' || *header == '\n' || *header == '\r')) {
		line_end = memchr(header, '\n', (size_t)(end - header));
		header = line_end ? line_end + 1 : end;
	}
	line_end = memchr(header, '\n', (size_t)(end - header));
	size_t n = (size_t)((line_end ? line_end : end) - header);
	if (!n || memchr(header, '\0', n))
		return false;
	bool separated =
	        memchr(header, ',', n) || memchr(header, ';', n) || memchr(header, '\t', n);
	return separated && (memmem(header, n, "value", 5) || memchr(header, '[', n));
}

/* ---- the header ---- */

static const char *
kind_of(const char *unit)
{
	static const char *const times[] = {"ns", "us", "ms", "s", "min", "h"};
	static const char *const sizes[] = {"B", "KB", "MB", "GB", "KiB", "MiB", "GiB", "bytes"};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (!strcmp(unit, times[i]))
			return ST_KIND_TIME;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (!strcmp(unit, sizes[i]))
			return ST_KIND_MEMORY;
	return ST_KIND_COUNT;
}

/* "wall [ns]". */
static bool
take_metric(struct measured *m, struct column *c, const char *header)
{
	const char *open = strrchr(header, '[');
	size_t n = strlen(header), name = open ? (size_t)(open - header) : 0;
	if (!open || header[n - 1] != ']')
		return false;
	while (name && header[name - 1] == ' ')
		name--;
	c->role = ROLE_METRIC;
	c->metric = st_profile_textf(m->in->p, "%.*s", (int)name, header);
	c->unit = st_profile_textf(m->in->p, "%.*s", (int)(header + n - open - 2), open + 1);
	c->kind = kind_of(c->unit);
	return true;
}

static bool
column_is_numeric(const struct measured *m, size_t column)
{
	for (size_t row = 0; row < m->cells.n_rows; row++) {
		const char *cell = st_cells_at(&m->cells, row, column), *end;
		double value;
		if (*cell && (st_parse_real(cell, &value, &end) || *end))
			return false;
	}
	return true;
}

static void
take_column(struct measured *m, size_t column)
{
	struct column *c = &m->columns[column];
	const char *header = st_cells_header(&m->cells, column);
	if (!strcmp(header, "value")) {
		c->role = ROLE_VALUE;
		return;
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(header, key_names[i])) {
			*c = (struct column){.role = ROLE_KEY, .key = i};
			return;
		}
	if (!take_metric(m, c, header))
		c->role = column_is_numeric(m, column) ? ROLE_FEATURE : ROLE_LABEL;
}

static st_status
table_take_header(struct measured *m)
{
	bool values = false;
	m->columns = calloc(m->cells.n_columns, sizeof *m->columns);
	if (!m->columns)
		return st_import_no_memory(m->in, m->e);
	for (size_t i = 0; i < m->cells.n_columns; i++) {
		if (!*st_cells_header(&m->cells, i))
			return st_import_bad(m->in, 1, m->e, "column %zu has no name", i + 1);
		take_column(m, i);
		values |= m->columns[i].role == ROLE_VALUE || m->columns[i].role == ROLE_METRIC;
	}
	return values ? ST_OK
	              : st_import_bad(m->in, 1, m->e,
	                              "no column has values: call it 'value', or name its "
	                              "metric and unit, as in 'wall [ns]'");
}

/* ---- the rows ---- */

static void
set_key(struct measured *m, size_t part, const char *cell)
{
	struct st_series_key *k = &m->key.key;
	const char **const parts[] = {&k->metric, &k->unit,   &k->kind,  &k->image,
	                              &k->file,   &k->module, &k->class, &k->function};
	uint64_t line;
	if (part < KEY_LINE)
		*parts[part] = cell;
	else if (!st_parse_whole(cell, &line) && line <= UINT32_MAX)
		k->line = (uint32_t)line;
}

static st_status
begin_row(struct measured *m, size_t row)
{
	m->key.key = (struct st_series_key){0};
	m->key.labels.n = 0;
	for (size_t i = 0; i < m->cells.n_columns; i++) {
		const char *cell = st_cells_at(&m->cells, row, i);
		if (!*cell)
			continue;
		if (m->columns[i].role == ROLE_KEY)
			set_key(m, m->columns[i].key, cell);
		if (m->columns[i].role == ROLE_LABEL &&
		    st_import_key_label(&m->key, st_cells_header(&m->cells, i), cell))
			return st_import_no_memory(m->in, m->e);
	}
	return ST_OK;
}

static st_status
table_add_value(struct measured *m, size_t row, double value)
{
	struct st_series *s = st_import_key_series(m->in->p, &m->key);
	size_t at = s ? st_series_add(s, value) : SIZE_MAX;
	if (at == SIZE_MAX)
		return st_import_no_memory(m->in, m->e);
	for (size_t i = 0; i < m->cells.n_columns; i++) {
		const char *cell = st_cells_at(&m->cells, row, i), *end;
		double number;
		if (m->columns[i].role == ROLE_FEATURE && *cell &&
		    !st_parse_real(cell, &number, &end) &&
		    st_series_set(m->in->p, s, st_cells_header(&m->cells, i), at, number))
			return st_import_bad(m->in, 0, m->e, "it has more than %d features",
			                     ST_MOST_FEATURES);
	}
	m->values++;
	return ST_OK;
}

/* The cells of one row that hold values; one that is no number makes the row count as skipped. */
static st_status
table_read_row(struct measured *m, size_t row)
{
	bool bad = false;
	if (begin_row(m, row))
		return ST_FAILED;
	struct st_series_key base = m->key.key;
	for (size_t i = 0; i < m->cells.n_columns; i++) {
		const struct column *c = &m->columns[i];
		const char *cell = st_cells_at(&m->cells, row, i), *end;
		double value;
		if (c->role != ROLE_METRIC && c->role != ROLE_VALUE)
			continue;
		if (st_parse_real(cell, &value, &end) || *end) {
			bad |= *cell || c->role == ROLE_VALUE;
			continue;
		}
		m->key.key = base;
		if (c->role == ROLE_METRIC) {
			m->key.key.metric = c->metric;
			m->key.key.unit = c->unit;
			m->key.key.kind = c->kind;
		}
		struct st_series_key *k = &m->key.key;
		k->metric = k->metric ? k->metric : "value";
		k->unit = k->unit ? k->unit : "";
		k->kind = k->kind ? k->kind : kind_of(k->unit);
		if (table_add_value(m, row, value))
			return ST_FAILED;
	}
	if (bad)
		st_import_skip(m->in, m->cells.lines.v[row]);
	return ST_OK;
}

st_status
st_import_table(struct st_import *in, struct st_error *e)
{
	struct measured m = {.in = in, .e = e};
	st_status status = st_cells_read(&m.cells, in, e);
	if (!status)
		status = table_take_header(&m);
	for (size_t row = 0; !status && row < m.cells.n_rows; row++)
		status = table_read_row(&m, row);
	if (!status && !m.values)
		status = st_import_bad(in, in->skipped ? in->first : 0, e, "no row has a value");
	st_import_key_free(&m.key);
	free(m.columns);
	st_cells_free(&m.cells);
	return status;
}
