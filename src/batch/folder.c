/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/vcs.h"

/* Where campaigns are: ".git/strobe/campaigns", or "." where git has no repository. */
static char *
folder_above(void)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, NULL) || !vcs)
		return strdup(".");
	char *above = NULL, *data = strdup(vcs->data);
	if (data && (!mkdir(data, 0777) || errno == EEXIST))
		above = st_text_of("%s/campaigns", data);
	free(data);
	vcs->kind->close(vcs);
	return above;
}

st_status
st_batch_new_folder(const char *tool, char **folder, struct st_error *e)
{
	struct timespec now;
	char *above = folder_above();
	const char *begin = above && !strcmp(above, ".") ? "strobe-campaign-" : "";
	clock_gettime(CLOCK_REALTIME, &now);
	*folder = above ? st_text_of("%s/%s%s.%lld.%ld", above, begin, tool, (long long)now.tv_sec,
	                             (long)getpid())
	                : NULL;
	st_status status = ST_OK;
	if (!*folder)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
	else if (mkdir(above, 0777) && errno != EEXIST)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "cannot make the folder %s: %s; name another place with "
		                 "--campaign",
		                 above, strerror(errno));
	free(above);
	return status;
}

static int
folder_remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
	(void)s, (void)type, (void)at;
	remove(path); /* what stays is in the way of nothing */
	return 0;
}

void
st_batch_remove_folder(const char *folder)
{
	nftw(folder, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
