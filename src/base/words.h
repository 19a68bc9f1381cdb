/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of a line as a shell has them. Hosted code only. */
#ifndef STROBE_BASE_WORDS_H
#define STROBE_BASE_WORDS_H

#include <stdio.h>

/* Divides a line, in place, at blanks; quotes of both kinds and backslashes keep them. Nothing is
 * expanded. The number of words, which has to be at most room; -1: there are more, or a quote is
 * not closed. */
int st_words(char *line, char **words, int room);

/* Prints the text in single quotes, as one word of a shell. */
void st_shell_quote(FILE *out, const char *text);

#endif
