/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hooks of git that store and compare. */
#ifndef STROBE_STORE_HOOKS_H
#define STROBE_STORE_HOOKS_H

#include "base/vec.h"
#include "store/store.h"

/* The action that was taken on a hook. */
enum st_hook_change { ST_HOOK_WRITTEN, ST_HOOK_REMOVED, ST_HOOK_NONE };

struct st_hook {
	const char *name;
	char *path;
	enum st_hook_change change;
};

enum { ST_HOOKS = 2 };

/* Writes the hooks of the repository around the current folder, or removes them: all, or none if
 * one of them is somebody else's. 0, or -1 with *e. The caller frees in both cases. */
st_status st_hooks_install(struct st_hook hooks[ST_HOOKS], struct st_error *e);
st_status st_hooks_remove(struct st_hook hooks[ST_HOOKS], struct st_error *e);
void st_hooks_free(struct st_hook hooks[ST_HOOKS]);

#endif
