/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one way to declare options. A command lists them once, as an X-macro; parsing, --help, shell
 * completion and the manual pages read that list.
 *
 *	#define MY_OPTIONS(O) O(top, 'n', "top", "N", SHOWN, "rows of a table")
 */
#ifndef STROBE_CLI_OPTIONS_H
#define STROBE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct st_option {
	char letter;                 /* 0: none */
	const char *name, *argument; /* argument NULL: takes none */
	bool shown;                  /* in --help; the man page has all */
	const char *help;
};

/* Expands to a row of a table and to an enumerator; see options_list.h. */
#define ST_OPTION_ROW(id, letter, name, argument, shown, help)                                     \
	{letter, name, argument, shown, help},

enum { ST_OPTIONS_END = -1, ST_OPTIONS_BAD = -2, ST_OPTIONS_OTHER = -3 };

/* Where parsing stands. Set options, n, argv; the rest zero. */
struct st_options {
	const struct st_option *options;
	size_t n;
	char *const *argv;   /* after the command's name, NULL-terminated */
	size_t at;           /* next argument */
	const char *letters; /* rest of a group of one-letter options */
	bool ended;          /* after -- */
};

/*
 * The next option: its index in the table, *value its argument. ST_OPTIONS_OTHER: *value is no
 * option. ST_OPTIONS_BAD: *e says what is wrong.
 */
int st_options_next(struct st_options *o, const char **value, struct st_error *e);

void st_options_help(FILE *out, const struct st_option *options, size_t n, bool all);

#endif
