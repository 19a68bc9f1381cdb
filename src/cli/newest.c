/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result that commands read when none is named. */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/result.h"
#include "profile/profile.h"
#include "report/text.h"

static bool
is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* A result may have any name that ends with .db, as may the database of any other program. */
static bool
is_result(const char *name, struct stat *st)
{
	return !fnmatch("*.db", name, FNM_PERIOD) && !stat(name, st) && S_ISREG(st->st_mode) &&
	       st_profile_is_file(name);
}

char *
st_newest_result(void)
{
	struct timespec latest = {0};
	char *newest = NULL;
	DIR *here = opendir(".");
	for (const struct dirent *d; here && (d = readdir(here));) {
		struct stat st;
		if (!is_result(d->d_name, &st) || (newest && !is_later(&st.st_mtim, &latest)))
			continue;
		char *copy = strdup(d->d_name);
		if (!copy)
			break;
		free(newest);
		newest = copy;
		latest = st.st_mtim;
	}
	if (here)
		closedir(here);
	char *shown = newest ? st_printable(newest) : NULL;
	if (shown)
		fprintf(stderr, "strobe: reading %s, the newest result in this directory\n", shown);
	free(shown);
	return newest;
}
