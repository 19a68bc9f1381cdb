/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hyperfine --export-json writes: the elapsed time of each run, and means of the CPU time. */
#include <math.h>
#include <string.h>

#include "import/json.h"
#include "profile/profile.h"

bool
st_import_is_hyperfine(const struct st_import *in)
{
	return st_import_json_has(in, "results") && st_import_json_has(in, "command") &&
	       st_import_json_has(in, "times");
}

/* A result while it is read. */
struct result {
	struct st_import *in;
	struct st_error *e;
	const json_t *json;
	struct st_import_key key;
};

/* A parameter that is a number is a feature; NAN: it is a label. */
static double
parameter_number(const json_t *value)
{
	char *end = NULL;
	const char *text = json_string_value(value);
	double number = json_is_number(value) ? json_number_value(value)
	                : text && *text       ? strtod(text, &end)
	                                      : NAN;
	return (!end || !*end) && isfinite(number) ? number : NAN;
}

/* The program is the command's first word. Results that differ in parameters only are of one
 * command. */
static st_status
begin_result(struct result *r)
{
	struct st_profile *p = r->in->p;
	const char *command = st_import_json_text(r->json, "command"), *name;
	const json_t *parameters = json_object_get(r->json, "parameters");
	json_t *value;
	size_t blank = strspn(command, " \t"), word = strcspn(command + blank, " \t");
	r->key.key.image = st_profile_textf(p, "%.*s", (int)word, command + blank);
	if (!json_object_size(parameters) && st_import_key_label(&r->key, "command", command))
		return st_import_no_memory(r->in, r->e);
	json_object_foreach((json_t *)(uintptr_t)parameters, name, value)
	{
		if (isnan(parameter_number(value)) &&
		    st_import_key_label(&r->key, name, st_import_json_words(p, value)))
			return st_import_no_memory(r->in, r->e);
	}
	return ST_OK;
}

static st_status
set_parameters(struct result *r, struct st_series *s, size_t at)
{
	const char *name;
	json_t *value;
	json_object_foreach(json_object_get(r->json, "parameters"), name, value)
	{
		double number = parameter_number(value);
		if (!isnan(number) && st_series_set(r->in->p, s, name, at, number))
			return st_import_bad(r->in, 0, r->e, "it has more than %d features",
			                     ST_MOST_FEATURES);
	}
	return ST_OK;
}

/* NULL: no memory. */
static struct st_series *
result_series(struct result *r, const char *metric, const char *kind, const char *unit)
{
	r->key.key.metric = metric;
	r->key.key.kind = kind;
	r->key.key.unit = unit;
	return st_import_key_series(r->in->p, &r->key);
}

/* A list with an element for each run; or, where there is none, nothing. */
static st_status
read_runs(struct result *r, const char *list, const char *metric, const char *kind,
          const char *unit)
{
	const json_t *values = json_object_get(r->json, list);
	const json_t *codes = json_object_get(r->json, "exit_codes");
	struct st_series *s = values ? result_series(r, metric, kind, unit) : NULL;
	size_t i;
	json_t *value;
	if (values && !s)
		return st_import_no_memory(r->in, r->e);
	json_array_foreach(values, i, value)
	{
		const json_t *code = json_array_get(codes, i);
		size_t at =
		        st_series_add(s, json_is_number(value) ? json_number_value(value) : NAN);
		if (at == SIZE_MAX ||
		    st_series_set(r->in->p, s, ST_FEATURE_REPETITION, at, (double)i + 1) ||
		    (json_is_number(code) &&
		     st_series_set(r->in->p, s, ST_FEATURE_EXIT, at, json_number_value(code))))
			return st_import_no_memory(r->in, r->e);
		if (set_parameters(r, s, at))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Only the mean of all runs is in the file. */
static st_status
read_mean(struct result *r, const char *name)
{
	double mean = st_import_json_number(r->json, name);
	if (isnan(mean))
		return ST_OK;
	if (st_import_key_label(&r->key, "statistic", "mean"))
		return st_import_no_memory(r->in, r->e);
	struct st_series *s = result_series(r, name, ST_KIND_TIME, "s");
	r->key.labels.n--;
	size_t at = s ? st_series_add(s, mean) : SIZE_MAX;
	return at == SIZE_MAX ? st_import_no_memory(r->in, r->e) : set_parameters(r, s, at);
}

static st_status
hyperfine_read_result(struct result *r, size_t index)
{
	if (!st_import_json_text(r->json, "command") ||
	    !json_is_array(json_object_get(r->json, "times"))) {
		st_import_skip(r->in, index + 1);
		return ST_OK;
	}
	if (begin_result(r) || read_runs(r, "times", "wall", ST_KIND_TIME, "s") ||
	    read_runs(r, "memory_usage_byte", "peak memory", ST_KIND_MEMORY, "B") ||
	    read_mean(r, "user") || read_mean(r, "system"))
		return ST_FAILED;
	return ST_OK;
}

st_status
st_import_hyperfine(struct st_import *in, struct st_error *e)
{
	json_t *object, *root = st_import_json_root(in, e);
	const json_t *results = json_object_get(root, "results");
	size_t i;
	st_status status = root ? ST_OK : ST_FAILED;
	in->skipped_are = "result";
	if (root && !json_is_array(results))
		status = st_import_bad(in, 0, e, "it has no list of results");
	for (i = 0; !status && i < json_array_size(results); i++) {
		object = json_array_get(results, i);
		struct result r = {.in = in, .e = e, .json = object};
		status = hyperfine_read_result(&r, i);
		st_import_key_free(&r.key);
	}
	if (!status && i == in->skipped)
		status = st_import_bad(in, 0, e, "it has no result with a command and its times");
	if (!status && json_array_size(results) == 1)
		st_import_command(in->p,
		                  st_import_json_text(json_array_get(results, 0), "command"));
	json_decref(root);
	return status;
}
