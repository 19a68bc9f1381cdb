/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of source files. */
#ifndef STROBE_REPORT_SOURCE_H
#define STROBE_REPORT_SOURCE_H

#include "profile/vec.h"

/* A source file as lines: lines.v[i] is line i + 1, without its end. */
struct st_source {
	char *bytes;
	ST_VEC(char *) lines;
};

/* A file that cannot be read has no lines. The caller frees. */
void st_source_read(struct st_source *s, const char *path);
void st_source_free(struct st_source *s);

#endif
