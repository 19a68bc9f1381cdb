/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The history of a git repository. libgit2 has a walk of its own, which fails where a shallow clone
 * ends; this one ends there.
 */
#ifndef STROBE_STORE_GITWALK_H
#define STROBE_STORE_GITWALK_H

#include "store/libgit.h"
#include "store/vcs.h"

/* False: memory is exhausted. */
bool st_gitwalk(const struct st_libgit *git, git_repository *repo, const char *from,
                enum st_vcs_order order, st_vcs_visit *visit, void *arg);
/* False, and nothing to free: memory is exhausted. */
bool st_gitwalk_version(const struct st_libgit *git, git_commit *commit, struct st_version *out);

#endif
