/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools' tables as JSON. */
#include "report/json.h"

#include <string.h>

#include "report/fields.h"

static json_t *
json_tables_value_of(const struct st_field *f)
{
	switch (f->kind) {
	case ST_FIELD_TEXT:
		return st_json_text(f->text);
	case ST_FIELD_NUMBER:
		return st_json_count(f->number);
	case ST_FIELD_SIGNED:
		return json_integer((int64_t)f->number);
	default:
		return json_null();
	}
}

json_t *
st_json_row(const struct st_profile *p, const struct st_profile_column *columns, size_t n,
            const struct st_profile_value *row, size_t unknown)
{
	size_t first = st_first_address(columns, n);
	struct st_field fields[ST_COLUMN_FIELDS];
	json_t *object = json_object();
	for (size_t c = 0; c < n; c++) {
		size_t m =
		        st_fields(p, &columns[c], c == first, c < unknown ? NULL : &row[c], fields);
		for (size_t i = 0; i < m; i++)
			if (json_object_set_new(object, fields[i].name,
			                        json_tables_value_of(&fields[i]))) {
				json_decref(object);
				return NULL;
			}
	}
	return object;
}

json_t *
st_json_table(const struct st_report *r, const struct st_profile_table *t)
{
	json_t *array = json_array();
	size_t n = st_profile_rows(t), shown = r->top && r->top < n ? r->top : n;
	int bad = !array;
	for (size_t k = 0; k < shown && !bad; k++)
		bad = json_array_append_new(array, st_json_row(r->profile, t->columns, t->n_columns,
		                                               t->values.v + k * t->n_columns, 0));
	if (t->has_others && !bad) {
		json_t *row =
		        st_json_row(r->profile, t->columns, t->n_columns, t->others, t->n_keys);
		bad = json_array_append_new(array, row) ||
		      json_object_set_new(row, "others", json_true());
	}
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

/* Keys of the report's own, also of those that are not there this time. */
static bool
json_tables_is_taken(const json_t *root, const char *key)
{
	static const char *const own[] = {"functions", "samples", "share_of",     "processes",
	                                  "fallbacks", "notes",   "streams",      "lines",
	                                  "images",    "threads", "basic_blocks", "engine"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(own[i], key))
			return true;
	return json_object_get(root, key) != NULL;
}

st_status
st_json_add_tables(json_t *root, const struct st_report *r)
{
	const struct st_profile *p = r->profile;
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		char key[200];
		snprintf(key, sizeof key, "%.80s", t->name);
		if (json_tables_is_taken(root, key))
			snprintf(key, sizeof key, "%.80s_%.80s", t->tool, t->name);
		json_t *name = st_json_text(key);
		int bad = json_object_set_new(root, name ? json_string_value(name) : "?",
		                              st_json_table(r, t));
		json_decref(name);
		if (bad)
			return -1;
	}
	return 0;
}

int
st_json_add_streams(json_t *root, const struct st_profile *p)
{
	json_t *array = p->streams.n ? json_array() : NULL;
	int bad = p->streams.n ? json_object_set_new(root, "streams", array) : 0;
	for (size_t i = 0; i < p->streams.n && !bad; i++) {
		const struct st_profile_stream *s = &p->streams.v[i];
		json_t *out = json_object();
		bad = json_array_append_new(array, out);
		bad |= json_object_set_new(out, "name", st_json_text(s->name));
		bad |= json_object_set_new(out, "tool", st_json_text(s->tool));
		bad |= json_object_set_new(out, "file",
		                           s->file ? st_json_text(s->file) : json_null());
		bad |= json_object_set_new(out, "rows", st_json_count(s->rows));
		bad |= json_object_set_new(out, "bytes", st_json_count(s->bytes));
		bad |= json_object_set_new(out, "dropped", st_json_count(s->dropped));
	}
	return bad;
}
