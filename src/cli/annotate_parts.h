/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the features of many functions with several processes. */
#ifndef STROBE_CLI_ANNOTATE_PARTS_H
#define STROBE_CLI_ANNOTATE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What was found for some functions. */
struct st_annotate_found {
	size_t described; /* functions with features, or with none to be read */
	bool bare;        /* one has no debug information */
	bool no_memory;
};

/* Prints the features of function `i`, and adds to what was found. */
typedef void st_annotate_print(void *arg, size_t i, FILE *out, struct st_annotate_found *found);

/* Prints those of n functions in order. If they are many, several processes, one for each CPU,
 * print parts of them. What a process cannot do, the calling process does. */
void st_annotate_print_parts(size_t n, st_annotate_print *print, void *arg, FILE *out,
                             struct st_annotate_found *found);

#endif
