/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings: `key = value` lines, keys with dots. Three places are asked in turn: the environment
 * variable STROBE_CONFIG (for one run), the file `config` beside the store (of the project), and
 * $XDG_CONFIG_HOME/strobe/config (of the user).
 */
#ifndef STROBE_STORE_CONFIG_H
#define STROBE_STORE_CONFIG_H

#include "base/error.h"
#include "base/vec.h"

enum st_config_place { ST_CONFIG_RUN, ST_CONFIG_LOCAL, ST_CONFIG_SHARED };
extern const char *const st_config_places[];

enum { ST_CONFIG_MOST_DEPTH = 100000000, ST_CONFIG_MOST_PERCENT = 1000000 };

struct st_setting {
	char *key, *value;
	enum st_config_place place;
};

struct st_config {
	ST_VEC(struct st_setting) v; /* in the order in which they are asked */
};

/* K("key", "ARGUMENT", "what it does") */
#define ST_CONFIG_KEYS(K)                                                                          \
	K("store", "PLACE",                                                                        \
	  "keep the store in this folder (default: strobe in the git folder), or in a "            \
	  "PostgreSQL database: postgresql://[USER@]HOST[:PORT]/DATABASE")                         \
	K("status.depth", "N",                                                                     \
	  "look for comparable profiles in at most N commits (default: 1000)")                     \
	K("status.threshold", "PERCENT", "report functions that changed by PERCENT (default: 5)")  \
	K("compare.machines", "same|any",                                                          \
	  "compare profiles of one machine only (default), or of any two")

/* The folder of the local file, malloc'ed: of the repository or of the store around the current
 * folder; *data NULL: there is neither. 0, or -1 with *e. */
st_status st_config_local(char **data, struct st_error *e);
/* A key that ST_CONFIG_KEYS has: 0, or -1 with *e. */
st_status st_config_check_key(const char *key, struct st_error *e);
/* Reads all three places; data: the folder of the repository that has the local file. The caller
 * frees in both cases. */
st_status st_config_read(struct st_config *c, const char *data, struct st_error *e);
void st_config_free(struct st_config *c);
/* The first value; NULL: it is nowhere. */
const char *st_config_get(const struct st_config *c, const char *key);
/* A whole number, or `otherwise` where it is not set. */
st_status st_config_number(const struct st_config *c, const char *key, long low, long high,
                           long otherwise, long *out, struct st_error *e);
/* A folder as it was set: ~ is the home folder, and a relative one is in the folder that holds the
 * local file. malloc'ed. */
char *st_config_path(const char *value, const char *data);
/* Whether the key can have the value: 0, or -1 with *e. */
st_status st_config_check_value(const char *key, const char *value, struct st_error *e);
/* Sets a key in the local or in the shared file; value NULL: removes it from there. */
st_status st_config_set(enum st_config_place place, const char *data, const char *key,
                        const char *value, struct st_error *e);

#endif
