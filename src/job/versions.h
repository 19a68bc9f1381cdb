/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work trees of versions that are not checked out: each is measured in a separate git work tree in
 * a temporary folder. */
#ifndef STROBE_JOB_VERSIONS_H
#define STROBE_JOB_VERSIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

struct st_job;

struct st_commits {
	ST_VEC(char *) v; /* in hexadecimal digits, the oldest first */
};

/* "A..B": what B has and A has not, B the last; "A": this one. 0, or -1 with *e. The caller frees
 * in both cases. */
st_status st_commits_of(struct st_commits *c, const char *root, const char *range,
                        struct st_error *e);
/* The same for a range A..B, along first parents only, so that each commit contains those before
 * it. ST_FAILED also where B does not contain A. */
st_status st_commits_line(struct st_commits *c, const char *root, const char *range,
                          struct st_error *e);
void st_commits_free(struct st_commits *c);

struct st_worktree {
	const char *root; /* of the repository */
	char *folder;     /* NULL: there is none */
	char *mark;       /* a file that names the folder, for who comes after a kill */
};

/* Makes the work tree of a commit. What `mark` names is removed first: a killed run has left it. 0,
 * or -1 with *e; the caller removes it in both cases. */
st_status st_worktree_make(struct st_worktree *w, const char *root, const char *commit,
                           const char *mark, struct st_error *e);
void st_worktree_remove(struct st_worktree *w);

#endif
