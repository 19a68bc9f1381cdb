/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "blow/blow.h"
#include "blow/tables.h"
#include "blow/timeline.h"
#include "profile/tables.h"

static st_status
blow_put_functions(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[FUNCTION_COLUMNS] = {
	        ST_KEY("at", NUMBER),    ST_KEY("function", TEXT), ST_KEY("symbol", TEXT),
	        ST_KEY("image", TEXT),   ST_KEY("offset", NUMBER), ST_KEY("chosen", NUMBER),
	        ST_KEY("refused", TEXT), ST_SUM("calls"),          ST_SUM("ns")};
	struct st_profile_table *t = st_profile_table_add(
	        p, ST_BLOW_TOOL, ST_BLOW_TABLE_FUNCTIONS, "functions in the run that selects them",
	        FUNCTION_CALLS, FUNCTION_COLUMNS, columns);
	for (size_t i = 0; t && i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		const struct st_profile_value row[FUNCTION_COLUMNS] = {
		        [FUNCTION_AT] = st_profile_value_number(i),
		        [FUNCTION_NAME] = st_profile_value_text(p, f->name),
		        [FUNCTION_RAW] = st_profile_value_text(p, f->raw_name),
		        [FUNCTION_IMAGE] = st_profile_value_text(p, f->image),
		        [FUNCTION_OFFSET] = st_profile_value_number(f->offset),
		        [FUNCTION_CHOSEN] = st_profile_value_number(
		                f->progress ? IS_PROGRESS - 1 + (unsigned)f->progress : f->chosen),
		        [FUNCTION_WHY] = st_profile_value_text(p, f->why ? f->why : ""),
		        [FUNCTION_CALLS] = st_profile_value_number(f->calls),
		        [FUNCTION_NS] = st_profile_value_number(f->ns)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_code(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[CODE_COLUMNS] = {
	        ST_KEY("at", NUMBER), ST_KEY("criteria", NUMBER), ST_KEY("traits", NUMBER),
	        ST_SUM("sites")};
	struct st_profile_table *t =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CODE,
	                             "criteria that functions meet, and what their code says",
	                             CODE_SITES, CODE_COLUMNS, columns);
	for (size_t i = 0; t && i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		const struct st_profile_value row[CODE_COLUMNS] = {
		        [CODE_AT] = st_profile_value_number(i),
		        [CODE_MET] = st_profile_value_number(f->met),
		        [CODE_TRAITS] = st_profile_value_number(f->traits),
		        [CODE_SITES] = st_profile_value_number(f->sites)};
		if ((f->met || f->traits || f->sites) && st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

/* Unknown callers are ST_BLOW_NONE. */
static st_status
blow_put_contexts(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[CONTEXT_COLUMNS] = {
	        ST_KEY("at", NUMBER), ST_KEY("callee", NUMBER), ST_KEY("caller", NUMBER),
	        ST_SUM("calls")};
	struct st_profile_table *t = NULL;
	for (size_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (!(f->traits & ST_BLOW_IS_CONTEXT))
			continue;
		if (!t)
			t = st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CONTEXTS,
			                         "functions and their callers", CONTEXT_CALLS,
			                         CONTEXT_COLUMNS, columns);
		const struct st_profile_value row[CONTEXT_COLUMNS] = {
		        [CONTEXT_AT] = st_profile_value_number(i),
		        [CONTEXT_CALLEE] = st_profile_value_number(f->callee),
		        [CONTEXT_CALLER] = st_profile_value_number(f->caller),
		        [CONTEXT_CALLS] = st_profile_value_number(f->calls)};
		if (!t || st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
blow_put_runs(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[RUN_COLUMNS] = {
	        ST_KEY("run", NUMBER),      ST_KEY("function", NUMBER), ST_KEY("noise", TEXT),
	        ST_KEY("strength", NUMBER), ST_KEY("fault", TEXT),      ST_KEY("exit", NUMBER),
	        ST_KEY("output", TEXT),     ST_SUM("total_ns"),         ST_SUM("cpu_ns")};
	struct st_profile_table *t = st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_RUNS,
	                                                  "runs with and without noise", RUN_TOTAL,
	                                                  RUN_COLUMNS, columns);
	for (size_t i = 0; t && i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		const char *output = st_profile_textf(p, "%016llx", (unsigned long long)r->output);
		const bool quiet = r->function == ST_BLOW_NONE;
		const struct st_profile_value row[RUN_COLUMNS] = {
		        [RUN_AT] = st_profile_value_number(i),
		        [RUN_FUNCTION] = st_profile_value_number(r->function),
		        [RUN_TYPE] = st_profile_value_text(
		                p, quiet ? "" : st_blow_noise_name(r->noise.type)),
		        [RUN_STRENGTH] = st_profile_value_number(r->noise.strength),
		        [RUN_FAULT] = st_profile_value_text(p, st_blow_fault_name(r->fault)),
		        [RUN_EXIT] = st_profile_value_number((uint64_t)r->exit),
		        [RUN_OUTPUT] = st_profile_value_text(p, output),
		        [RUN_TOTAL] = st_profile_value_number(r->total_ns),
		        [RUN_CPU] = st_profile_value_number(r->cpu_ns)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_samples(const struct st_blow_run *r, size_t run, struct st_profile_table *t)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct st_blow_sample *s = &r->samples.v[i];
		const struct st_profile_value row[SAMPLE_COLUMNS] = {
		        [SAMPLE_RUN] = st_profile_value_number(run),
		        [SAMPLE_FUNCTION] = st_profile_value_number(s->function),
		        [SAMPLE_THREAD] = st_profile_value_number(s->thread),
		        [SAMPLE_CALLS] = st_profile_value_number(s->calls),
		        [SAMPLE_NS] = st_profile_value_number(s->ns),
		        [SAMPLE_NOISES] = st_profile_value_number(s->noises),
		        [SAMPLE_NOISE] = st_profile_value_number(s->noise_ns)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
blow_put_all_samples(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[SAMPLE_COLUMNS] = {ST_KEY("run", NUMBER),
	                                                                 ST_KEY("function", NUMBER),
	                                                                 ST_KEY("thread", NUMBER),
	                                                                 ST_SUM("calls"),
	                                                                 ST_SUM("ns"),
	                                                                 ST_SUM("noises"),
	                                                                 ST_SUM("noise_ns")};
	struct st_profile_table *t =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_SAMPLES,
	                             "calls, time and noise by run, function and thread",
	                             SAMPLE_CALLS, SAMPLE_COLUMNS, columns);
	for (size_t i = 0; t && i < b->runs.n; i++)
		if (blow_put_samples(&b->runs.v[i], i, t))
			return ST_FAILED;
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_spans(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[SPAN_COLUMNS] = {
	        ST_KEY("run", NUMBER), ST_KEY("thread", NUMBER), ST_SUM("ns")};
	struct st_profile_table *t = st_profile_table_add(
	        p, ST_BLOW_TOOL, ST_BLOW_TABLE_SPANS, "time of threads in functions with probes",
	        SPAN_NS, SPAN_COLUMNS, columns);
	for (size_t i = 0; t && i < b->runs.n; i++)
		for (size_t k = 0; k < b->runs.v[i].spans.n; k++) {
			const struct st_blow_span *s = &b->runs.v[i].spans.v[k];
			const struct st_profile_value row[SPAN_COLUMNS] = {
			        [SPAN_RUN] = st_profile_value_number(i),
			        [SPAN_THREAD] = st_profile_value_number(s->thread),
			        [SPAN_NS] = st_profile_value_number(s->ns)};
			if (st_profile_table_add_row(t, row))
				return ST_FAILED;
		}
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_plain(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[PLAIN_COLUMNS] = {
	        ST_KEY("run", NUMBER), ST_SUM("total_ns"), ST_SUM("cpu_ns")};
	struct st_profile_table *t =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_PLAIN, "runs without probes",
	                             PLAIN_TOTAL, PLAIN_COLUMNS, columns);
	for (size_t i = 0; t && i < b->plain.n; i++) {
		const struct st_profile_value row[PLAIN_COLUMNS] = {
		        [PLAIN_AT] = st_profile_value_number(i),
		        [PLAIN_TOTAL] = st_profile_value_number(b->plain.v[i].total_ns),
		        [PLAIN_CPU] = st_profile_value_number(b->plain.v[i].cpu_ns)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_created(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[CREATED_COLUMNS] = {
	        ST_KEY("thread", NUMBER),      ST_KEY("creator", NUMBER),
	        ST_KEY("nth", NUMBER),         ST_KEY("image", TEXT),
	        ST_KEY("function", TEXT),      ST_KEY("offset", NUMBER),
	        ST_KEY("call_image", TEXT),    ST_KEY("call_function", TEXT),
	        ST_KEY("call_offset", NUMBER), ST_SUM("threads")};
	struct st_profile_table *t =
	        st_profile_table_add(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CREATED,
	                             "how each thread was created, which identifies it in all runs",
	                             CREATED_THREADS, CREATED_COLUMNS, columns);
	for (size_t i = 0; t && i < b->threads.n; i++) {
		const struct st_blow_origin *o = &b->threads.v[i];
		const struct st_profile_value row[CREATED_COLUMNS] = {
		        [CREATED_THREAD] = st_profile_value_number(o->thread),
		        [CREATED_CREATOR] = st_profile_value_number(o->creator),
		        [CREATED_NTH] = st_profile_value_number(o->nth),
		        [CREATED_IMAGE] = st_profile_value_text(p, o->start.image),
		        [CREATED_FUNCTION] = st_profile_value_text(p, o->start.function),
		        [CREATED_OFFSET] = st_profile_value_number(o->start.offset),
		        [CREATED_CALL_IMAGE] = st_profile_value_text(p, o->call.image),
		        [CREATED_CALL_FUNCTION] = st_profile_value_text(p, o->call.function),
		        [CREATED_CALL_OFFSET] = st_profile_value_number(o->call.offset),
		        [CREATED_THREADS] = st_profile_value_number(1)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

/* Adds a row for a line of a note. */
static st_status
blow_put_line(struct st_profile *p, struct st_profile_table *t, size_t run, const char *line,
              size_t length)
{
	char *text = strndup(line, length), *tab = text ? strchr(text, '\t') : NULL;
	if (tab)
		*tab++ = '\0';
	const struct st_profile_value row[NOTE_COLUMNS] = {
	        [NOTE_AT] = st_profile_value_number(st_profile_rows(t)),
	        [NOTE_RUN] = st_profile_value_number(run),
	        [NOTE_KIND] = st_profile_value_text(p, text ? text : ""),
	        [NOTE_TEXT] = st_profile_value_text(p, tab ? tab : ""),
	        [NOTE_LINES] = st_profile_value_number(1)};
	const st_status status = text ? st_profile_table_add_row(t, row) : ST_FAILED;
	free(text);
	return status;
}

static st_status
blow_put_notes(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[NOTE_COLUMNS] = {
	        ST_KEY("line", NUMBER), ST_KEY("run", NUMBER), ST_KEY("kind", TEXT),
	        ST_KEY("text", TEXT), ST_SUM("lines")};
	struct st_profile_table *t = NULL;
	for (size_t i = 0; i < b->runs.n; i++) {
		const char *line = b->runs.v[i].note;
		if (line && !t)
			t = st_profile_table_add(
			        p, ST_BLOW_TOOL, ST_BLOW_TABLE_NOTES,
			        "causes and stacks of runs that reached their limit", NOTE_LINES,
			        NOTE_COLUMNS, columns);
		if (line && !t)
			return ST_FAILED;
		for (; line && *line; line += strspn(line, "\n")) {
			const size_t length = strcspn(line, "\n");
			if (blow_put_line(p, t, i, line, length))
				return ST_FAILED;
			line += length;
		}
	}
	return ST_OK;
}

static st_status
blow_put_clocked(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[CLOCKED_COLUMNS] = {
	        ST_KEY("run", NUMBER), ST_KEY("function", NUMBER), ST_KEY("open", NUMBER),
	        ST_SUM("ns"), ST_SUM("cpu_ns")};
	struct st_profile_table *t = st_profile_table_add(
	        p, ST_BLOW_TOOL, ST_BLOW_TABLE_CLOCKED,
	        "time and CPU time of functions in runs without noise that read both clocks",
	        CLOCKED_NS, CLOCKED_COLUMNS, columns);
	for (size_t i = 0; t && i < b->clocked.n; i++) {
		const struct st_blow_clocked *c = &b->clocked.v[i];
		const struct st_profile_value row[CLOCKED_COLUMNS] = {
		        [CLOCKED_RUN] = st_profile_value_number(c->run),
		        [CLOCKED_FUNCTION] = st_profile_value_number(c->function),
		        [CLOCKED_OPEN] = st_profile_value_number(c->open),
		        [CLOCKED_NS] = st_profile_value_number(c->ns),
		        [CLOCKED_CPU] = st_profile_value_number(c->cpu_ns)};
		if (st_profile_table_add_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

st_status
st_blow_put(const struct st_blow *b, struct st_profile *p)
{
	st_profile_add_option(p, 0, ST_BLOW_OPTION_MODE, st_blow_mode(b));
	if (b->cut)
		st_profile_add_option(p, 0, ST_BLOW_OPTION_END,
		                      b->live ? ST_BLOW_WINDOWS : ST_BLOW_CUT);
	if (blow_put_functions(b, p) || blow_put_code(b, p) || blow_put_contexts(b, p) ||
	    blow_put_runs(b, p) || blow_put_all_samples(b, p) || blow_put_notes(b, p))
		return ST_FAILED;
	if (b->speedup && blow_put_spans(b, p))
		return ST_FAILED;
	if (b->threads.n && blow_put_created(b, p))
		return ST_FAILED;
	if (b->plain.n && blow_put_plain(b, p))
		return ST_FAILED;
	if (b->clocked.n && blow_put_clocked(b, p))
		return ST_FAILED;
	if (st_blow_put_timeline(b, p))
		return ST_FAILED;
	return p->out_of_memory ? ST_FAILED : ST_OK;
}
