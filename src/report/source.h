/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of source files. */
#ifndef STROBE_REPORT_SOURCE_H
#define STROBE_REPORT_SOURCE_H

#include <stdbool.h>

#include "base/vec.h"

/* A source file as lines: lines.v[i] is line i + 1, without its end. */
struct st_source {
	char *bytes;
	ST_VEC(char *) lines;
};

/* The readers of the text. */
enum st_source_for {
	ST_SOURCE_FOR_READER,  /* whoever runs strobe: all that can be read */
	ST_SOURCE_FOR_ANYBODY, /* who is given a page: debug information can name any file, so only
	                          those that all users may read, and, unless they are root's, those
	                          that are called as source is */
};
/* A file that cannot be read has no lines. False: it may not be shown. The caller frees. */
bool st_source_read(struct st_source *s, const char *path, enum st_source_for who);
void st_source_free(struct st_source *s);

#endif
