/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/filetext.h"

#include <errno.h>
#include <string.h>

#include "base/wholefile.h"

st_status
st_ann_file_text(const char *path, const char *what, char **text, size_t *n, struct st_error *e)
{
	struct st_error why;
	return st_whole_read(text, n, path, ST_WHOLE_DATA, &why)
	               ? st_fail(e, ST_EXIT_FAILED, "cannot read the %s '%s': %s", what, path,
	                         why.text)
	               : ST_OK;
}
