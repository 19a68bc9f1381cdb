/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measurements as strobe show --format json prints them. Of a series, "metric" and "values" are
 * enough, so that any program that can print can write them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/json.h"
#include "profile/profile.h"

bool
st_import_is_strobe_json(const struct st_import *in)
{
	return st_import_json_has(in, "measurements");
}

static st_status
not_a_series(const struct st_import *in, size_t index, struct st_error *e, const char *reason)
{
	return st_import_bad(in, 0, e, "measurement %zu %s", index + 1, reason);
}

static const char *
text_or(const json_t *object, const char *key, const char *missing)
{
	const char *text = st_import_json_text(object, key);
	return text ? text : missing;
}

static st_status
take_labels(struct st_profile *p, struct st_import_key *k, const json_t *labels)
{
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)labels, name, value)
	{
		if (st_import_key_label(k, name, st_import_json_words(p, value)))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
take_frames(struct st_import_key *k, const json_t *frames)
{
	size_t i;
	json_t *frame;
	json_array_foreach(frames, i, frame)
	{
		if (st_import_key_frame(k, st_import_json_text(frame, "function"),
		                        st_import_json_text(frame, "file"),
		                        st_import_json_line(json_object_get(frame, "line"))))
			return ST_FAILED;
	}
	return ST_OK;
}

/* NULL with *e. */
static struct st_series *
find_series(struct st_import *in, const json_t *object, size_t index, struct st_error *e)
{
	struct st_import_key k = {
	        .key = {.metric = st_import_json_text(object, "metric"),
	                .unit = text_or(object, "unit", ""),
	                .kind = text_or(object, "kind", ST_KIND_COUNT),
	                .image = st_import_json_text(object, "image"),
	                .file = st_import_json_text(object, "file"),
	                .module = st_import_json_text(object, "module"),
	                .class = st_import_json_text(object, "class"),
	                .function = st_import_json_text(object, "function"),
	                .line = st_import_json_line(json_object_get(object, "line"))}};
	struct st_series *s = NULL;
	if (!k.key.metric)
		ST_IGNORE(not_a_series(in, index, e, "has no metric"));
	else if (take_labels(in->p, &k, json_object_get(object, "labels")) ||
	         take_frames(&k, json_object_get(object, "frames")) ||
	         !(s = st_import_key_series(in->p, &k)))
		ST_IGNORE(st_import_no_memory(in, e));
	st_import_key_free(&k);
	return s;
}

static st_status
read_feature(struct st_import *in, struct st_series *s, size_t first, const char *name,
             const json_t *column, struct st_error *e)
{
	size_t i;
	json_t *value;
	if (json_array_size(column) != s->n - first)
		return st_import_bad(in, 0, e, "feature '%s' has %zu numbers for %zu values", name,
		                     json_array_size(column), s->n - first);
	json_array_foreach(column, i, value)
	{
		if (json_is_number(value) &&
		    st_series_set(in->p, s, name, first + i, json_number_value(value)))
			return st_import_bad(in, 0, e, "it has more than %d features",
			                     ST_MOST_FEATURES);
	}
	return ST_OK;
}

static st_status
read_series(struct st_import *in, const json_t *object, size_t index, struct st_error *e)
{
	const json_t *values = json_object_get(object, "values");
	const char *name;
	json_t *value;
	size_t i;
	if (!json_is_array(values))
		return not_a_series(in, index, e, "has no list of values");
	struct st_series *s = find_series(in, object, index, e);
	if (!s)
		return ST_FAILED;
	size_t first = s->n;
	json_array_foreach(values, i, value)
	{
		if (!json_is_number(value) && !json_is_null(value))
			return not_a_series(in, index, e, "has a value that is no number");
		if (st_series_add(s, json_is_null(value) ? NAN : json_number_value(value)) ==
		    SIZE_MAX)
			return st_import_no_memory(in, e);
	}
	json_object_foreach(json_object_get(object, "features"), name, value)
	{
		if (read_feature(in, s, first, name, value, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static void
strobe_json_run(struct st_profile *p, const json_t *root)
{
	const json_t *run = json_object_get(root, "run");
	const char *tool = st_import_json_text(json_object_get(root, "strobe"), "tool");
	size_t i;
	json_t *word;
	if (tool)
		p->run.tool = st_profile_text(p, tool);
	json_array_foreach(json_object_get(run, "command"), i, word)
	{
		const char **slot = ST_PUSH(&p->run.command);
		if (slot)
			*slot = st_import_json_words(p, word);
		else
			p->out_of_memory = true;
	}
	double exit = st_import_json_number(run, "exit");
	if (exit >= -1 && exit <= 255)
		p->run.exit = (int64_t)exit;
}

st_status
st_import_strobe_json(struct st_import *in, struct st_error *e)
{
	json_t *object, *root = st_import_json_root(in, e);
	const json_t *series = json_object_get(root, "measurements");
	size_t i;
	st_status status = root ? ST_OK : ST_FAILED;
	if (root && !json_is_array(series))
		status = st_import_bad(in, 0, e, "its measurements are no list");
	if (!status)
		strobe_json_run(in->p, root);
	json_array_foreach(series, i, object)
	{
		if (status || read_series(in, object, i, e)) {
			status = ST_FAILED;
			break;
		}
	}
	json_decref(root);
	return status;
}
