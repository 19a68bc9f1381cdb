/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/projectfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wholefile.h"
#include "store/vcs.h"

static st_status
project_file_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read the project's files");
}

static st_status
project_file_find(struct st_project_file *f, const char *path, const char *usual,
                  struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (path) {
		f->path = strdup(path);
		return f->path ? ST_OK : project_file_no_memory(e);
	}
	/* A repository that git refuses is no reason to fail: the file is optional. */
	if (st_vcs_git(&vcs, NULL))
		vcs = NULL;
	const char *root = vcs && vcs->root ? vcs->root : ".";
	const size_t n = strlen(root);
	f->path = st_text_of("%s%s%s", root, n && root[n - 1] == '/' ? "" : "/", usual);
	if (vcs)
		vcs->kind->close(vcs);
	return f->path ? ST_OK : project_file_no_memory(e);
}

st_status
st_project_file_read(struct st_project_file *f, const char *path, const char *usual,
                     struct st_error *e)
{
	*f = (struct st_project_file){0};
	if (project_file_find(f, path, usual, e))
		return ST_FAILED;
	if (!path && access(f->path, F_OK))
		return ST_OK;
	struct st_error why;
	return st_whole_read(&f->bytes, &f->n, f->path, ST_WHOLE_SETTINGS, &why)
	               ? st_fail(e, ST_EXIT_USAGE, "cannot read %s: %s", f->path, why.text)
	               : ST_OK;
}

void
st_project_file_free(struct st_project_file *f)
{
	free(f->path);
	free(f->bytes);
	*f = (struct st_project_file){0};
}
