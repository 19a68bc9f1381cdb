/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/engine.h"

#include "session/session.h"

st_status
st_trace_refuse_options(const struct st_trace_request *r, const char *engine, struct st_error *e)
{
	const struct st_session *s = r->session;
	const struct {
		bool is_given;
		const char *option;
	} not_here[] = {{s->sampling.chosen, "--sampling"},
	                {s->qos.source != NULL, "--qos"},
	                {s->region.start_at.n, "--start-at"},
	                {s->region.stop_at.n, "--stop-at"},
	                {s->region.delay > 0, "--delay"},
	                {s->region.toggle, "--toggle"},
	                {s->region.by_program, "--region"},
	                {s->region.threads, "--threads"},
	                {s->stress, "--stress"}};
	for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
		if (not_here[i].is_given)
			return st_fail(e, ST_EXIT_USAGE,
			               "%s is not possible with --engine %s: leave it out, or use "
			               "--engine jit",
			               not_here[i].option, engine);
	return ST_OK;
}
