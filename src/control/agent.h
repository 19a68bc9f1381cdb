/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that attaches and detaches for strobe. What ptrace has begun must be brought to its
 * end, or the attached process is harmed: so it is done by a child that nobody kills by mistake, in
 * a session of its own, and that detaches when strobe has gone, however it went.
 */
#ifndef STROBE_CONTROL_AGENT_H
#define STROBE_CONTROL_AGENT_H

#include "base/status.h"
#include "control/internal.h"

struct st_agent {
	pid_t pid;
	int socket;
	struct st_results_header *results; /* of the attached process, mapped */
	int channel;                       /* the runtime's questions come here */
	size_t threads;                    /* that are taken over */
	double begin;                      /* when the process was first stopped */
};

/* Sends the process into the engine. -1 with *e when it could not be; it is then as it was. */
st_status st_agent_start(struct st_agent *agent, pid_t pid, const struct st_run_options *o,
                         struct st_error *e);
enum st_agent_news {
	ST_AGENT_NOTHING,
	ST_AGENT_RUNTIME_ASKS, /* there is a message in the channel */
	ST_AGENT_PROCESS_LEFT,
	ST_AGENT_DIED
};
/* Waits for news for at most that many seconds, less than one, or until a signal. */
enum st_agent_news st_agent_wait(const struct st_agent *agent, double seconds);
/* Lets the process go, if it is still there, and ends the agent. False: it leaves by itself. */
bool st_agent_end(struct st_agent *agent);

#endif
