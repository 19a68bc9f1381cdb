/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the writers of JSON share. */
#ifndef STROBE_REPORT_JSON_H
#define STROBE_REPORT_JSON_H

#include <jansson.h>

#include "base/status.h"
#include "report/report.h"

/* Writes a document: the same figure has the same digits everywhere. */
enum { ST_JSON_DOCUMENT = JSON_INDENT(1) | JSON_REAL_PRECISION(9) };

/* Of all documents: docs/json.md. */
enum { ST_JSON_VERSION = 1 };

/* Paths and arguments are bytes, JSON is Unicode: what is not UTF-8 becomes U+FFFD. */
json_t *st_json_text(const char *bytes);
/* The same as it stands in JSON; null when there is no memory for it. */
void st_json_print(const char *bytes, FILE *out);
json_t *st_json_count(uint64_t value);
/* A number; null if it is not finite. */
json_t *st_json_real(double value);
/* An array of them. NULL: no memory. */
json_t *st_json_texts(const char *const *v, size_t n);
/* The whole as text that ends with its line, malloc'ed; it is released. root NULL: there was no
 * memory for it. NULL with *e when there is none: `what` could not be written. */
char *st_json_document(json_t *root, size_t flags, const char *what, struct st_error *e);

/* The command and its duration. NULL: no memory. */
json_t *st_json_run(const struct st_profile *p);
/* The result as docs/json.md has it. NULL: no memory. */
json_t *st_report_object(const struct st_report *r);
/* A row as an object; the first `unknown` columns are null. NULL: no memory. */
json_t *st_json_row(const struct st_profile *p, const struct st_profile_column *columns, size_t n,
                    const struct st_profile_value *row, size_t unknown);
/* The rows of a table. NULL: no memory. */
json_t *st_json_table(const struct st_report *r, const struct st_profile_table *t);
/* The first overshoots of the budget, most 0: all. NULL: no memory. */
json_t *st_overshoots_json(const struct st_profile *p, size_t most);
/* Add a key for each table; one for the streams. 0, or -1. */
st_status st_json_add_tables(json_t *root, const struct st_report *r);
int st_json_add_streams(json_t *root, const struct st_profile *p);

#endif
