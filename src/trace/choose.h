/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions a trace is about, for engines that decide it by the files of the images. */
#ifndef STROBE_TRACE_CHOOSE_H
#define STROBE_TRACE_CHOOSE_H

#include "symbol/symbol.h"
#include "trace/engine.h"

struct st_trace_chooser;

/* The request must outlive it. NULL: memory is exhausted. */
struct st_trace_chooser *st_trace_chooser_new(const struct st_trace_request *r);
void st_trace_chooser_free(struct st_trace_chooser *c);

/* Is the function chosen? Asked for all functions of an image one after the other it is quick.
 * Counts for the patterns of the session's region what they have matched. */
bool st_trace_chosen(struct st_trace_chooser *c, struct st_image *image, const char *path,
                     const struct st_function *f);

/* Is that the function's name, as in C++ without its arguments? */
bool st_trace_is_named(const struct st_function *f, const char *name);
/* Does the name fit the shell pattern, with its arguments or without them? */
bool st_trace_fits_name(const struct st_function *f, const char *pattern);

#endif
