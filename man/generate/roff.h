/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of a manual page in roff. */
#ifndef STROBE_MAN_ROFF_H
#define STROBE_MAN_ROFF_H

#include <stddef.h>
#include <stdio.h>

/* Plain text: a hyphen that begins a word is a minus sign. */
void roff_plain(FILE *out, const char *text);
/* A name as it is typed: all its hyphens are minus signs. */
void roff_typed(FILE *out, const char *name, size_t length);
/* A line of --help as a sentence. */
void roff_sentence(FILE *out, const char *help);
/* The beginning of the page, up to the heading of its synopsis. */
void roff_heading(FILE *out, const char *name, const char *help);
/* A usage line, without the command. */
void roff_usage(FILE *out, const char *text);

#endif
