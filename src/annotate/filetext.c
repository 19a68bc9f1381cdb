/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/filetext.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular.h"

enum { FIRST_BUFFER = 1 << 16 };

static st_status
ann_read_all(FILE *in, char **text, size_t *n)
{
	size_t cap = 0;
	*text = NULL;
	*n = 0;
	do {
		cap = cap ? 2 * cap : FIRST_BUFFER;
		char *grown = realloc(*text, cap);
		if (!grown) {
			free(*text);
			return ST_FAILED;
		}
		*text = grown;
		*n += fread(*text + *n, 1, cap - 1 - *n, in);
	} while (*n == cap - 1);
	(*text)[*n] = 0;
	return ST_OK;
}

st_status
st_ann_file_text(const char *path, const char *what, char **text, size_t *n, struct st_error *e)
{
	const bool is_input = !strcmp(path, "-");
	FILE *in = is_input ? stdin : st_fopen_regular(path);
	if (!in)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the %s '%s': %s", what, path,
		               errno == EINVAL ? "it is not a regular file" : strerror(errno));
	st_status status = ann_read_all(in, text, n)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", path)
	                           : ST_OK;
	if (!status && ferror(in)) {
		status = st_fail(e, ST_EXIT_FAILED, "cannot read the %s '%s': %s", what, path,
		                 strerror(errno));
		free(*text);
	}
	if (!is_input)
		fclose(in);
	return status;
}
