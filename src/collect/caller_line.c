/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of code, also where the compiler has inlined a function of a system's header: the line of
 * such a header is the same for everybody who uses it. */
#include <string.h>

#include "collect/shower.h"

/* Headers of the C and C++ libraries and of compilers, and Rust's library. */
static bool
is_system_file(const char *file)
{
	return (!strncmp(file, "/usr/", 5) && strstr(file, "/include/")) ||
	       !strncmp(file, "/rustc/", 7);
}

/* The innermost call that does not stand in a system's header, in place of the line. */
static void
go_to_caller(struct st_image *image, uint64_t offset, struct st_line *line)
{
	enum { MOST_INLINED = 64 };
	struct st_inlined inlined[MOST_INLINED];
	size_t n = st_image_inlined(image, offset, inlined, MOST_INLINED);
	for (size_t i = 0; i < n && i < MOST_INLINED; i++) {
		const struct st_line *call = &inlined[i].call;
		if (call->file && call->line && !is_system_file(call->file)) {
			*line = *call;
			return;
		}
	}
}

st_status
st_collect_line(struct st_image *image, enum strobe_type type, uint64_t offset,
                struct st_line *line)
{
	if (st_image_line(image, offset, line) || !line->file || !line->line)
		return ST_FAILED;
	if (type == STROBE_CALLER_LINE && is_system_file(line->file))
		go_to_caller(image, offset, line);
	return ST_OK;
}
