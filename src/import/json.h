/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the readers of JSON share. */
#ifndef STROBE_IMPORT_JSON_H
#define STROBE_IMPORT_JSON_H

#include <jansson.h>

#include "import/import.h"
#include "profile/measurements.h"

/* The whole file; NULL with *e, which names the line. */
json_t *st_import_json_root(const struct st_import *in, struct st_error *e);
/* Whether the file is a JSON object that has the key, as far as its beginning tells. */
bool st_import_json_has(const struct st_import *in, const char *key);
/* A text that lives as long as the JSON; NULL: it has none of that key. */
const char *st_import_json_text(const json_t *object, const char *key);
/* A number; NAN: it has none of that key. */
double st_import_json_number(const json_t *object, const char *key);
/* A line number; 0: there is none. */
uint32_t st_import_json_line(const json_t *value);
/* A value as a text of the profile's: a text itself, anything else as JSON. */
const char *st_import_json_words(struct st_profile *p, const json_t *value);

/* A key of a series, while it is built. */
struct st_import_key {
	struct st_series_key key;
	ST_VEC(struct st_series_frame) frames;
	ST_VEC(struct st_series_label) labels;
};

st_status st_import_key_label(struct st_import_key *k, const char *name, const char *value);
st_status st_import_key_frame(struct st_import_key *k, const char *function, const char *file,
                              uint32_t line);
/* The series of this key, NULL: no memory. */
struct st_series *st_import_key_series(struct st_profile *p, struct st_import_key *k);
void st_import_key_free(struct st_import_key *k);

#endif
