/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the result of a run: the same for run and attach. */
#ifndef STROBE_CLI_RESULT_H
#define STROBE_CLI_RESULT_H

#include <stdio.h>

#include "base/status.h"
#include "profile/profile.h"
#include "session/output.h"

struct st_result {
	bool quiet;
	long top;
	/* Printed between the summary and the path of the result; NULL: nothing. */
	void (*summary)(const struct st_profile *p, const void *arg, size_t top, FILE *out);
	const void *summary_arg;
};

/* Values of --format and --output. 0, or -1 with *e. */
st_status st_result_format(const char *value, struct st_session_output *o, struct st_error *e);
/* Without --format, chooses JSON for a file whose name ends with .json. */
void st_result_guess_format(struct st_session_output *o);
st_status st_result_output(const char *value, const char **output, struct st_error *e);
/* Onto the terminal, unless --quiet. saved: where the result is, NULL: nowhere. */
void st_result_print(const struct st_result *a, const struct st_session_output *o,
                     const struct st_profile *p, const char *saved);
/* The newest result in the current directory, whose name ends with .db;
 * says on standard error which one that is. malloc'ed; NULL: there is none. */
char *st_newest_result(void);
/* A command's options as they were given, for the record: up to `end`. malloc'ed. */
char *st_result_options(char *const *argv, char *const *end);
/* Prints a text, or JSON, to standard output, and flushes it. */
st_status st_result_write_text(char *text, bool is_json, struct st_error *e);

#endif
