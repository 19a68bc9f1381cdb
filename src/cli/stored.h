/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that the commands of the store have in common. */
#ifndef STROBE_CLI_STORED_H
#define STROBE_CLI_STORED_H

#include <jansson.h>
#include <stdbool.h>

#include "store/store.h"

/* The short form of names of profiles and versions. */
enum { ST_SHORT = 10 };

/* The name of a profile, ST_SHORT digits of it. Returns text. */
const char *st_stored_id(const struct st_hash *hash, char text[ST_HASH_HEX + 1]);
/* A moment as "2026-11-26 10:04", local time. Returns text. */
enum { ST_DATE_SIZE = 32 };
const char *st_stored_date(int64_t ns, char text[ST_DATE_SIZE]);
/* As a JSON object of docs/json.md. NULL: no memory. */
json_t *st_stored_json(const struct st_stored *s);
/* A table of profiles with their names. False: no memory. */
bool st_stored_print(const struct st_stored_list *l, FILE *out);
/* An empty file for a profile, to be removed by st_stored_forget. 0, or -1 with *e. */
st_status st_stored_temporary(char **path, struct st_error *e);
/* Removes the file, and frees path, which may be NULL. */
void st_stored_forget(char *path);
/* Prints JSON to standard output and releases it; root NULL: there was no memory for it. */
st_status st_stored_print_json(json_t *root, struct st_error *e);
/* The value of --format, text or json. */
st_status st_stored_format(const char *value, bool *json, struct st_error *e);

#endif
