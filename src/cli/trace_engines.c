/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engines that strobe trace can choose from. */
#include <string.h>

#include "cli/trace.h"
#include "ebpf/engine.h"
#include "trace/probe.h"

static st_status
check_jit(const struct st_trace_request *r, struct st_error *e)
{
	const char *cannot = r->cpu                            ? "--cpu"
	                     : st_trace_rates_sample(r->rates) ? "--every"
	                     : r->window > 0                   ? "--windows"
	                     : r->changed                      ? "--changed-since"
	                     : r->skips_constant               ? "--skip-constant"
	                     : r->reduction                    ? "--reduce-by"
	                                                       : NULL;
	return cannot ? st_fail(e, ST_EXIT_USAGE,
	                        "%s is not possible with --engine jit: leave it out, or use "
	                        "--engine probe",
	                        cannot)
	              : ST_OK;
}

static const struct st_trace_engine jit = {.name = "jit", .check = check_jit};

static const struct st_trace_engine choose = {.name = "auto"};

static const struct st_trace_engine *const engines[] = {&choose, &st_trace_probe, &jit,
                                                        &st_ebpf_engine};

const struct st_trace_engine *
st_trace_engine_named(const char *name)
{
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

const struct st_trace_engine *
st_trace_engine_for(const struct st_trace_engine *asked, const struct st_trace_request *r)
{
	struct st_error why;
	if (asked != &choose)
		return asked;
	if (r->usdt->n)
		return &st_ebpf_engine;
	return st_trace_probe.check(r, &why) ? &jit : &st_trace_probe;
}

struct st_trace_request
st_trace_request_of(struct st_trace_arguments *a)
{
	return (struct st_trace_request){.session = &a->measure.session,
	                                 .own = a->own,
	                                 .per_thread = a->per_thread,
	                                 .events = a->events,
	                                 .cpu = a->cpu,
	                                 .quiet = a->measure.result.quiet,
	                                 .rates = &a->rates,
	                                 .window = a->window,
	                                 .window_period = a->window_period,
	                                 .depth = a->depth,
	                                 .main = a->main,
	                                 .excluded = &a->measure.session.region.excluded,
	                                 .changed = a->changed,
	                                 .reduction = a->reduction,
	                                 .skips_constant = a->skips_constant,
	                                 .usdt = &a->usdt,
	                                 .no_functions = a->usdt.n && a->own && !a->user};
}
