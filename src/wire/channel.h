/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a followed process tells the controller, one packet each, over the socket it was given at
 * injection. */
#ifndef STROBE_WIRE_CHANNEL_H
#define STROBE_WIRE_CHANNEL_H

#include <stdint.h>

#include "wire/boot.h"

enum st_message_kind {
	ST_MESSAGE_FORKED = 1, /* a new process; its results file comes along as a descriptor */
	ST_MESSAGE_EXEC, /* thread tid is about to call execve: trace it, then set exec_ack in its
	                    results */
	ST_MESSAGE_EXEC_FAILED,
	ST_MESSAGE_IMAGE,   /* there are executable mappings that the controller has not seen: see
	                       images_done of its results */
	ST_MESSAGE_LEADERS, /* see leaders_wanted of its results */
};

/* The value of the runtime's signal that the controller queues when region_asked has been set. */
#define ST_OWN_REGION 0x737400007265676eull

struct st_message {
	uint32_t kind;
	uint32_t pid, ppid, tid;
	uint32_t results_pid; /* process whose results hold the exec_ack to set: the parent's for a
	                         vfork's child */
	uint32_t ticket;      /* value to set exec_ack to */
};

#endif
