/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures pairs by running both sides. */
#ifndef STROBE_GATE_DUET_H
#define STROBE_GATE_DUET_H

#include <sched.h>

#include "gate/gate.h"

struct st_gate_runs {
	struct st_gate_command commands[ST_GATE_SIDES];
	const char *input; /* of each run; NULL: nothing */
	enum st_gate_duet duet;
	enum st_gate_metric metric;
	cpu_set_t cpus; /* CPUs that the runs may use */
	bool unpinned;  /* each run may use all of them, for programs with threads */
};

/* Prepares the measurement. Without CPUs, sets those that strobe itself may use. 0, or -1 with *e.
 */
st_status st_gate_runs_begin(struct st_gate_runs *r, struct st_error *e);
/* Makes the setting of the environment that moves the stack of a run, "STROBE_GATE=xxx". */
enum { ST_GATE_PADDING = 4096 + 32 };
void st_gate_padding(char text[ST_GATE_PADDING], unsigned bytes);
/* Sets the CPUs of the run of a side. */
void st_gate_choose_cpus(const struct st_gate_runs *r, const struct st_gate_pair *pair, int side,
                         cpu_set_t *cpus);
/* Calls run with each of the two: in two threads unless the duet is alternate. ST_FAILED with *e:
 * there is no further thread; nothing was run. */
st_status st_gate_run_both(enum st_gate_duet duet, void *(*run)(void *arg), void *first,
                           void *second, struct st_error *e);
/* What a message about a failed run of a duet adds: "", or that two at once may be the cause. */
const char *st_gate_duet_advice(enum st_gate_duet duet);
/* The functions of a sampler whose arg is a struct st_gate_runs. */
st_status st_gate_run_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                           struct st_error *e);
bool st_gate_is_interrupted(void *arg);
double st_gate_now(void *arg);

#endif
