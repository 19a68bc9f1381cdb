/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions of a program differ from those of another build of it. Functions are matched as
 * in check/match.h; one that the other build does not have differs.
 */
#ifndef STROBE_TRACE_CHANGED_H
#define STROBE_TRACE_CHANGED_H

#include "base/error.h"
#include "base/status.h"
#include "symbol/symbol.h"

struct st_trace_changed;

/*
 * The other build: an ELF file, or a profile, of which the files are taken that are still as they
 * were. of: the program of which an ELF file is a build, whatever the two are called; NULL, and of
 * a profile: files of one base name are builds of each other. NULL with *e.
 */
struct st_trace_changed *st_trace_changed_open(const char *path, const char *of,
                                               struct st_error *e);
void st_trace_changed_close(struct st_trace_changed *c);

/* False also if the other build has no file of that name. Asked for all functions of an image one
 * after the other it is quick. */
bool st_trace_has_changed(struct st_trace_changed *c, struct st_image *image, const char *path,
                          const struct st_function *f);
/* Did none of the images that were asked for have a counterpart? */
bool st_trace_changed_fits_nothing(const struct st_trace_changed *c);

#endif
