/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe trace --top: the functions of a trace while it is made. */
#ifndef STROBE_CLI_TRACE_LIVE_H
#define STROBE_CLI_TRACE_LIVE_H

#include "cli/top.h"
#include "trace/engine.h"

struct st_trace_live {
	struct st_top top;
	ST_VEC(char *) images; /* by their numbers in the view */
	struct st_trace_watcher watcher;
};

/* 0, or -1 with *e: there is no terminal. In either case st_trace_live_end has to follow. */
st_status st_trace_live_begin(struct st_trace_live *l, const struct st_top_choice *choice,
                              struct st_session *session, struct st_error *e);
void st_trace_live_end(struct st_trace_live *l);

#endif
