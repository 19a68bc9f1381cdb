/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a campaign from the tables of a profile. The file may be damaged, so indices are checked.
 */
#include <stdlib.h>
#include <string.h>

#include "blow/blow.h"
#include "blow/contexts.h"
#include "blow/tables.h"
#include "blow/timeline.h"
#include "profile/tables.h"

static st_status
read_function_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const char *why = st_profile_text_of(&row[FUNCTION_WHY]);
	const uint64_t chosen = row[FUNCTION_CHOSEN].number;
	if (row[FUNCTION_AT].number != b->functions.n ||
	    chosen >= IS_PROGRESS - 1 + (uint64_t)ST_BLOW_POINT_KINDS)
		return ST_FAILED;
	struct st_blow_function *f = ST_PUSH(&b->functions);
	if (!f)
		return ST_FAILED;
	*f = (struct st_blow_function){
	        .name = st_profile_text_of(&row[FUNCTION_NAME]),
	        .raw_name = st_profile_text_of(&row[FUNCTION_RAW]),
	        .image = st_profile_text_of(&row[FUNCTION_IMAGE]),
	        .offset = row[FUNCTION_OFFSET].number,
	        .chosen = chosen == 1,
	        .progress = chosen < IS_PROGRESS
	                            ? ST_BLOW_NO_POINT
	                            : (enum st_blow_point_kind)(chosen - IS_PROGRESS + 1),
	        .why = *why ? why : NULL,
	        .calls = row[FUNCTION_CALLS].number,
	        .ns = row[FUNCTION_NS].number};
	return ST_OK;
}

static st_status
read_code_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t at = row[CODE_AT].number, sites = row[CODE_SITES].number;
	if (at >= b->functions.n || sites > UINT32_MAX || row[CODE_TRAITS].number > ST_BLOW_TRAITS)
		return ST_FAILED;
	struct st_blow_function *f = &b->functions.v[at];
	f->met = (uint32_t)row[CODE_MET].number;
	f->traits = (uint32_t)row[CODE_TRAITS].number;
	f->sites = (uint32_t)sites;
	return ST_OK;
}

/* The table `code` says which entries are contexts. */
static st_status
read_blow_context(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t at = row[CONTEXT_AT].number, callee = row[CONTEXT_CALLEE].number,
	               caller = row[CONTEXT_CALLER].number;
	if (at >= b->functions.n || !st_blow_is_context_of(b, callee, caller, at))
		return ST_FAILED;
	struct st_blow_function *f = &b->functions.v[at];
	f->callee = (uint32_t)callee;
	f->caller = (uint32_t)caller;
	return f->traits & ST_BLOW_IS_CONTEXT ? ST_OK : ST_FAILED;
}

static st_status
read_run_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t function = row[RUN_FUNCTION].number;
	struct st_blow_run run = {.function = (uint32_t)function,
	                          .noise = {.strength = row[RUN_STRENGTH].number},
	                          .exit = (int)row[RUN_EXIT].number,
	                          .output =
	                                  strtoull(st_profile_text_of(&row[RUN_OUTPUT]), NULL, 16),
	                          .total_ns = row[RUN_TOTAL].number,
	                          .cpu_ns = row[RUN_CPU].number};
	const char *type = st_profile_text_of(&row[RUN_TYPE]);
	if (row[RUN_AT].number != b->runs.n ||
	    (function != ST_BLOW_NONE && function >= b->functions.n) ||
	    !st_blow_fault_named(st_profile_text_of(&row[RUN_FAULT]), &run.fault) ||
	    (*type && !st_blow_noise_named(type, &run.noise.type)))
		return ST_FAILED;
	struct st_blow_run *slot = ST_PUSH(&b->runs);
	if (slot)
		*slot = run;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
read_sample_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t run = row[SAMPLE_RUN].number, function = row[SAMPLE_FUNCTION].number;
	if (run >= b->runs.n || function >= b->functions.n ||
	    row[SAMPLE_THREAD].number > UINT32_MAX)
		return ST_FAILED;
	struct st_blow_sample *s = ST_PUSH(&b->runs.v[run].samples);
	if (!s)
		return ST_FAILED;
	*s = (struct st_blow_sample){.function = (uint32_t)function,
	                             .thread = (uint32_t)row[SAMPLE_THREAD].number,
	                             .calls = row[SAMPLE_CALLS].number,
	                             .ns = row[SAMPLE_NS].number,
	                             .noises = row[SAMPLE_NOISES].number,
	                             .noise_ns = row[SAMPLE_NOISE].number};
	return ST_OK;
}

static st_status
read_span_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t run = row[SPAN_RUN].number, thread = row[SPAN_THREAD].number;
	struct st_blow_span *s =
	        run < b->runs.n && thread <= UINT32_MAX ? ST_PUSH(&b->runs.v[run].spans) : NULL;
	if (!s)
		return ST_FAILED;
	*s = (struct st_blow_span){(uint32_t)thread, row[SPAN_NS].number};
	return ST_OK;
}

static st_status
read_plain_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	struct st_blow_plain_run *run =
	        row[PLAIN_AT].number == b->plain.n ? ST_PUSH(&b->plain) : NULL;
	if (!run)
		return ST_FAILED;
	*run = (struct st_blow_plain_run){row[PLAIN_TOTAL].number, row[PLAIN_CPU].number};
	return ST_OK;
}

static st_status
read_clocked_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t run = row[CLOCKED_RUN].number, function = row[CLOCKED_FUNCTION].number;
	struct st_blow_clocked *c =
	        run < UINT32_MAX && function < b->functions.n ? ST_PUSH(&b->clocked) : NULL;
	if (!c)
		return ST_FAILED;
	*c = (struct st_blow_clocked){(uint32_t)run, (uint32_t)function,
	                              row[CLOCKED_OPEN].number != 0, row[CLOCKED_NS].number,
	                              row[CLOCKED_CPU].number};
	b->clock_runs = run >= b->clock_runs ? (size_t)run + 1 : b->clock_runs;
	return ST_OK;
}

static st_status
read_created_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t thread = row[CREATED_THREAD].number, creator = row[CREATED_CREATOR].number,
	               nth = row[CREATED_NTH].number;
	struct st_blow_origin *o =
	        thread && thread < UINT32_MAX && creator <= UINT32_MAX && nth < UINT32_MAX
	                ? ST_PUSH(&b->threads)
	                : NULL;
	if (!o)
		return ST_FAILED;
	*o = (struct st_blow_origin){
	        .thread = (uint32_t)thread,
	        .creator = (uint32_t)creator,
	        .nth = (uint32_t)nth,
	        .start = {.image = strdup(st_profile_text_of(&row[CREATED_IMAGE])),
	                  .function = strdup(st_profile_text_of(&row[CREATED_FUNCTION])),
	                  .offset = row[CREATED_OFFSET].number},
	        .call = {.image = strdup(st_profile_text_of(&row[CREATED_CALL_IMAGE])),
	                 .function = strdup(st_profile_text_of(&row[CREATED_CALL_FUNCTION])),
	                 .offset = row[CREATED_CALL_OFFSET].number}};
	return st_blow_origin_check(o);
}

/* Adds a line to the note of its run. */
static st_status
read_note_row(void *into, const struct st_profile_value *row)
{
	struct st_blow *b = into;
	const uint64_t run = row[NOTE_RUN].number;
	if (run >= b->runs.n)
		return ST_FAILED;
	char *before = b->runs.v[run].note, *note;
	if (asprintf(&note, "%s%s\t%s\n", before ? before : "", st_profile_text_of(&row[NOTE_KIND]),
	             st_profile_text_of(&row[NOTE_TEXT])) < 0)
		return ST_FAILED;
	free(before);
	b->runs.v[run].note = note;
	return ST_OK;
}

st_status
st_blow_read(struct st_blow *b, const struct st_profile *p, struct st_error *e)
{
	const struct st_profile_table *functions = st_profile_table_find(p, ST_BLOW_TOOL,
	                                                                 ST_BLOW_TABLE_FUNCTIONS,
	                                                                 FUNCTION_COLUMNS),
	                              *runs = st_profile_table_find(
	                                      p, ST_BLOW_TOOL, ST_BLOW_TABLE_RUNS, RUN_COLUMNS),
	                              *samples = st_profile_table_find(p, ST_BLOW_TOOL,
	                                                               ST_BLOW_TABLE_SAMPLES,
	                                                               SAMPLE_COLUMNS);
	const struct st_profile_table *notes = st_profile_table_find(
	        p, ST_BLOW_TOOL, ST_BLOW_TABLE_NOTES, NOTE_COLUMNS); /* NULL: there are none */
	const struct st_profile_table *code =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CODE, CODE_COLUMNS);
	const struct st_profile_table *contexts =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CONTEXTS, CONTEXT_COLUMNS);
	const struct st_profile_table *spans =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_SPANS, SPAN_COLUMNS);
	const struct st_profile_table *created =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CREATED, CREATED_COLUMNS);
	const struct st_profile_table *plain =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_PLAIN, PLAIN_COLUMNS);
	const struct st_profile_table *clocked =
	        st_profile_table_find(p, ST_BLOW_TOOL, ST_BLOW_TABLE_CLOCKED, CLOCKED_COLUMNS);
	const char *mode = st_profile_option(p, ST_BLOW_TOOL, ST_BLOW_OPTION_MODE);
	const char *end = st_profile_option(p, ST_BLOW_TOOL, ST_BLOW_OPTION_END);
	*b = (struct st_blow){.causal = mode && !strcmp(mode, ST_BLOW_CAUSAL),
	                      .speedup = mode && !strcmp(mode, ST_BLOW_SPEED_UP),
	                      .live = end && !strcmp(end, ST_BLOW_WINDOWS),
	                      .cut = end &&
	                             (!strcmp(end, ST_BLOW_WINDOWS) || !strcmp(end, ST_BLOW_CUT))};
	if (!functions || !runs || !samples)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "the profile is not of strobe blow, but of %s: strobe show prints it",
		        p->run.tool);
	st_status status =
	        st_profile_table_read_sorted(functions, b, read_function_row) ||
	                        st_profile_table_read_sorted(code, b, read_code_row) ||
	                        st_profile_table_read_sorted(contexts, b, read_blow_context) ||
	                        st_profile_table_read_sorted(runs, b, read_run_row) ||
	                        st_profile_table_read_sorted(samples, b, read_sample_row) ||
	                        st_profile_table_read_sorted(spans, b, read_span_row) ||
	                        st_profile_table_read_sorted(created, b, read_created_row) ||
	                        st_profile_table_read_sorted(plain, b, read_plain_row) ||
	                        st_profile_table_read_sorted(clocked, b, read_clocked_row) ||
	                        st_profile_table_read_sorted(notes, b, read_note_row) ||
	                        st_blow_read_timeline(b, p)
	                ? ST_FAILED
	                : ST_OK;
	for (size_t i = 0; i < b->runs.n; i++)
		st_blow_sort_samples(&b->runs.v[i]);
	if (!status)
		return ST_OK;
	st_blow_free(b);
	return st_fail(e, ST_EXIT_FAILED, "the profile's tables of strobe blow are damaged");
}
