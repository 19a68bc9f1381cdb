/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hand-written part of a manual page: sections in roff, each begun by ".SH NAME". A line
 * "@option NAME" begins what is added to the help line of an option, until the next one or the next
 * section.
 * What comes before the first of either is a comment.
 */
#ifndef STROBE_MAN_PROSE_H
#define STROBE_MAN_PROSE_H

#include <stdbool.h>
#include <stddef.h>

struct prose_part {
	bool option; /* else a section */
	const char *name, *text;
};

struct prose {
	const char *path;
	char *bytes;
	struct prose_part parts[64];
	size_t n;
};

/* Reads the file; one that does not exist is empty. Ends the program when it is no prose. */
void prose_load(struct prose *p, const char *path);
void prose_free(struct prose *p);
/* The text of a section, or of an option; NULL when there is none. */
const char *prose_find(const struct prose *p, bool option, const char *name);

#endif
