/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe check, and the profiles that they name. */
#ifndef STROBE_CLI_CHECK_H
#define STROBE_CLI_CHECK_H

#include "base/vec.h"
#include "check/check.h"
#include "cli/check_rules.h"

struct st_check_arguments {
	ST_VEC(const char *) named[ST_SIDES]; /* files, folders, profiles or versions */
	struct st_check_method_list methods;  /* n 0: the rules choose them */
	const char *rules_file;               /* NULL: the project's, if it has one */
	struct st_check_rules rules;
	struct st_check_how how;
	const char *metric; /* only this one; NULL: all */
	double cutoff;      /* smaller changes, as shares of the whole, are not listed */
	long top;
	enum { ST_CHECK_TEXT, ST_CHECK_MARKDOWN, ST_CHECK_JSON } format;
	bool all, any_machine, exit_code, help;
};

st_status st_check_parse(struct st_check_arguments *a, char *const *argv, struct st_error *e);
void st_check_arguments_free(struct st_check_arguments *a);

/* Profiles of one configuration that are compared. */
struct st_check_group {
	char *title; /* the command; NULL: not known */
	char *names[ST_SIDES];
	ST_VEC(struct st_profile *) profiles[ST_SIDES];
};

struct st_check_groups {
	ST_VEC(struct st_check_group) v;
	ST_VEC(char *) left_out; /* a sentence for each configuration that is not compared */
};

/* Fails with *e, also when there is nothing to compare. The caller frees in both cases. */
st_status st_check_read(const struct st_check_arguments *a, struct st_check_groups *out,
                        struct st_error *e);
void st_check_groups_free(struct st_check_groups *g);

/* The differences between the machines and settings of the group's profiles, "kernel: A and B",
 * malloc'ed; NULL: they do not differ as far as the profiles say. */
st_status st_check_machines(const struct st_check_group *g, char **differences, struct st_error *e);

/* For cli/check*.c: adds a group. NULL with *e: memory is exhausted. names: NULL: empty. */
struct st_check_group *st_check_group_new(struct st_check_groups *all, const char *title,
                                          const char *base, const char *target, struct st_error *e);
/* For cli/check*.c: loads a profile from a file of Strobe or of another tool. */
st_status st_check_load(struct st_check_group *g, int side, const char *path, struct st_error *e);
/* For cli/check*.c: reads the profiles of both versions from the store. */
st_status st_check_read_store(const struct st_check_arguments *a, struct st_check_groups *out,
                              struct st_error *e);
/* For cli/check*.c: whether the store has a profile of this name. */
bool st_check_is_stored(const char *name);
/* For cli/check*.c: loads the profiles of a version, or one by its name, into a side of a group. */
st_status st_check_load_stored(struct st_check_group *g, int side, const char *name,
                               struct st_error *e);

#endif
