/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads records from any text file of columns, whose first line has their names. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "annotate/records_fields.h"
#include "base/parse.h"
#include "base/text.h"

/* Maps the columns of the file to metrics and features. */
struct ann_columns_reading {
	struct st_ann_data *data;
	struct st_ann_lines *l;
	size_t function, n;
	struct ann_column {
		bool is_metric;
		size_t index;
	} * columns;
};

static st_status
ann_columns_memory(const struct st_ann_lines *l)
{
	return st_fail(l->e, ST_EXIT_FAILED, "no memory left to read %s", l->name);
}

static char
ann_separator(const char *line)
{
	const size_t n = strcspn(line, "\r\n");
	static const char separators[] = "\t;,";
	for (const char *at = separators; *at; at++)
		if (memchr(line, *at, n))
			return *at;
	return ',';
}

/* Makes an identifier of the name of a column. */
static char *
ann_identifier_like(const char *text)
{
	char *name = st_text_of("%s%s", isdigit((unsigned char)*text) || !*text ? "_" : "", text);
	for (char *at = name; name && *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return name;
}

/* Returns whether the column is a metric, and its unit. */
static bool
ann_column_is_metric(const struct st_ann_columns *c, const char *name, size_t i, const char **unit)
{
	*unit = "";
	if (!c || !c->n)
		return i == 0;
	for (size_t k = 0; k < c->n; k++) {
		const size_t n = strlen(name);
		if (strncmp(c->metrics[k], name, n))
			continue;
		if (c->metrics[k][n] == ':')
			*unit = &c->metrics[k][n + 1];
		if (!c->metrics[k][n] || c->metrics[k][n] == ':')
			return true;
	}
	return false;
}

static bool
ann_is_missing(const char *text)
{
	return !*text || !strcasecmp(text, "na") || !strcasecmp(text, "nan") ||
	       !strcasecmp(text, "null");
}

/* Binds the columns by the fields of the first line. */
static st_status
ann_name_columns(struct ann_columns_reading *r, const struct st_ann_columns *c)
{
	struct st_ann_lines *l = r->l;
	struct st_ann_records *f = &r->data->functions.v[r->function];
	size_t metrics = 0;
	for (size_t i = 0; i < l->n; i++) {
		const char *unit;
		char *name = ann_identifier_like(l->v[i].text);
		const struct st_ann_feature like = {.name = name, .path = l->v[i].text};
		struct ann_column *to = &r->columns[i];
		if (!name)
			return ann_columns_memory(l);
		to->is_metric = ann_column_is_metric(c, l->v[i].text, i, &unit);
		to->index = to->is_metric ? st_ann_metric_index(f, name, unit)
		                          : st_ann_feature_index(f, &like);
		metrics += to->is_metric;
		free(name);
		if (to->index == (to->is_metric ? f->metrics.n : f->features.n))
			return ann_columns_memory(l);
	}
	for (size_t k = 0; c && k < c->n; k++) {
		const size_t n = strcspn(c->metrics[k], ":");
		bool found = false;
		for (size_t i = 0; i < l->n; i++)
			found |= strlen(l->v[i].text) == n &&
			         !strncmp(l->v[i].text, c->metrics[k], n);
		if (!found)
			return st_ann_wrong_field(l, 0,
			                          "there is no column '%.*s'; the first is '%.60s'",
			                          (int)n, c->metrics[k], l->v[0].text);
	}
	return ST_OK;
}

/* The column had numbers so far and now has a text: its numbers become labels. */
static st_status
ann_become_category(struct st_ann_feature *f, size_t n)
{
	f->kind = ST_ANN_CATEGORY;
	for (size_t i = 0; i < n; i++) {
		char text[40];
		if (isnan(f->v[i]))
			continue;
		snprintf(text, sizeof text, "%.15g", f->v[i]);
		if (st_ann_label_index(f, text, &f->v[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
ann_take_column_value(struct ann_columns_reading *r, size_t i)
{
	struct st_ann_records *f = &r->data->functions.v[r->function];
	const char *const text = r->l->v[i].text, *end;
	double value;
	if (ann_is_missing(text))
		return ST_OK;
	if (r->columns[i].is_metric)
		return st_ann_field_metric(r->l, i, &f->metrics.v[r->columns[i].index].v[f->n - 1]);
	struct st_ann_feature *feature = &f->features.v[r->columns[i].index];
	const bool number = !st_parse_real(text, &value, &end) && !*end;
	if (!number && feature->kind != ST_ANN_CATEGORY && ann_become_category(feature, f->n))
		return ann_columns_memory(r->l);
	if (feature->kind != ST_ANN_CATEGORY)
		feature->v[f->n - 1] = value;
	else if (st_ann_label_index(feature, text, &feature->v[f->n - 1]))
		return ann_columns_memory(r->l);
	return ST_OK;
}

static st_status
ann_take_column_lines(struct ann_columns_reading *r)
{
	struct st_ann_records *f = &r->data->functions.v[r->function];
	st_status failed;
	size_t taken = 0;
	while (st_ann_next_line(r->l, &failed)) {
		if (r->l->v[0].text[0] == '#')
			continue;
		if (r->l->n != r->n)
			return st_ann_wrong_field(
			        r->l, r->l->n - 1,
			        "the line has %zu fields, and the first line %zu%s", r->l->n, r->n,
			        st_ann_why_short(r->l));
		if (st_ann_record_new(f, f->runs))
			return ann_columns_memory(r->l);
		for (size_t i = 0; i < r->n; i++)
			if (ann_take_column_value(r, i))
				return ST_FAILED;
		taken++;
	}
	if (failed)
		return ST_FAILED;
	return taken ? ST_OK
	             : st_fail(r->l->e, ST_EXIT_FAILED, "%s has no record after its first line",
	                       r->l->name);
}

/* Returns the name of the file without its folder and its ending. */
static char *
ann_name_of_file(const char *path)
{
	char *name = strdup(st_base_name(path));
	char *dot = name ? strrchr(name, '.') : NULL;
	if (dot && dot > name)
		*dot = 0;
	return name;
}

st_status
st_ann_columns_take(struct st_ann_data *d, struct st_ann_lines *l, const struct st_ann_columns *c)
{
	struct ann_columns_reading r = {.data = d, .l = l};
	st_status failed;
	l->separator = ann_separator(l->at);
	if (!st_ann_next_line(l, &failed))
		return failed ? ST_FAILED
		              : st_fail(l->e, ST_EXIT_FAILED, "%s has no record: it is empty",
		                        l->name);
	r.n = l->n;
	if (r.n < 2)
		return st_ann_wrong_field(
		        l, 0,
		        "the first line has one column only; a metric and features "
		        "are needed, separated by commas, semicolons or tabs");
	r.columns = calloc(r.n, sizeof *r.columns);
	char *name = c && c->function ? strdup(c->function) : ann_name_of_file(l->name);
	struct st_ann_records *f =
	        name && r.columns ? st_ann_data_function(d, name, NULL, NULL) : NULL;
	st_status status = f ? ST_OK : ann_columns_memory(l);
	if (!status) {
		r.function = (size_t)(f - d->functions.v);
		status = ann_name_columns(&r, c) || ann_take_column_lines(&r) ? ST_FAILED : ST_OK;
	}
	free(name);
	free(r.columns);
	return status;
}
