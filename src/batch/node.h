/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node that a worker runs on. */
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
/* Describes the machine of the key as that of the profile, since its runs were made there. */
void st_node_take_machine(struct st_profile *p, const char *machine);
/* Whether a message names an error of the node, such as a full disk, and not of the command: the
 * command has to be run again on another node, or later. */
bool st_node_is_cause(const char *message);

#endif
