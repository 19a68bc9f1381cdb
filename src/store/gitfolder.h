/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Git folders that libgit2 does not open. */
#ifndef STROBE_STORE_GITFOLDER_H
#define STROBE_STORE_GITFOLDER_H

#include "base/error.h"

/*
 * To be called when libgit2 cannot open a repository, for the given reason: it finds none also if
 * there is one that another user owns, or that is damaged. Fails with *e if git would use this one;
 * 0: the current folder is in no repository.
 */
st_status st_gitfolder_check(const char *reason, struct st_error *e);

#endif
