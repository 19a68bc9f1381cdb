/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the result of a session goes. */
#ifndef STROBE_SESSION_OUTPUT_H
#define STROBE_SESSION_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* A form of result other than a profile's file. */
struct st_output_form {
	const char *end; /* of the names of its files, "json" */
	/* Writes what is in the file, which may be full: the caller looks at it. 0, or -1 with *e.
	 */
	int (*write)(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e);
	const void *arg;
};

struct st_session_output {
	const char *name;                  /* of the program: a part of the default file name */
	const char *path;                  /* NULL: the default name */
	const struct st_output_form *form; /* NULL: a profile */
	bool form_is_given; /* by --format: the name of the file does not choose it */
};

/* Whether the result will find a place, asked before the program runs; pid 0: it has none yet. 0,
 * or -1 with *e. */
st_status st_session_output_check(const struct st_session_output *o, uint32_t pid,
                                  struct st_error *e);
/* The beginning of the names that results have by default: "strobe.PROGRAM.". malloc'ed. */
char *st_session_output_prefix(const char *name);
/* Writes the profile of process pid; *where receives the file, malloc'ed, NULL: it is nowhere. 0,
 * or -1 with *e when it is not where it should be; *where may be another place then, which *e says.
 */
st_status st_session_output_save(const struct st_session_output *o, const struct st_profile *p,
                                 uint32_t pid, char **where, struct st_error *e);
/* The form of a profile into a file. 0, or -1 with *e. */
st_status st_output_form_write(const struct st_output_form *form, const struct st_profile *p,
                               const char *path, struct st_error *e);

#endif
