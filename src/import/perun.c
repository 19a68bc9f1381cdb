/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles of Perun, of all three forms: columns for each type of resource, and lists of resources,
 * as a whole ("global") or for each snapshot. A resource is a value; resources that differ in
 * nothing but numbers are a series.
 */
#include <math.h>
#include <string.h>

#include "import/json.h"
#include "import/perun_key.h"
#include "import/perun_models.h"
#include "profile/profile.h"

bool
st_import_is_perun(const struct st_import *in)
{
	bool whole = st_import_json_has(in, "resource_type_map");
	bool headed = st_import_json_has(in, "header") || st_import_json_has(in, "origin");
	return whole || (headed &&
	                 (st_import_json_has(in, "resources") || st_import_json_has(in, "global") ||
	                  st_import_json_has(in, "snapshots")));
}

/* ---- a list of resources ---- */

/* The features that resource and snapshot give to the value at `at`. */
static st_status
set_features(struct st_perun *x, struct st_series *s, size_t at)
{
	for (size_t i = 0; i < x->numbers.n; i++)
		if (st_series_set(x->in->p, s, x->numbers.v[i].feature, at, x->numbers.v[i].value))
			return st_perun_no_feature(x, x->numbers.v[i].feature);
	return ST_OK;
}

static st_status
add_resource(struct st_perun *x)
{
	struct st_series *s = st_import_key_series(x->in->p, &x->key);
	size_t at = s ? st_series_add(s, x->amount) : SIZE_MAX;
	return at == SIZE_MAX ? st_import_no_memory(x->in, x->e) : set_features(x, s, at);
}

/* snapshot NULL: there are none. */
static st_status
read_resource(struct st_perun *x, const json_t *resource, const json_t *snapshot, size_t index)
{
	const char *name;
	json_t *value;
	st_perun_key_begin(x);
	json_object_foreach((json_t *)(uintptr_t)resource, name, value)
	{
		if (st_perun_key_field(x, name, value))
			return ST_FAILED;
	}
	if (snapshot && (st_perun_key_number(x, ST_FEATURE_SNAPSHOT, (double)index) ||
	                 st_perun_key_time(x, json_object_get(snapshot, "time"))))
		return ST_FAILED;
	x->resources++;
	if (!json_is_object(resource) || isnan(x->amount) || st_perun_key_end(x)) {
		st_import_skip(x->in, x->resources);
		return ST_OK;
	}
	return add_resource(x);
}

static st_status
read_list(struct st_perun *x, const json_t *list, const json_t *snapshot, size_t index)
{
	size_t i;
	json_t *resource;
	if (!json_is_array(list))
		return st_import_bad(x->in, 0, x->e, "its resources are no list");
	json_array_foreach(list, i, resource)
	{
		if (read_resource(x, resource, snapshot, index))
			return ST_FAILED;
	}
	return ST_OK;
}

/* {"resources": [...]}, or the list itself. */
static st_status
read_global(struct st_perun *x, const json_t *global)
{
	return read_list(x, json_is_object(global) ? json_object_get(global, "resources") : global,
	                 NULL, 0);
}

static st_status
perun_read_snapshots(struct st_perun *x, const json_t *snapshots)
{
	size_t i;
	json_t *snapshot;
	if (!json_is_array(snapshots))
		return st_import_bad(x->in, 0, x->e, "its snapshots are no list");
	json_array_foreach(snapshots, i, snapshot)
	{
		if (read_list(x, json_object_get(snapshot, "resources"), snapshot, i))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- columns ---- */

static bool
is_numeric(const json_t *column)
{
	size_t i;
	json_t *value;
	json_array_foreach(column, i, value)
	{
		if (!json_is_number(value) && !json_is_null(value))
			return false;
	}
	return true;
}

/* All rows at once, where columns hold nothing but numbers. */
static st_status
read_columns(struct st_perun *x, const json_t *columns, size_t rows)
{
	struct st_series *s = st_import_key_series(x->in->p, &x->key);
	const json_t *amounts = json_object_get(columns, "amount");
	size_t first = s ? s->n : 0;
	const char *name;
	json_t *column;
	if (!s || st_series_reserve(s, first + rows))
		return st_import_no_memory(x->in, x->e);
	for (size_t i = 0; i < rows; i++) {
		const json_t *amount = json_array_get(amounts, i);
		size_t at =
		        st_series_add(s, json_is_null(amount) ? NAN : json_number_value(amount));
		if (at == SIZE_MAX)
			return st_import_no_memory(x->in, x->e);
		if (set_features(x, s, at))
			return ST_FAILED;
	}
	json_object_foreach((json_t *)(uintptr_t)columns, name, column)
	{
		const char *feature = st_perun_feature(name);
		for (size_t i = 0; i < rows && strcmp(name, "amount") != 0; i++) {
			const json_t *value = json_array_get(column, i);
			if (json_is_number(value) && st_series_set(x->in->p, s, feature, first + i,
			                                           json_number_value(value)))
				return st_perun_no_feature(x, feature);
		}
	}
	x->resources += rows;
	return ST_OK;
}

/* Row by row, where some columns hold texts. */
static st_status
perun_read_rows(struct st_perun *x, const json_t *constant, const json_t *columns, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		const char *name;
		json_t *column, *resource = json_copy((json_t *)(uintptr_t)constant);
		json_object_foreach((json_t *)(uintptr_t)columns, name, column)
		{
			if (json_object_set(resource, name, json_array_get(column, i))) {
				json_decref(resource);
				return st_import_no_memory(x->in, x->e);
			}
		}
		st_status status = read_resource(x, resource, NULL, 0);
		json_decref(resource);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
check_columns(struct st_perun *x, const char *type, const json_t *columns, size_t *rows,
              bool *numeric)
{
	const json_t *amounts = json_object_get(columns, "amount");
	const char *name;
	json_t *column;
	*rows = json_array_size(amounts);
	*numeric = true;
	if (!json_is_array(amounts))
		return st_import_bad(x->in, 0, x->e, "resources of type '%s' have no amount", type);
	json_object_foreach((json_t *)(uintptr_t)columns, name, column)
	{
		if (!json_is_array(column) || json_array_size(column) != *rows)
			return st_import_bad(
			        x->in, 0, x->e,
			        "of resources of type '%s' there are %zu amounts, but %zu of '%s'",
			        type, *rows, json_array_size(column), name);
		*numeric = *numeric && is_numeric(column);
	}
	return ST_OK;
}

static st_status
read_type(struct st_perun *x, const char *type, const json_t *constant, const json_t *columns)
{
	size_t rows;
	bool numeric;
	const char *name;
	json_t *value;
	if (!json_is_object(columns) || !json_is_object(constant))
		return st_import_bad(x->in, 0, x->e, "type '%s' is missing from its %s", type,
		                     json_is_object(columns) ? "resource_type_map" : "resources");
	if (check_columns(x, type, columns, &rows, &numeric))
		return ST_FAILED;
	if (!numeric)
		return perun_read_rows(x, constant, columns, rows);
	st_perun_key_begin(x);
	json_object_foreach((json_t *)(uintptr_t)constant, name, value)
	{
		if (st_perun_key_field(x, name, value))
			return ST_FAILED;
	}
	if (st_perun_key_end(x))
		return st_import_bad(x->in, 0, x->e, "type '%s' has no uid", type);
	return read_columns(x, columns, rows);
}

static st_status
read_types(struct st_perun *x, const json_t *resources)
{
	const json_t *map = json_object_get(x->root, "resource_type_map");
	const char *type;
	json_t *columns;
	if (!json_is_object(resources))
		return st_import_bad(x->in, 0, x->e, "its resources are no object");
	json_object_foreach((json_t *)(uintptr_t)resources, type, columns)
	{
		if (read_type(x, type, json_object_get(map, type), columns))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- the file ---- */

static st_status
read_forms(struct st_perun *x)
{
	const json_t *resources = json_object_get(x->root, "resources");
	const json_t *global = json_object_get(x->root, "global");
	const json_t *snapshots = json_object_get(x->root, "snapshots");
	if (!resources && !global && !snapshots)
		return st_import_bad(x->in, 0, x->e,
		                     "it has neither resources nor global nor snapshots");
	if (resources && read_types(x, resources))
		return ST_FAILED;
	if (global && read_global(x, global))
		return ST_FAILED;
	return snapshots ? perun_read_snapshots(x, snapshots) : ST_OK;
}

st_status
st_import_perun(struct st_import *in, struct st_error *e)
{
	struct st_perun x = {.in = in, .e = e, .root = st_import_json_root(in, e)};
	if (!x.root)
		return ST_FAILED;
	in->skipped_are = "resource";
	st_perun_header(&x);
	st_status status = read_forms(&x);
	if (!status)
		status = st_perun_models(&x);
	if (!status && x.resources && in->skipped == x.resources)
		status = st_import_bad(in, 0, e, "none of its resources has a uid and an amount");
	st_perun_key_free(&x);
	json_decref(x.root);
	return status;
}
