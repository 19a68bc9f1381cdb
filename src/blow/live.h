/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Experiments in one running process. It gets its probes once; each experiment is a window of time
 * in which one function has noise, which Strobe changes in the memory that it shares with the
 * process. What a window measures is the work that was done in it: the calls of progress points.
 *
 *	st_blow_live_new -> st_blow_live_select -> st_blow_live_window, repeatedly ->
 *	st_blow_live_free
 */
#ifndef STROBE_BLOW_LIVE_H
#define STROBE_BLOW_LIVE_H

#include "blow/run.h"

/* Noise may last at most 1 / ST_BLOW_LIVE_NOISES of a window. Between two windows the program runs
 * for that long without being measured, so calls with the noise of the one do not end in the next.
 */
enum { ST_BLOW_LIVE_NOISES = 8 };

struct st_blow_live;

/* pid: the process; 0: the program of the options passed later is started. window: seconds of an
 * experiment. NULL: memory is exhausted. */
struct st_blow_live *st_blow_live_new(pid_t pid, double window);
/* Puts probes on all functions that the request chooses, waits until a progress point was called,
 * and fills in the functions and the run, whose time is that since the probes were there. how has
 * to outlive l. -1 with *e. */
st_status st_blow_live_select(struct st_blow_live *l, const struct st_blow_how *how,
                              struct st_blow *b, struct st_blow_run *run, struct st_error *e);
/* Makes the experiment run->noise in run->function, or a window without noise, and fills in the
 * run. The first window removes the probes of functions that are neither chosen nor progress
 * points. If the process ends meanwhile, or a signal arrives, the run is to be discarded: then
 * st_blow_live_over is true. The caller frees what the run owns. -1 with *e. */
st_status st_blow_live_window(struct st_blow_live *l, const struct st_blow *b,
                              struct st_blow_run *run, struct st_error *e);
double st_blow_live_seconds(const struct st_blow_live *l);
/* Whether the process has ended, or a signal has asked Strobe to end. */
bool st_blow_live_over(const struct st_blow_live *l);
/* Whether the process has ended. */
bool st_blow_live_ended(const struct st_blow_live *l);
pid_t st_blow_live_pid(const struct st_blow_live *l);
/* Takes the noise and the probes away, and ends the program if it was started here. -1 with *e:
 * the probes could not be removed. */
st_status st_blow_live_leave(struct st_blow_live *l, struct st_error *e);
void st_blow_live_free(struct st_blow_live *l);

/* live_program.c: starts a program in a new process group and discards its standard output and
 * error. Returns its process; -1 with *e. */
pid_t st_blow_live_start(char *const *argv, const char *input, struct st_error *e);
/* Ends the program's process group, by SIGKILL if it does not end within five seconds. */
void st_blow_live_stop(pid_t pid);

#endif
