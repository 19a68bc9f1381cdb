/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The versions of a project, whoever keeps them. The store asks through this interface only, so
 * that a further version control system is one more table of functions.
 */
#ifndef STROBE_STORE_VCS_H
#define STROBE_STORE_VCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A version. All texts are malloc'ed. */
struct st_version {
	char *name;    /* commit in hexadecimal digits, or the number of a counter */
	char *tree;    /* names the content; NULL: unknown */
	char *subject; /* first line of its message; never NULL */
	int64_t time;  /* when it was made, s since 1970 */
	bool cut;      /* its parents are not here: a shallow clone ends with it */
};

void st_version_free(struct st_version *v);

enum st_vcs_order {
	ST_VCS_NEWEST,  /* the youngest first */
	ST_VCS_NEAREST, /* fewest steps from the start first */
};

/* Looks at a version, `steps` parents away from the start. Returns false to end the walk. */
typedef bool st_vcs_visit(void *arg, const struct st_version *v, uint64_t steps);

struct st_database;
struct st_vcs;
struct st_vcs_kind {
	const char *name;  /* "git" */
	const char *title; /* of a version: "commit" */
	/* Whether there is no version yet, as in a new repository; head fails then. */
	bool (*empty)(struct st_vcs *v);
	/* 0, or -1 with *e; head: of the version that is checked out. */
	st_status (*head)(struct st_vcs *v, struct st_version *out, struct st_error *e);
	st_status (*resolve)(struct st_vcs *v, const char *rev, struct st_version *out,
	                     struct st_error *e);
	/* From a version on, itself first, to its ancestors. */
	st_status (*walk)(struct st_vcs *v, const char *from, enum st_vcs_order order,
	                  st_vcs_visit *visit, void *arg, struct st_error *e);
	/* Whether `ancestor` is `name` or in its history. */
	bool (*reaches)(struct st_vcs *v, const char *name, const char *ancestor);
	/* What names the change of a version whatever it is based on, malloc'ed; *out NULL: nothing
	 * does, as of a merge. */
	st_status (*patch)(struct st_vcs *v, const char *name, char **out, struct st_error *e);
	/* Of the branch that is checked out, malloc'ed; NULL: none is. */
	char *(*branch)(struct st_vcs *v);
	/* Whether files differ from the version that is checked out. */
	bool (*dirty)(struct st_vcs *v);
	void (*close)(struct st_vcs *v);
};

/* The kinds begin with it. */
struct st_vcs {
	const struct st_vcs_kind *kind;
	char *data;  /* where the store lies by default: a folder */
	char *root;  /* of the files; NULL: there are none, as in a bare repository */
	char *hooks; /* folder of its hooks; NULL: it has none */
};

/* The repository around the current folder. *out NULL: there is none. 0, or -1 with *e. */
st_status st_vcs_git(struct st_vcs **out, struct st_error *e);
/* Numbers that the store gives, in a folder without version control; made: the folder that is to
 * have the store, else it is searched for from the current folder upwards. *out NULL: none. */
st_status st_vcs_counter(struct st_vcs **out, const char *made, struct st_error *e);
/* Gives a counter the database that has its versions. */
void st_vcs_counter_use(struct st_vcs *v, struct st_database *d);

#endif
