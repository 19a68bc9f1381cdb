/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the tables of a profile, which may be anybody's file. */
#include <stdlib.h>
#include <string.h>

#include "blow/blow.h"
#include "blow/tables.h"
#include "profile/profile.h"

static const struct st_profile_table *
blow_table_named(const struct st_profile *p, const char *name, size_t columns)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (!strcmp(t->tool, ST_BLOW_TOOL) && !strcmp(t->name, name) &&
		    t->n_columns == columns)
			return t;
	}
	return NULL;
}

static const char *
blow_text_of(const struct st_profile_value *v)
{
	return v->text ? v->text : "";
}

static int
blow_row_order(const void *a, const void *b)
{
	const struct st_profile_value *x = *(const struct st_profile_value *const *)a,
	                              *y = *(const struct st_profile_value *const *)b;
	return (x->number > y->number) - (x->number < y->number);
}

typedef st_status blow_row_fn(struct st_blow *b, const struct st_profile_value *row);

/* By the number that a row begins with: rows of a file have no order. */
static st_status
each_blow_row(struct st_blow *b, const struct st_profile_table *t, blow_row_fn *read)
{
	const size_t n = st_profile_rows(t);
	const struct st_profile_value **rows = calloc(n + 1, sizeof *rows);
	st_status status = rows ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && rows; i++)
		rows[i] = &t->values.v[i * t->n_columns];
	if (rows && n)
		qsort(rows, n, sizeof *rows, blow_row_order);
	for (size_t i = 0; i < n && !status; i++)
		status = read(b, rows[i]);
	free(rows);
	return status;
}

static st_status
read_function_row(struct st_blow *b, const struct st_profile_value *row)
{
	const char *why = blow_text_of(&row[FUNCTION_WHY]);
	if (row[FUNCTION_AT].number != b->functions.n)
		return ST_FAILED;
	struct st_blow_function *f = ST_PUSH(&b->functions);
	if (!f)
		return ST_FAILED;
	*f = (struct st_blow_function){.name = blow_text_of(&row[FUNCTION_NAME]),
	                               .raw_name = blow_text_of(&row[FUNCTION_RAW]),
	                               .image = blow_text_of(&row[FUNCTION_IMAGE]),
	                               .offset = row[FUNCTION_OFFSET].number,
	                               .chosen = row[FUNCTION_CHOSEN].number != 0,
	                               .why = *why ? why : NULL,
	                               .calls = row[FUNCTION_CALLS].number,
	                               .ns = row[FUNCTION_NS].number};
	return ST_OK;
}

static bool
fault_named(const char *name, enum st_blow_fault *fault)
{
	for (int i = 0; i < ST_BLOW_FAULT_COUNT; i++)
		if (!strcmp(st_blow_fault_name((enum st_blow_fault)i), name)) {
			*fault = (enum st_blow_fault)i;
			return true;
		}
	return false;
}

static st_status
read_run_row(struct st_blow *b, const struct st_profile_value *row)
{
	const uint64_t function = row[RUN_FUNCTION].number;
	struct st_blow_run run = {.function = (uint32_t)function,
	                          .noise = {.strength = row[RUN_STRENGTH].number},
	                          .exit = (int)row[RUN_EXIT].number,
	                          .output = strtoull(blow_text_of(&row[RUN_OUTPUT]), NULL, 16),
	                          .total_ns = row[RUN_TOTAL].number,
	                          .cpu_ns = row[RUN_CPU].number};
	const char *type = blow_text_of(&row[RUN_TYPE]);
	if (row[RUN_AT].number != b->runs.n ||
	    (function != ST_BLOW_NONE && function >= b->functions.n) ||
	    !fault_named(blow_text_of(&row[RUN_FAULT]), &run.fault) ||
	    (*type && !st_blow_noise_named(type, &run.noise.type)))
		return ST_FAILED;
	struct st_blow_run *slot = ST_PUSH(&b->runs);
	if (slot)
		*slot = run;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
read_sample_row(struct st_blow *b, const struct st_profile_value *row)
{
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

st_status
st_blow_read(struct st_blow *b, const struct st_profile *p, struct st_error *e)
{
	const struct st_profile_table *functions = blow_table_named(p, ST_BLOW_TABLE_FUNCTIONS,
	                                                            FUNCTION_COLUMNS),
	                              *runs = blow_table_named(p, ST_BLOW_TABLE_RUNS, RUN_COLUMNS),
	                              *samples = blow_table_named(p, ST_BLOW_TABLE_SAMPLES,
	                                                          SAMPLE_COLUMNS);
	const char *mode = st_profile_option(p, ST_BLOW_TOOL, ST_BLOW_OPTION_MODE);
	*b = (struct st_blow){.causal = mode && !strcmp(mode, ST_BLOW_CAUSAL)};
	if (!functions || !runs || !samples)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "the profile is not of strobe blow, but of %s: strobe show prints it",
		        p->run.tool);
	st_status status = each_blow_row(b, functions, read_function_row) ||
	                                   each_blow_row(b, runs, read_run_row) ||
	                                   each_blow_row(b, samples, read_sample_row)
	                           ? ST_FAILED
	                           : ST_OK;
	for (size_t i = 0; i < b->runs.n; i++)
		st_blow_sort_samples(&b->runs.v[i]);
	if (!status)
		return ST_OK;
	st_blow_free(b);
	return st_fail(e, ST_EXIT_FAILED, "the profile's tables of strobe blow are damaged");
}
