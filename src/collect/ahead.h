/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the symbols of a run's images while it goes on, in a thread of its own: the result is
 * there sooner after the program's end, and what that takes is a part of what a budget pays
 * (control/charge.c) instead of coming on top of it.
 */
#ifndef STROBE_COLLECT_AHEAD_H
#define STROBE_COLLECT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

struct st_ahead;
struct st_image;
struct st_process;

/* Whether the result will have functions, and lines; contexts have functions in any case. NULL: out
 * of memory; all of these functions take that for a reader that reads nothing. */
struct st_ahead *st_ahead_new(bool functions, bool lines);
/* Looks for images that are new in the processes of the run, `arg` being the reader; see
 * st_run_options.on_turn. Begins when the program has run for a tenth of a second. */
void st_ahead_look(void *arg, const struct st_process *processes, size_t n);
/* The image of that path, which is the caller's then; waits while it is being read. NULL: it was
 * not read, or could not be. The run is over: no more images are read. */
struct st_image *st_ahead_take(struct st_ahead *a, const char *path);
/* Closes what nobody has taken. */
void st_ahead_free(struct st_ahead *a);

#endif
