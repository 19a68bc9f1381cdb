/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"
#include "report/mem.h"
#include "trace/trace.h"

static st_status
metrics_one(const struct st_metrics_taker *t, const char *function, const char *metric,
            const char *unit, double value)
{
	return t->take(t->of, &(struct st_metric_values){.location = function,
	                                                 .function = function,
	                                                 .metric = metric,
	                                                 .unit = unit,
	                                                 .values = &value,
	                                                 .n = 1});
}

static st_status
metrics_of_functions(const struct st_profile *p, const struct st_metrics_taker *t)
{
	bool calls = false;
	for (size_t i = 0; i < p->functions.n; i++)
		calls |= p->functions.v[i].calls > 0;
	for (size_t i = 0; i < p->functions.n && p->run.has_functions; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		if (!f->name)
			continue;
		if (metrics_one(t, f->name, "instructions", "", (double)f->instructions) ||
		    (calls && metrics_one(t, f->name, "calls", "", (double)f->calls)) ||
		    (st_profile_share_is_time(p) &&
		     metrics_one(t, f->name, "samples", "", (double)f->samples)))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
metrics_of_trace(const struct st_profile *p, const struct st_metrics_taker *t, struct st_error *e)
{
	struct st_trace trace = {0};
	st_status status = st_trace_read(&trace, p, false, e);
	for (size_t i = 0; i < trace.functions.n && !status; i++) {
		const struct st_trace_function *f = &trace.functions.v[i];
		if (metrics_one(t, f->name, "exclusive", "ns", (double)f->exclusive_ns) ||
		    metrics_one(t, f->name, "inclusive", "ns", (double)f->outermost_ns) ||
		    metrics_one(t, f->name, "calls", "", (double)f->calls))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	}
	st_trace_free(&trace);
	return status;
}

/* A function asks for memory at several lines: its sites are added up where they are alike. */
static st_status
metrics_of_sites(const struct st_mem *m, struct st_mem_sites *sites,
                 const struct st_metrics_taker *t)
{
	for (size_t i = 0; i < sites->rows.n; i++) {
		const char *name = m->frames.v[sites->rows.v[i].frame].function;
		struct st_mem_context sum = sites->rows.v[i].sum;
		bool before = false;
		for (size_t k = 0; k < sites->rows.n; k++) {
			const struct st_mem_site_row *row = &sites->rows.v[k];
			if (k == i || strcmp(m->frames.v[row->frame].function, name) != 0)
				continue;
			before |= k < i;
			sum.peak += row->sum.peak;
			sum.live += row->sum.live;
			sum.bytes += row->sum.bytes;
			sum.calls += row->sum.calls;
		}
		for (enum st_mem_metric k = 0; k <= ST_MEM_CALLS && !before; k++)
			if (metrics_one(t, name, st_mem_metric_name(k),
			                k == ST_MEM_CALLS ? "" : "B",
			                (double)st_mem_value(&sum, k)))
				return ST_FAILED;
	}
	return ST_OK;
}

static st_status
metrics_of_memory(const struct st_profile *p, const struct st_metrics_taker *t, struct st_error *e)
{
	struct st_mem m = {0};
	struct st_mem_sites sites = {0};
	st_status status = st_mem_read(&m, p, e);
	if (!status && (st_mem_group(&m, &sites) || metrics_of_sites(&m, &sites, t)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	free(sites.rows.v);
	st_mem_free(&m);
	return status;
}

/* What a tool counts of the program as a whole, of all processes together. */
static st_status
metrics_of_counters(const struct st_profile *p, const struct st_metrics_taker *t)
{
	for (size_t i = 0; i < p->counters.n; i++) {
		const char *name = p->counters.v[i].name;
		uint64_t total = 0;
		size_t first = 0;
		while (strcmp(p->counters.v[first].name, name) != 0)
			first++;
		if (first < i || !st_profile_counter(p, name, &total))
			continue;
		const double value = (double)total;
		if (t->take(t->of, &(struct st_metric_values){.location = name,
		                                              .metric = name,
		                                              .unit = "",
		                                              .values = &value,
		                                              .n = 1}))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
metrics_of_series(const struct st_profile *p, const struct st_metrics_taker *t)
{
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		char *uid = st_series_uid(s);
		const struct st_metric_values v = {.location = uid,
		                                   .function = s->key.function,
		                                   .metric = s->key.metric,
		                                   .unit = s->key.unit,
		                                   .values = s->values,
		                                   .n = s->n,
		                                   .series = true};
		const st_status status = uid ? t->take(t->of, &v) : ST_FAILED;
		free(uid);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_metrics_each(const struct st_profile *p, const struct st_metrics_taker *taker,
                struct st_error *e)
{
	if (metrics_of_counters(p, taker) || metrics_of_functions(p, taker))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	if (st_profile_has_tool(p, "calltimes") && metrics_of_trace(p, taker, e))
		return ST_FAILED;
	if (st_profile_has_tool(p, ST_MEM_TOOL) && metrics_of_memory(p, taker, e))
		return ST_FAILED;
	return metrics_of_series(p, taker)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the values")
	               : ST_OK;
}
