/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"

#include <unistd.h>

#include "profile/profile.h"
#include "session/session.h"
#include "trace/raw.h"

static st_status
check_replay(const struct st_trace_request *r, struct st_error *e)
{
	const char *file = r->session->program[0];
	if (access(file, R_OK))
		return st_fail(e, ST_EXIT_USAGE, "cannot replay %s", file);
	return st_trace_refuse_options(r, "replay", e);
}

static st_status
run_replay(const struct st_trace_request *r, struct st_trace_outcome *out, struct st_error *e)
{
	struct st_trace t;
	if (st_trace_read_raw(&t, r->session->program[0], ST_TRACE_UNIT_OF_FILE, true, e))
		return ST_FAILED;
	struct st_profile *p = st_profile_new();
	if (p) {
		st_profile_add_tool(p, "calltimes");
		st_profile_add_option(p, 0, "engine", "replay");
	}
	const st_status status =
	        p && !st_trace_put(&t, p) ? ST_OK : st_fail(e, ST_EXIT_FAILED, "out of memory");
	out->profile = p;
	st_trace_free(&t);
	return status;
}

const struct st_trace_engine trace_replay = {
        .name = "replay", .check = check_replay, .run = run_replay};
