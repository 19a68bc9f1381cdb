/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of real runs. */
#ifndef STROBE_GATE_DUET_H
#define STROBE_GATE_DUET_H

#include <sched.h>

#include "gate/gate.h"

struct st_gate_runs {
	struct st_gate_command commands[ST_GATE_SIDES];
	const char *input; /* of each run; NULL: nothing */
	enum st_gate_duet duet;
	enum st_gate_metric metric;
	cpu_set_t cpus; /* that the runs may use */
	bool unpinned;  /* a run uses all of them, for programs that have threads */
};

/* Ready to measure: takes the CPUs that strobe itself may use. 0, or -1 with *e. */
st_status st_gate_runs_begin(struct st_gate_runs *r, struct st_error *e);
/* A sampler's functions; arg is the struct st_gate_runs. */
st_status st_gate_run_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                           struct st_error *e);
bool st_gate_is_interrupted(void *arg);
double st_gate_now(void *arg);

#endif
