/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gitfolder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static bool
gitfolder_has(const char *folder, const char *name, struct stat *found)
{
	char *path = st_text_of("%s/%s", folder, name);
	bool has = path && !lstat(path, found);
	free(path);
	return has;
}

/* Whether a folder .git was never a repository: git goes past it. If it has only a part of what a
 * repository has, it is a damaged one, and its history must not be overlooked. */
static bool
gitfolder_is_only_a_name(const char *folder, const struct stat *git)
{
	struct stat found;
	return S_ISDIR(git->st_mode) && !gitfolder_has(folder, ".git/HEAD", &found) &&
	       !gitfolder_has(folder, ".git/objects", &found) &&
	       !gitfolder_has(folder, ".git/refs", &found);
}

/* Whether the folder is the top of the files of a repository, or a bare repository. */
static bool
gitfolder_is_repository(const char *folder, struct stat *git)
{
	if (gitfolder_has(folder, ".git", git) && !gitfolder_is_only_a_name(folder, git))
		return true;
	return gitfolder_has(folder, "objects", git) && gitfolder_has(folder, "refs", git) &&
	       gitfolder_has(folder, "HEAD", git);
}

static bool
gitfolder_is_ceiling(const char *folder)
{
	const char *list = getenv("GIT_CEILING_DIRECTORIES");
	size_t n = strlen(folder);
	for (; list && *list; list += strcspn(list, ":"), list += *list == ':')
		if (strcspn(list, ":") == n && !memcmp(list, folder, n))
			return true;
	return false;
}

/* Makes the folder its parent, if git searches there, too. */
static bool
gitfolder_ascend(char *folder)
{
	struct stat here, above;
	char *slash = strrchr(folder, '/');
	if (!slash || !folder[1] || stat(folder, &here))
		return false;
	slash[slash == folder] = '\0';
	return !gitfolder_is_ceiling(folder) && !stat(folder, &above) &&
	       (above.st_dev == here.st_dev || getenv("GIT_DISCOVERY_ACROSS_FILESYSTEM"));
}

static st_status
gitfolder_refused(const char *folder, const struct stat *git, const char *reason,
                  struct st_error *e)
{
	struct stat top;
	if (git->st_uid != geteuid() || (!stat(folder, &top) && top.st_uid != geteuid()))
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot open the git repository in %s, because another user owns "
		               "it: if you trust it, run git config --global --add safe.directory "
		               "'%s'",
		               folder, folder);
	return st_fail(e, ST_EXIT_FAILED,
	               "cannot open the git repository in %s: %s; repair it, or remove its .git",
	               folder, reason);
}

st_status
st_gitfolder_check(const char *reason, struct st_error *e)
{
	struct stat git;
	st_status status = ST_OK;
	if (getenv("GIT_DIR"))
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot open the git repository %s of GIT_DIR: %s",
		               getenv("GIT_DIR"), reason);
	char *folder = realpath(".", NULL);
	for (bool more = folder != NULL; more; more = !status && gitfolder_ascend(folder))
		if (gitfolder_is_repository(folder, &git))
			status = gitfolder_refused(folder, &git, reason, e);
	free(folder);
	return status;
}
