/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a text file, one by one. */
#ifndef STROBE_IMPORT_LINES_H
#define STROBE_IMPORT_LINES_H

#include "import/import.h"

struct st_lines {
	const struct st_import *in;
	size_t at, number; /* of the line, from 1 */
	char *line;        /* a copy, which may be changed; without blanks at its end */
	size_t size;
	bool out_of_memory;
};

/* The next line; false: there is none, or no memory. A byte 0 ends a line's text. */
bool st_lines_next(struct st_lines *l);
void st_lines_free(struct st_lines *l);

#endif
