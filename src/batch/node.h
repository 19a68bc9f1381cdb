/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker has to know of the node that it runs on. */
#ifndef STROBE_BATCH_NODE_H
#define STROBE_BATCH_NODE_H

#include <sched.h>
#include <stdbool.h>

#include "base/error.h"

/* The key of this machine, lines NAME=VALUE, malloc'ed. NULL: memory is exhausted. */
char *st_node_machine(void);
/* Pins this process to one CPU, after st_node_machine, which counts the CPUs. *cpus: this CPU. 0,
 * or -1 with *e. */
st_status st_node_pin(int cpu, cpu_set_t *cpus, struct st_error *e);
struct st_profile;
/* Sets the machine of a profile whose runs were made on the machine of this key. */
void st_node_take_machine(struct st_profile *p, const char *machine);
/* Whether a message is of an error of the node, such as a full disk, whatever runs on it: another
 * node, or this one later, gives the result. */
bool st_node_is_cause(const char *message);

#endif
