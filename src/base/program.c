/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: the path is a program. */
static int
program_check(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return ENOENT;
	return access(path, X_OK) == 0 ? 0 : EACCES;
}

int
st_path_find(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	int error = ENOENT;
	if (!dirs)
		dirs = "/bin:/usr/bin";
	if (strchr(name, '/'))
		return (size_t)snprintf(path, size, "%s", name) < size ? program_check(path)
		                                                       : ENOENT;
	for (const char *p = dirs; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		const size_t n = strcspn(p, ":");
		if ((size_t)snprintf(path, size, "%.*s%s%s", (int)n, p, n ? "/" : "./", name) >=
		    size)
			continue;
		const int found = program_check(path);
		if (!found)
			return 0;
		error = found == EACCES ? EACCES : error;
	}
	return error;
}
