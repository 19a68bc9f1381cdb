/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns for the source files that functions are in. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "symbol/symbol.h"

bool
st_file_pattern(const char *pattern, struct st_file_pattern *out)
{
	if (*pattern != '@')
		return false;
	size_t n = strcspn(++pattern, ":");
	out->name = pattern[n] ? pattern + n + 1 : "*";
	if (n >= sizeof out->file)
		n = sizeof out->file - 1;
	memcpy(out->file, pattern, n);
	out->file[n] = '\0';
	return true;
}

bool
st_file_fits(const struct st_file_pattern *pattern, const char *path)
{
	char end[sizeof pattern->file + 2];
	if (!strcmp(pattern->file, path) || !fnmatch(pattern->file, path, 0))
		return true;
	snprintf(end, sizeof end, "*/%s", pattern->file);
	return !fnmatch(end, path, 0);
}

const char *
st_image_source(struct st_image *image, const struct st_symbol *symbol)
{
	struct st_line line;
	return st_image_line(image, symbol->entry, &line) ? NULL : line.file;
}
