/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCRATCH "strobe-fuzz-"

/* A folder without a lock may be one that another process has just created. */
enum { NEW_SECONDS = 60 };

static int
open_scratch(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the inputs of the folder, and the folder. Nothing else is in it. */
static void
remove_scratch(int parent, const char *name, int fd)
{
	DIR *all = fdopendir(dup(fd));
	for (const struct dirent *entry; all && (entry = readdir(all));)
		if (!strncmp(entry->d_name, "input", 5))
			unlinkat(fd, entry->d_name, 0);
	if (all)
		closedir(all);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static bool
is_abandoned(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && st.st_uid == geteuid() &&
	       time(NULL) - st.st_mtime > NEW_SECONDS && !flock(fd, LOCK_EX | LOCK_NB);
}

static void
remove_abandoned(const char *place)
{
	DIR *all = opendir(place);
	for (const struct dirent *entry; all && (entry = readdir(all));) {
		if (strncmp(entry->d_name, SCRATCH, strlen(SCRATCH)) != 0)
			continue;
		const int fd = open_scratch(dirfd(all), entry->d_name);
		if (fd >= 0 && is_abandoned(fd))
			remove_scratch(dirfd(all), entry->d_name, fd);
		if (fd >= 0)
			close(fd);
	}
	if (all)
		closedir(all);
}

st_status
st_fuzz_scratch_begin(char *folder, size_t size, int *lock, struct st_error *e)
{
	static const char name[] = "/" SCRATCH "XXXXXX";
	const char *place = getenv("TMPDIR");
	if (!place || !*place || strlen(place) + sizeof name > size)
		place = "/tmp";
	*lock = -1;
	remove_abandoned(place);
	snprintf(folder, size, "%s%s", place, name);
	if (!mkdtemp(folder)) {
		*folder = '\0';
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot write to %s: %s; set TMPDIR to another folder", place,
		               strerror(errno));
	}
	*lock = open_scratch(AT_FDCWD, folder);
	if (*lock >= 0) /* where there are no locks, an old folder is removed even if it is used */
		flock(*lock, LOCK_EX | LOCK_NB);
	return ST_OK;
}

void
st_fuzz_scratch_end(const char *folder, int lock)
{
	if (lock >= 0) {
		remove_scratch(AT_FDCWD, folder, lock);
		close(lock);
	}
}
