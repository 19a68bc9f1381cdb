/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a function does with return addresses, by its name and its image: a probe that times calls
 * replaces the return address on the stack, and who reads it there must find the program's own.
 */
#ifndef STROBE_PROBE_ROLES_H
#define STROBE_PROBE_ROLES_H

#include "symbol/symbol.h"

enum st_probe_role {
	ST_ROLE_NORMAL,
	/* Reads the return addresses of its callers. All replaced ones of the thread are put back
	 * before it runs, and its own is never replaced. It calls other functions meanwhile (of the
	 * linker, personality routines): what is entered below its frame is part of its work, and
	 * leaves the stack alone. */
	ST_ROLE_UNWINDER,
	/* By which the dynamic linker tells debuggers that its list of images has changed. */
	ST_ROLE_LINKER,
	/* The function that a catch handler calls first: the frames above it stay. */
	ST_ROLE_LANDING,
	/* Its return address must not be replaced: it is read, or the function returns twice or
	 * never. The function is counted. */
	ST_ROLE_COUNT,
	/* The same, and it may make a thread that cannot be told from the one that called it. */
	ST_ROLE_CLONE,
	/* It takes no probe. */
	ST_ROLE_REFUSED,
};

struct st_probe_role_of {
	enum st_probe_role role;
	const char *why; /* NULL, or a sentence's end: "it returns twice" */
};

/* By a name as in the file (a version behind @ is left out); normal when it is not known. */
struct st_probe_role_of st_probe_role(const char *raw_name);

/*
 * What holds for all functions of an image whose names say nothing else: normal, or counted, with
 * the reason. *process becomes whether it holds for all images of the process that has this one.
 */
struct st_probe_role_of st_probe_image_role(struct st_image *image, bool *process);

/* Is there code of Go in it? */
bool st_probe_is_go(struct st_image *image);

#endif
