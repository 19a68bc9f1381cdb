/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/metrics.h"

#include "profile/allocations.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mem/mem.h"
#include "report/fields.h"
#include "report/mem.h"
#include "trace/trace.h"

bool
st_metrics_fit(const char *pattern, const char *name)
{
	return name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0));
}

static st_status
metrics_one(const struct st_metrics_taker *t, struct st_metric_values *v, const char *metric,
            const char *unit, double value)
{
	v->metric = metric;
	v->unit = unit;
	v->values = &value;
	v->n = 1;
	const st_status status = t->take(t->of, v);
	v->values = NULL;
	return status;
}

/* Hands out the counters of tools, each summed over all processes. */
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
		struct st_metric_values v = {.source = ST_METRIC_COUNTER, .location = name};
		if (metrics_one(t, &v, name, "", (double)total))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
metrics_of_functions(const struct st_profile *p, const struct st_metrics_taker *t)
{
	bool calls = false;
	for (size_t i = 0; i < p->functions.n; i++)
		calls |= p->functions.v[i].calls > 0;
	for (size_t i = 0; i < p->functions.n && p->run.has_functions; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		struct st_metric_values v = {.source = ST_METRIC_FUNCTION,
		                             .additive = true,
		                             .location = f->name,
		                             .function = f->name,
		                             .image = p->images.v[f->image].path,
		                             .build_id = p->images.v[f->image].build_id,
		                             .file = f->file,
		                             .offset = f->offset};
		if (!f->name)
			continue;
		if (metrics_one(t, &v, "instructions", "", (double)f->instructions) ||
		    (calls && metrics_one(t, &v, "calls", "", (double)f->calls)))
			return ST_FAILED;
		v.noise = ST_METRIC_SAMPLED;
		if (st_profile_share_is_time(p) &&
		    metrics_one(t, &v, "samples", "", (double)f->samples))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
metrics_of_call_times(const struct st_trace_function *f, const struct st_metrics_taker *t)
{
	struct st_metric_values v = {.source = ST_METRIC_TRACE,
	                             .noise = ST_METRIC_NOISY,
	                             .additive = true,
	                             .location = f->name,
	                             .function = f->name,
	                             .image = f->image,
	                             .build_id = f->build_id,
	                             .file = f->file,
	                             .offset = f->offset};
	if (metrics_one(t, &v, "exclusive", "ns", (double)f->exclusive_ns))
		return ST_FAILED;
	v.additive = false;
	if (metrics_one(t, &v, "inclusive", "ns", (double)f->outermost_ns))
		return ST_FAILED;
	v.additive = true;
	v.noise = ST_METRIC_EXACT;
	return metrics_one(t, &v, "calls", "", (double)f->calls);
}

static st_status
metrics_of_trace(const struct st_profile *p, const struct st_metrics_taker *t, struct st_error *e)
{
	struct st_trace trace = {0};
	st_status status = st_trace_read(&trace, p, false, e);
	for (size_t i = 0; i < trace.functions.n && !status; i++)
		if (metrics_of_call_times(&trace.functions.v[i], t))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	st_trace_free(&trace);
	return status;
}

/* A function may ask for memory at several lines: the sites of one function are added up. Mapped
 * pages are not included, as they are no heap memory. */
static st_status
metrics_of_sites(const struct st_mem *m, struct st_mem_sites *sites,
                 const struct st_metrics_taker *t)
{
	for (size_t i = 0; i < sites->rows.n; i++) {
		const struct st_mem_frame *f = &m->frames.v[sites->rows.v[i].frame];
		struct st_mem_context sum = sites->rows.v[i].sum;
		bool before = sites->rows.v[i].mapped;
		for (size_t k = 0; k < sites->rows.n && !before; k++) {
			const struct st_mem_site_row *row = &sites->rows.v[k];
			const struct st_mem_frame *other = &m->frames.v[row->frame];
			if (k == i || row->mapped || strcmp(other->function, f->function) != 0 ||
			    strcmp(other->image, f->image) != 0)
				continue;
			before |= k < i;
			sum.peak += row->sum.peak;
			sum.live += row->sum.live;
			sum.bytes += row->sum.bytes;
			sum.calls += row->sum.calls;
		}
		struct st_metric_values v = {.source = ST_METRIC_MEMORY,
		                             .additive = true,
		                             .location = f->function,
		                             .function = f->function,
		                             .image = *f->image ? f->image : NULL};
		for (enum st_mem_metric k = 0; k <= ST_MEM_CALLS && !before; k++)
			if (metrics_one(t, &v, st_mem_metric_name(k), k == ST_MEM_CALLS ? "" : "B",
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

/* Whether the keys of one and the same row are other numbers in each run: addresses of locks, and
 * threads. */
static bool
metrics_is_passing(const struct st_profile_table *table, size_t key)
{
	const enum strobe_type type = table->columns[key].type;
	return !strcmp(table->tool, "locks") && (type == STROBE_HEX || type == STROBE_THREAD);
}

/* The keys of a row, "caller, callee"; lasting: of these, those that are the same in another run.
 * malloc'ed; NULL: no memory. */
static char *
metrics_keys(const struct st_profile *p, const struct st_profile_table *table,
             const struct st_profile_value *row, bool lasting)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0, n = 0; out && i < table->n_keys; i++) {
		if (lasting && metrics_is_passing(table, i))
			continue;
		char *text = st_value_text(p, &table->columns[i], &row[i]);
		fprintf(out, "%s%s", n++ ? ", " : "", text ? text : "");
		free(text);
	}
	return out ? st_text_end(&built) : NULL;
}

static st_status
metrics_of_row(const struct st_profile *p, const struct st_profile_table *table,
               const struct st_profile_value *row, const struct st_metrics_taker *t)
{
	char *keys = metrics_keys(p, table, row, false),
	     *lasting = metrics_keys(p, table, row, true);
	st_status status = keys && lasting ? ST_OK : ST_FAILED;
	for (size_t c = table->n_keys; c < table->n_columns && !status; c++) {
		const struct st_profile_column *column = &table->columns[c];
		const bool time = column->type == STROBE_TICKS;
		struct st_metric_values v = {.source = ST_METRIC_TABLE,
		                             .noise = time ? ST_METRIC_NOISY : ST_METRIC_EXACT,
		                             .additive = column->role == STROBE_IS_SUM,
		                             .greatest = column->role == STROBE_IS_MAX,
		                             .table = table->name,
		                             .location = keys,
		                             .lasting = lasting};
		status = metrics_one(t, &v, column->name, time ? "ns" : "", (double)row[c].number);
	}
	free(keys);
	free(lasting);
	return status;
}

/* Tables of memory profiles and traces are left out, because they have sources of their own. */
static st_status
metrics_of_tables(const struct st_profile *p, const struct st_metrics_taker *t)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *table = &p->tables.v[i];
		const size_t rows = st_profile_rows(table);
		if (!table->n_keys || !strcmp(table->tool, ST_MEM_TOOL) ||
		    st_is_table_of_frames(table) || !strcmp(table->tool, "calltimes"))
			continue;
		for (size_t k = 0; k < rows; k++)
			if (metrics_of_row(p, table, &table->values.v[k * table->n_columns], t))
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
		const struct st_metric_values v = {.source = ST_METRIC_SERIES,
		                                   .noise = ST_METRIC_NOISY,
		                                   .location = uid,
		                                   .function = s->key.function,
		                                   .metric = s->key.metric,
		                                   .unit = s->key.unit,
		                                   .series = s,
		                                   .values = s->values,
		                                   .n = s->n};
		const st_status status = uid ? t->take(t->of, &v) : ST_FAILED;
		free(uid);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_metrics_each(const struct st_profile *p, const struct st_metrics_taker *t, struct st_error *e)
{
	st_status status = ST_OK;
	if (metrics_of_counters(p, t) || metrics_of_functions(p, t))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	if (st_profile_has_tool(p, "calltimes"))
		status = metrics_of_trace(p, t, e);
	if (!status && st_profile_has_tool(p, ST_MEM_TOOL))
		status = metrics_of_memory(p, t, e);
	if (!status && (metrics_of_tables(p, t) || metrics_of_series(p, t)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	return status;
}
