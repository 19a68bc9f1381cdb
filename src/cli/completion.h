/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts for shells: what is fixed is in completion/, the tables come from commands.h.
 */
#ifndef STROBE_CLI_COMPLETION_H
#define STROBE_CLI_COMPLETION_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* The i-th shell there are completions for, or NULL. */
const char *st_completion_shell(size_t i);
/* Prints its script. 0, or -1 and *e for a shell that is not known. */
st_status st_completion_print(FILE *out, const char *shell, struct st_error *e);

/* The fixed parts, embedded; the tables go where they have a line "# @tables@". */
extern const char st_completion_text_bash[], st_completion_text_zsh[], st_completion_text_fish[];
/* The tables. */
void st_completion_bash(FILE *out);
void st_completion_zsh(FILE *out);
void st_completion_fish(FILE *out);
/* Text between single quotes of a shell; in it a backslash before each of the characters `special`.
 */
void st_completion_quote(FILE *out, const char *text, const char *special);

#endif
