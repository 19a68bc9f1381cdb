/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "profile/profile.h"

/* Integers that are too large for jansson's become floating-point numbers, as all do in a profile.
 */
json_t *
st_import_json_root(const struct st_import *in, struct st_error *e)
{
	json_error_t error;
	json_t *root = json_loadb(in->bytes, in->n, 0, &error);
	if (!root && json_error_code(&error) == json_error_numeric_overflow)
		root = json_loadb(in->bytes, in->n, JSON_DECODE_INT_AS_REAL, &error);
	if (json_is_object(root))
		return root;
	if (root)
		ST_IGNORE(st_import_bad(in, 0, e, "it is JSON, but no object"));
	else
		ST_IGNORE(st_import_bad(in, error.line > 0 ? (size_t)error.line : 0, e,
		                        "it is no JSON: %s", error.text));
	json_decref(root);
	return NULL;
}

bool
st_import_json_has(const struct st_import *in, const char *key)
{
	size_t i = 0;
	char quoted[64];
	while (i < in->n && isspace((unsigned char)in->bytes[i]))
		i++;
	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	return i < in->n && in->bytes[i] == '{' && memmem(in->bytes, in->n, quoted, strlen(quoted));
}

const char *
st_import_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

double
st_import_json_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

uint32_t
st_import_json_line(const json_t *value)
{
	double line = json_number_value(value);
	return line >= 1 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

const char *
st_import_json_words(struct st_profile *p, const json_t *value)
{
	if (json_is_string(value))
		return st_profile_text(p, json_string_value(value));
	char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
	const char *text = dumped ? st_profile_text(p, dumped) : "";
	p->out_of_memory |= !dumped;
	free(dumped);
	return text;
}

st_status
st_import_key_label(struct st_import_key *k, const char *name, const char *value)
{
	struct st_series_label *l = ST_PUSH(&k->labels);
	if (l)
		*l = (struct st_series_label){name, value};
	return l ? ST_OK : ST_FAILED;
}

st_status
st_import_key_frame(struct st_import_key *k, const char *function, const char *file, uint32_t line)
{
	struct st_series_frame *f = ST_PUSH(&k->frames);
	if (f)
		*f = (struct st_series_frame){function, file, line};
	return f ? ST_OK : ST_FAILED;
}

struct st_series *
st_import_key_series(struct st_profile *p, struct st_import_key *k)
{
	k->key.frames = k->frames.v;
	k->key.n_frames = k->frames.n;
	k->key.labels = k->labels.v;
	k->key.n_labels = k->labels.n;
	return st_series_of(p, &k->key);
}

void
st_import_key_free(struct st_import_key *k)
{
	free(k->frames.v);
	free(k->labels.v);
	*k = (struct st_import_key){0};
}
