/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of settings that a project has in its folder, such as .strobe/gate.yaml. */
#ifndef STROBE_JOB_PROJECTFILE_H
#define STROBE_JOB_PROJECTFILE_H

#include <stddef.h>

#include "base/error.h"

struct st_project_file {
	char *path, *bytes; /* bytes NULL: the project has no such file */
	size_t n;
};

/* Reads the file at path. path NULL: the file `usual` of the project around the current folder, if
 * there is one; a project is the top folder of a repository, otherwise the current folder. 0, or -1
 * with *e. The caller frees in both cases. */
st_status st_project_file_read(struct st_project_file *f, const char *path, const char *usual,
                               struct st_error *e);
void st_project_file_free(struct st_project_file *f);

#endif
