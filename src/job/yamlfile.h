/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A YAML file as its reader wants it: mappings with known keys, lists and single values. Whatever
 * is wrong is said with the file, the line and the column.
 */
#ifndef STROBE_JOB_YAMLFILE_H
#define STROBE_JOB_YAMLFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/error.h"

struct st_yaml {
	const char *path; /* as messages name it */
	yaml_document_t document;
	bool loaded;
};

/* Reads a file that holds one document which is not empty. 0, or -1 with *e. The caller frees in
 * both cases; texts of nodes live until then. */
st_status st_yaml_read(struct st_yaml *y, const char *path, const char *bytes, size_t n,
                       struct st_error *e);
void st_yaml_free(struct st_yaml *y);

/* "FILE:LINE:COLUMN: REASON". Returns ST_FAILED. */
__attribute__((format(printf, 4, 5))) st_status st_yaml_bad(const struct st_yaml *y,
                                                            const yaml_node_t *at,
                                                            struct st_error *e, const char *format,
                                                            ...);

yaml_node_t *st_yaml_root(struct st_yaml *y);
/* The values of the n keys that a mapping may have; NULL: it has not this key. what: the mapping,
 * as messages name it. */
st_status st_yaml_fields(struct st_yaml *y, const yaml_node_t *map, const char *what,
                         const char *const *keys, size_t n, yaml_node_t **values,
                         struct st_error *e);
/* The only key of a mapping, and its value. */
st_status st_yaml_pair(struct st_yaml *y, const yaml_node_t *map, const char *what,
                       yaml_node_t **key, yaml_node_t **value, struct st_error *e);
/* The items of a list; a single value counts as a list of one, and no value as an empty one. */
size_t st_yaml_count(const yaml_node_t *list);
yaml_node_t *st_yaml_item(struct st_yaml *y, yaml_node_t *list, size_t i);
/* A single value that is text. */
st_status st_yaml_text(const struct st_yaml *y, const yaml_node_t *node, const char *what,
                       const char **text, struct st_error *e);
/* A whole number from low to high. */
st_status st_yaml_number(const struct st_yaml *y, const yaml_node_t *node, const char *what,
                         long low, long high, long *number, struct st_error *e);
/* true or false. */
st_status st_yaml_flag(const struct st_yaml *y, const yaml_node_t *node, const char *what,
                       bool *flag, struct st_error *e);

#endif
