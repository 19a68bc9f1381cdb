/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that a source asks, with what it has started. */
#ifndef STROBE_QOS_CHILD_H
#define STROBE_QOS_CHILD_H

#include <sys/types.h>

struct st_qos_child {
	pid_t pid; /* of its process group too */
	int pidfd; /* -1: it had ended, and been waited for, before it could be opened */
};

/* Descriptors of its standard input, output and error; -1: /dev/null. */
struct st_qos_ends {
	int in, out, err;
};

/* argv[0] is looked for in PATH. 0 or an error number. */
int st_qos_child_start(struct st_qos_child *c, const char *const *argv,
                       const struct st_qos_ends *ends);
/* Ends the process and all processes of its group that have not ended yet. */
void st_qos_child_end(struct st_qos_child *c);

#endif
