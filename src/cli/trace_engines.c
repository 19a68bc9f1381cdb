/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engines that strobe trace can choose from. */
#include <string.h>

#include "cli/trace.h"
#include "ebpf/engine.h"
#include "trace/probe.h"

static const struct st_trace_engine jit = {.name = "jit"};

static const struct st_trace_engine *const engines[] = {&jit, &st_trace_probe, &st_ebpf_engine};

const struct st_trace_engine *
st_trace_engine_named(const char *name)
{
	if (!strcmp(name, "auto"))
		return &jit;
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

struct st_trace_request
st_trace_request_of(struct st_trace_arguments *a)
{
	return (struct st_trace_request){.session = &a->measure.session,
	                                 .own = a->own,
	                                 .per_thread = a->per_thread,
	                                 .events = a->events,
	                                 .quiet = a->measure.result.quiet,
	                                 .depth = a->depth,
	                                 .main = a->main,
	                                 .excluded = &a->excluded};
}
