/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/libgit.h"

#include <dlfcn.h>
#include <stdbool.h>

#define LIBGIT_FILE "libgit2.so." LIBGIT2_SOVERSION

static bool
libgit_find(void *library, struct st_libgit *git)
{
	bool all = true;
#define FIND(name)                                                                                 \
	*(void **)&git->name = dlsym(library, "git_" #name);                                       \
	all &= git->name != NULL;
	ST_LIBGIT(FIND)
#undef FIND
	return all;
}

const struct st_libgit *
st_libgit(struct st_error *e)
{
	static struct st_libgit git;
	static bool loaded;
	if (loaded)
		return &git;
	void *library = dlopen(LIBGIT_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		st_cause(e, ST_EXIT_FAILED,
		         "%s, which reads git repositories, is not installed: install it (Debian: "
		         "libgit2-%s)",
		         LIBGIT_FILE, LIBGIT2_SOVERSION);
	else if (!libgit_find(library, &git) || git.libgit2_init() < 0)
		st_cause(e, ST_EXIT_FAILED, "%s cannot be used: install another build of it",
		         LIBGIT_FILE);
	else
		loaded = true;
	return loaded ? &git : NULL;
}

const char *
st_libgit_reason(const struct st_libgit *git)
{
	const git_error *last = git->error_last();
	return last && last->message ? last->message : "libgit2 gives no reason";
}
