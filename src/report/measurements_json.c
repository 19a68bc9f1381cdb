/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All series with all values, as docs/json.md has them. */
#include <math.h>

#include "report/json.h"
#include "report/measurements.h"
#include "stats/spread.h"

/* Whole numbers keep all their digits. */
static json_t *
series_number(double value)
{
	const double exact = 9007199254740992.0;
	if (!isfinite(value))
		return json_null();
	return fabs(value) <= exact && value == trunc(value) ? json_integer((json_int_t)value)
	                                                     : json_real(value);
}

static json_t *
series_numbers(const double *v, size_t n)
{
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(array, series_number(v[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static int
set_known(json_t *out, const char *key, const char *text)
{
	return json_object_set_new(out, key, text ? st_json_text(text) : json_null());
}

static int
set_line(json_t *out, uint32_t line)
{
	return json_object_set_new(out, "line", line ? json_integer(line) : json_null());
}

static int
series_add_key(json_t *out, const struct st_series_key *k)
{
	json_t *labels = json_object(), *frames = json_array();
	int bad = set_known(out, "metric", k->metric) | set_known(out, "kind", k->kind);
	bad |= set_known(out, "unit", k->unit) | set_known(out, "image", k->image);
	bad |= set_known(out, "file", k->file) | set_known(out, "module", k->module);
	bad |= set_known(out, "class", k->class) | set_known(out, "function", k->function);
	bad |= set_line(out, k->line);
	bad |= json_object_set_new(out, "labels", labels);
	for (size_t i = 0; i < k->n_labels && !bad; i++)
		bad |= set_known(labels, k->labels[i].name, k->labels[i].value);
	bad |= json_object_set_new(out, "frames", frames);
	for (size_t i = 0; i < k->n_frames && !bad; i++) {
		json_t *frame = json_object();
		bad |= json_array_append_new(frames, frame);
		bad |= set_known(frame, "function", k->frames[i].function);
		bad |= set_known(frame, "file", k->frames[i].file);
		bad |= set_line(frame, k->frames[i].line);
	}
	return bad;
}

static int
series_add_spread(json_t *out, const struct st_series *series)
{
	struct st_spread s;
	if (st_spread_of(series->values, series->n, &s))
		return -1;
	const struct {
		const char *key;
		double value;
	} rows[] = {{"sum", s.sum},
	            {"mean", s.mean},
	            {"mean_low", s.mean_low},
	            {"mean_high", s.mean_high},
	            {"median", s.median},
	            {"median_low", s.median_low},
	            {"median_high", s.median_high},
	            {"min", s.least},
	            {"max", s.most},
	            {"deviation", s.deviation}};
	int bad = json_object_set_new(out, "n", st_json_count(s.n));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		bad |= json_object_set_new(out, rows[i].key, series_number(rows[i].value));
	return bad;
}

static int
series_add_values(json_t *out, const struct st_series *s)
{
	json_t *features = json_object();
	int bad = json_object_set_new(out, "values", series_numbers(s->values, s->n));
	bad |= json_object_set_new(out, "features", features);
	for (size_t i = 0; i < s->features.n && !bad; i++)
		bad |= json_object_set_new(features, s->features.v[i].name,
		                           series_numbers(s->features.v[i].v, s->n));
	return bad;
}

st_status
st_json_add_measurements(json_t *root, const struct st_profile *p)
{
	if (!p->measurements.series.n)
		return ST_OK;
	json_t *array = json_array();
	int bad = json_object_set_new(root, "measurements", array);
	for (size_t i = 0; i < p->measurements.series.n && !bad; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		json_t *out = json_object();
		bad |= json_array_append_new(array, out);
		bad |= series_add_key(out, &s->key) | series_add_spread(out, s);
		bad |= series_add_values(out, s);
	}
	return bad ? ST_FAILED : ST_OK;
}
