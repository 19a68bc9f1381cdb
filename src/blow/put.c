/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/blow.h"
#include "blow/tables.h"
#include "profile/profile.h"

#define KEY(name, type)                                                                            \
	{                                                                                          \
		name, STROBE_##type, STROBE_IS_KEY                                                 \
	}
#define SUM(name)                                                                                  \
	{                                                                                          \
		name, STROBE_NUMBER, STROBE_IS_SUM                                                 \
	}

static struct st_profile_value
blow_count_value(uint64_t n)
{
	return (struct st_profile_value){n, NULL, UINT32_MAX, UINT32_MAX};
}

static struct st_profile_value
blow_word(struct st_profile *p, const char *text)
{
	return (struct st_profile_value){0, st_profile_text(p, text), UINT32_MAX, UINT32_MAX};
}

static struct st_profile_table *
blow_table(struct st_profile *p, const char *name, const char *help, size_t n_keys,
           size_t n_columns, const struct st_profile_column *columns)
{
	struct st_profile_table *table = ST_PUSH(&p->tables);
	if (!table)
		return NULL;
	table->name = name;
	table->help = help;
	table->tool = ST_BLOW_TOOL;
	table->n_keys = n_keys;
	table->n_columns = n_columns;
	memcpy(table->columns, columns, n_columns * sizeof *columns);
	return table;
}

static st_status
blow_row(struct st_profile_table *table, const struct st_profile_value *row)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		struct st_profile_value *value = ST_PUSH(&table->values);
		if (!value)
			return ST_FAILED;
		*value = row[i];
	}
	return ST_OK;
}

static st_status
blow_put_functions(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[FUNCTION_COLUMNS] = {
	        KEY("at", NUMBER),    KEY("function", TEXT), KEY("symbol", TEXT),
	        KEY("image", TEXT),   KEY("offset", NUMBER), KEY("chosen", NUMBER),
	        KEY("refused", TEXT), SUM("calls"),          SUM("ns")};
	struct st_profile_table *t = blow_table(p, ST_BLOW_TABLE_FUNCTIONS,
	                                        "functions when some were selected for noise",
	                                        FUNCTION_CALLS, FUNCTION_COLUMNS, columns);
	for (size_t i = 0; t && i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		const struct st_profile_value row[FUNCTION_COLUMNS] = {
		        [FUNCTION_AT] = blow_count_value(i),
		        [FUNCTION_NAME] = blow_word(p, f->name),
		        [FUNCTION_RAW] = blow_word(p, f->raw_name),
		        [FUNCTION_IMAGE] = blow_word(p, f->image),
		        [FUNCTION_OFFSET] = blow_count_value(f->offset),
		        [FUNCTION_CHOSEN] = blow_count_value(f->chosen),
		        [FUNCTION_WHY] = blow_word(p, f->why ? f->why : ""),
		        [FUNCTION_CALLS] = blow_count_value(f->calls),
		        [FUNCTION_NS] = blow_count_value(f->ns)};
		if (blow_row(t, row))
			return ST_FAILED;
	}
	return t ? ST_OK : ST_FAILED;
}

static st_status
blow_put_runs(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[RUN_COLUMNS] = {
	        KEY("run", NUMBER),      KEY("function", NUMBER), KEY("noise", TEXT),
	        KEY("strength", NUMBER), KEY("fault", TEXT),      KEY("exit", NUMBER),
	        KEY("output", TEXT),     SUM("total_ns"),         SUM("cpu_ns")};
	struct st_profile_table *t =
	        blow_table(p, ST_BLOW_TABLE_RUNS, "runs with noise in a function, or without any",
	                   RUN_TOTAL, RUN_COLUMNS, columns);
	for (size_t i = 0; t && i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		const char *output = st_profile_textf(p, "%016llx", (unsigned long long)r->output);
		const bool quiet = r->function == ST_BLOW_NONE;
		const struct st_profile_value row[RUN_COLUMNS] = {
		        [RUN_AT] = blow_count_value(i),
		        [RUN_FUNCTION] = blow_count_value(r->function),
		        [RUN_TYPE] = blow_word(p, quiet ? "" : st_blow_noise_name(r->noise.type)),
		        [RUN_STRENGTH] = blow_count_value(r->noise.strength),
		        [RUN_FAULT] = blow_word(p, st_blow_fault_name(r->fault)),
		        [RUN_EXIT] = blow_count_value((uint64_t)r->exit),
		        [RUN_OUTPUT] = blow_word(p, output),
		        [RUN_TOTAL] = blow_count_value(r->total_ns),
		        [RUN_CPU] = blow_count_value(r->cpu_ns)};
		if (blow_row(t, row))
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
		        [SAMPLE_RUN] = blow_count_value(run),
		        [SAMPLE_FUNCTION] = blow_count_value(s->function),
		        [SAMPLE_THREAD] = blow_count_value(s->thread),
		        [SAMPLE_CALLS] = blow_count_value(s->calls),
		        [SAMPLE_NS] = blow_count_value(s->ns),
		        [SAMPLE_NOISES] = blow_count_value(s->noises),
		        [SAMPLE_NOISE] = blow_count_value(s->noise_ns)};
		if (blow_row(t, row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
blow_put_all_samples(const struct st_blow *b, struct st_profile *p)
{
	static const struct st_profile_column columns[SAMPLE_COLUMNS] = {
	        KEY("run", NUMBER), KEY("function", NUMBER), KEY("thread", NUMBER), SUM("calls"),
	        SUM("ns"),          SUM("noises"),           SUM("noise_ns")};
	struct st_profile_table *t =
	        blow_table(p, ST_BLOW_TABLE_SAMPLES, "what threads did in functions in each run",
	                   SAMPLE_CALLS, SAMPLE_COLUMNS, columns);
	for (size_t i = 0; t && i < b->runs.n; i++)
		if (blow_put_samples(&b->runs.v[i], i, t))
			return ST_FAILED;
	return t ? ST_OK : ST_FAILED;
}

st_status
st_blow_put(const struct st_blow *b, struct st_profile *p)
{
	st_profile_add_option(p, 0, ST_BLOW_OPTION_MODE,
	                      b->causal ? ST_BLOW_CAUSAL : ST_BLOW_SLOW_DOWN);
	if (blow_put_functions(b, p) || blow_put_runs(b, p) || blow_put_all_samples(b, p))
		return ST_FAILED;
	return p->out_of_memory ? ST_FAILED : ST_OK;
}
