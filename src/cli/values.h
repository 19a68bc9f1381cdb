/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may stand where a usage line has a placeholder: completion and the manual pages ask. A new
 * option is completed when it uses one of these placeholders, or lists its words: "db|json".
 */
#ifndef STROBE_CLI_VALUES_H
#define STROBE_CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/commands.h"
#include "tools/tools.h"

enum st_value_kind {
	ST_VALUE_ANY,     /* numbers, names: nothing to offer */
	ST_VALUE_WORD,    /* one of the words */
	ST_VALUE_LIST,    /* some of them, separated by commas */
	ST_VALUE_TOOL,    /* one of them, perhaps with options, or the file of a tool */
	ST_VALUE_FILE,    /* a file or folder */
	ST_VALUE_PID,     /* a running process */
	ST_VALUE_PROGRAM, /* a program and its own arguments: all that follows */
};

/* One word that may be given, and what it means, or NULL. */
struct st_word {
	char name[32];
	const char *help;
};

struct st_values {
	const char *placeholder;
	enum st_value_kind kind;
	bool (*word)(size_t i, struct st_word *w); /* NULL: the placeholder itself lists them */
};

struct st_values st_values_of(const char *placeholder);
/* The i-th placeholder that stands for more than its text. False when there are no more. */
bool st_values_known(size_t i, struct st_values *v);
/* The i-th word. False when there are no more. */
bool st_values_word(const struct st_values *v, size_t i, struct st_word *w);

/* The i-th option of a tool, as it is given: "size=". False when there are no more. */
bool st_tool_option(const strobe_tool *tool, size_t i, struct st_word *w);

/* The argument after the options, from the command's usage line. False: it takes none. */
bool st_command_values(const struct st_command *command, struct st_values *v);

#endif
