/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the result of a run goes and how it is shown: the same for run and attach. */
#ifndef STROBE_CLI_RESULT_H
#define STROBE_CLI_RESULT_H

#include <stdio.h>

#include "base/status.h"
#include "profile/profile.h"

/* A form of result other than a profile or its JSON. */
struct st_result_form {
	const char *end; /* of the names of its files; NULL: it is a profile all the same */
	/* Writes what is in the file, which may be full: the caller looks at it. 0, or -1 with *e.
	 */
	int (*write)(const struct st_profile *p, const void *arg, FILE *out, struct st_error *e);
	/* What is printed between the summary and where the result is. */
	void (*summary)(const struct st_profile *p, const void *arg, size_t top, FILE *out);
	const void *arg;
};

struct st_result {
	const char *name;   /* of the program: a part of the default file name */
	const char *output; /* NULL: the default name */
	bool json, quiet;
	long top;
	const struct st_result_form *form; /* NULL: none */
};

/* Values of --format and --output. 0, or -1 with *e. */
st_status st_result_format(const char *value, bool *json, struct st_error *e);
st_status st_result_output(const char *value, const char **output, struct st_error *e);
/* Whether the result will find a place, asked before the program runs; pid 0: it has none yet. 0,
 * or -1 with *e. */
st_status st_result_check(const struct st_result *a, uint32_t pid, struct st_error *e);
/* The beginning of the names that results have by default: "strobe.PROGRAM.". malloc'ed. */
char *st_result_prefix(const struct st_result *a);
/* The profile of process pid into a file and onto the terminal. 0, or -1 with *e when it is not
 * where it should be; it may be elsewhere then, which *e says. */
st_status st_result_report(const struct st_result *a, const struct st_profile *p, uint32_t pid,
                           struct st_error *e);
/* The form of a profile into a file. 0, or -1 with *e. */
st_status st_result_write(const struct st_result_form *form, const struct st_profile *p,
                          const char *path, struct st_error *e);
/* A command's options as they were given, for the record: up to `end`. malloc'ed. */
char *st_result_options(char *const *argv, char *const *end);

#endif
