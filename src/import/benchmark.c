/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Google Benchmark writes with --benchmark_format=json. A name is "family/argument/...": the
 * family is the function, arguments that are numbers are features.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "import/json.h"
#include "profile/profile.h"

bool
st_import_is_benchmark(const struct st_import *in)
{
	return st_import_json_has(in, "benchmarks") && st_import_json_has(in, "context");
}

enum { MOST_ARGUMENTS = 16 };

struct argument {
	const char *feature;
	double value;
};

/* A benchmark while it is read. */
struct bench {
	struct st_import *in;
	struct st_error *e;
	const json_t *json;
	struct st_import_key key;
	struct argument arguments[MOST_ARGUMENTS];
	size_t n;
};

/* "1024", or "name:1024". False: a text that is a part of the benchmark's name. */
static bool
take_argument(struct bench *b, const char *text)
{
	const char *colon = strrchr(text, ':'), *end;
	double value;
	if (b->n == MOST_ARGUMENTS || st_parse_real(colon ? colon + 1 : text, &value, &end) || *end)
		return false;
	b->arguments[b->n++] = (struct argument){
	        colon ? st_profile_textf(b->in->p, "%.*s", (int)(colon - text), text) : NULL,
	        value};
	return true;
}

/* Arguments without a name are "size", or, where there are several, "argument1", "argument2". */
static void
name_arguments(struct bench *b)
{
	size_t bare = 0, number = 0;
	for (size_t i = 0; i < b->n; i++)
		bare += !b->arguments[i].feature;
	for (size_t i = 0; i < b->n; i++)
		if (!b->arguments[i].feature)
			b->arguments[i].feature =
			        bare == 1 ? ST_FEATURE_SIZE
			                  : st_profile_textf(b->in->p, "argument%zu", ++number);
}

static st_status
benchmark_read_name(struct bench *b, const char *name)
{
	char *copy = strdup(name), *rest = copy, *family = NULL;
	if (!copy)
		return st_import_no_memory(b->in, b->e);
	for (char *part; (part = strsep(&rest, "/"));) {
		const char *before = family ? family : "";
		if (family && take_argument(b, part))
			continue;
		char *longer = NULL;
		if (asprintf(&longer, "%s%s%s", before, family ? "/" : "", part) < 0)
			longer = NULL;
		free(family);
		family = longer;
	}
	name_arguments(b);
	b->key.key.function = st_profile_text(b->in->p, family ? family : name);
	free(family);
	free(copy);
	return ST_OK;
}

static st_status
add_metric(struct bench *b, const char *metric, const char *kind, const char *unit, double value)
{
	static const struct {
		const char *key, *feature;
	} numbers[] = {{"repetition_index", ST_FEATURE_REPETITION},
	               {"iterations", "iterations"},
	               {"threads", "threads"}};
	b->key.key.metric = metric;
	b->key.key.kind = kind;
	b->key.key.unit = unit;
	struct st_series *s = st_import_key_series(b->in->p, &b->key);
	size_t at = s ? st_series_add(s, value) : SIZE_MAX;
	bool bad = at == SIZE_MAX;
	for (size_t i = 0; !bad && i < sizeof numbers / sizeof *numbers; i++) {
		double n = st_import_json_number(b->json, numbers[i].key);
		if (!isnan(n)) /* Google counts repetitions from 0 */
			bad = st_series_set(b->in->p, s, numbers[i].feature, at, n + (i == 0)) !=
			      ST_OK;
	}
	for (size_t i = 0; !bad && i < b->n; i++)
		bad = st_series_set(b->in->p, s, b->arguments[i].feature, at,
		                    b->arguments[i].value) != ST_OK;
	return bad ? st_import_bad(b->in, 0, b->e,
	                           "it has more than %d features, or no memory is left",
	                           ST_MOST_FEATURES)
	           : ST_OK;
}

/* Numbers that are none of Google's own are counters of the benchmark. */
static bool
is_counter(const char *name, const json_t *value)
{
	static const char *const own[] = {"family_index", "per_family_instance_index",
	                                  "repetitions",  "repetition_index",
	                                  "threads",      "iterations",
	                                  "real_time",    "cpu_time"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(name, own[i]))
			return false;
	return json_is_number(value);
}

static st_status
read_bench(struct bench *b)
{
	const char *name = st_import_json_text(b->json, "run_name"), *key;
	const char *unit = st_import_json_text(b->json, "time_unit");
	const char *label = st_import_json_text(b->json, "label");
	json_t *value;
	if (benchmark_read_name(b, name ? name : st_import_json_text(b->json, "name")))
		return ST_FAILED;
	if (label && st_import_key_label(&b->key, "label", label))
		return st_import_no_memory(b->in, b->e);
	unit = unit ? unit : "ns";
	if (add_metric(b, "real time", ST_KIND_TIME, unit,
	               st_import_json_number(b->json, "real_time")) ||
	    add_metric(b, "cpu time", ST_KIND_TIME, unit,
	               st_import_json_number(b->json, "cpu_time")))
		return ST_FAILED;
	json_object_foreach((json_t *)(uintptr_t)b->json, key, value)
	{
		if (is_counter(key, value) &&
		    add_metric(b, key, ST_KIND_COUNT, "", json_number_value(value)))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Means, medians and the like follow from the runs. */
static bool
is_aggregate(const json_t *bench)
{
	const char *type = st_import_json_text(bench, "run_type");
	return type && !strcmp(type, "aggregate");
}

static bool
can_read(const json_t *bench)
{
	return st_import_json_text(bench, "name") &&
	       !isnan(st_import_json_number(bench, "real_time")) &&
	       !json_is_true(json_object_get(bench, "error_occurred"));
}

static void
benchmark_context(struct st_profile *p, const json_t *context)
{
	const char *host = st_import_json_text(context, "host_name");
	const char *program = st_import_json_text(context, "executable");
	double cores = st_import_json_number(context, "num_cpus");
	if (host)
		p->run.host = st_profile_text(p, host);
	if (program)
		st_import_command(p, program);
	if (cores >= 1 && cores < 1e6)
		p->run.cores = (int64_t)cores;
}

st_status
st_import_benchmark(struct st_import *in, struct st_error *e)
{
	json_t *root = st_import_json_root(in, e);
	const json_t *list = json_object_get(root, "benchmarks");
	size_t read = 0;
	st_status status = root ? ST_OK : ST_FAILED;
	in->skipped_are = "benchmark";
	if (root && !json_is_array(list))
		status = st_import_bad(in, 0, e, "it has no list of benchmarks");
	if (!status)
		benchmark_context(in->p, json_object_get(root, "context"));
	for (size_t i = 0; !status && i < json_array_size(list); i++) {
		struct bench b = {.in = in, .e = e, .json = json_array_get(list, i)};
		if (is_aggregate(b.json))
			continue;
		if (can_read(b.json)) {
			status = read_bench(&b);
			read++;
		} else {
			st_import_skip(in, i + 1);
		}
		st_import_key_free(&b.key);
	}
	if (!status && !read)
		status = st_import_bad(in, 0, e, "it has no benchmark that was run to its end");
	json_decref(root);
	return status;
}
