/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/perun_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "profile/profile.h"

const char *
st_perun_feature(const char *column)
{
	return !strcmp(column, "structure-unit-size") ? ST_FEATURE_SIZE
	       : !strcmp(column, "timestamp")         ? ST_FEATURE_TIME
	                                              : column;
}

st_status
st_perun_no_feature(struct st_perun *x, const char *feature)
{
	if (x->in->p->measurements.names.n < ST_MOST_FEATURES)
		return st_import_no_memory(x->in, x->e);
	return st_import_bad(x->in, 0, x->e, "it has more than %d features; '%s' is one too many",
	                     ST_MOST_FEATURES, feature);
}

/* ---- the profile ---- */

/* A part of the file that Strobe has no place for is kept as it is. */
static void
keep_extra(struct st_perun *x, const char *name, const json_t *value)
{
	char *json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (json)
		st_profile_add_extra(x->in->p, name, json);
	else
		x->in->p->out_of_memory = true;
	free(json);
}

static const char *
said(struct st_perun *x, const json_t *object, const char *key)
{
	const char *text = st_import_json_text(object, key);
	return text ? st_profile_text(x->in->p, text) : "";
}

static void
read_machine(struct st_perun *x, const json_t *machine)
{
	struct st_profile_run *r = &x->in->p->run;
	r->host = said(x, machine, "host");
	r->machine = said(x, machine, "architecture");
	r->kernel = st_profile_textf(x->in->p, "%s %s", said(x, machine, "system"),
	                             said(x, machine, "release"));
	const json_t *cpu = json_object_get(machine, "cpu");
	double total = st_import_json_number(cpu, "total");
	if (total >= 1 && total < 1e6)
		r->cores = (int64_t)total;
}

static void
read_exit(struct st_perun *x, const json_t *code)
{
	if (json_is_array(code))
		code = json_array_get(code, 0);
	double exit = json_number_value(code);
	if (exit >= 0 && exit <= 255)
		x->in->p->run.exit = (int64_t)exit;
}

void
st_perun_header(struct st_perun *x)
{
	static const char *const taken[] = {"resources", "resource_type_map", "global",
	                                    "snapshots"};
	const json_t *header = json_object_get(x->root, "header");
	const char *name, *tool;
	json_t *value;
	x->units = json_object_get(header, "units");
	x->type = st_import_json_text(header, "type");
	x->workload = st_import_json_text(header, "workload");
	static const char *const words[] = {"cmd", "args", "params"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((tool = st_import_json_text(header, words[i])))
			st_import_command(x->in->p, tool);
	read_exit(x, json_object_get(header, "exitcode"));
	read_machine(x, json_object_get(x->root, "machine"));
	tool = st_import_json_text(json_object_get(x->root, "collector_info"), "name");
	if (tool && *tool)
		x->in->p->run.tool = st_profile_text(x->in->p, tool);
	json_object_foreach(x->root, name, value)
	{
		bool is_taken = false;
		for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
			is_taken |= !strcmp(name, taken[i]);
		if (!is_taken)
			keep_extra(x, name, value);
	}
}

/* ---- a resource ---- */

void
st_perun_key_begin(struct st_perun *x)
{
	x->key.key = (struct st_series_key){0};
	x->key.frames.n = x->key.labels.n = x->numbers.n = 0;
	x->subtype = NULL;
	x->has_uid = false;
	x->amount = NAN;
}

st_status
st_perun_key_number(struct st_perun *x, const char *feature, double value)
{
	struct st_perun_number *n = ST_PUSH(&x->numbers);
	if (!n)
		return st_import_no_memory(x->in, x->e);
	*n = (struct st_perun_number){feature, value};
	return ST_OK;
}

st_status
st_perun_key_time(struct st_perun *x, const json_t *time)
{
	double value;
	const char *end;
	if (json_is_number(time))
		return st_perun_key_number(x, ST_FEATURE_TIME, json_number_value(time));
	if (json_is_string(time) && !st_parse_real(json_string_value(time), &value, &end))
		return st_perun_key_number(x, ST_FEATURE_TIME, value);
	return ST_OK;
}

static st_status
add_label(struct st_perun *x, const char *name, const json_t *value)
{
	const char *text = st_import_json_words(x->in->p, value);
	if (st_import_key_label(&x->key, name, text))
		return st_import_no_memory(x->in, x->e);
	return ST_OK;
}

static st_status
take_uid_part(struct st_perun *x, const char *name, const json_t *value)
{
	struct st_series_key *k = &x->key.key;
	const struct {
		const char *name, **part;
	} parts[] = {{"bin", &k->image},     {"file", &k->file},   {"source", &k->file},
	             {"module", &k->module}, {"class", &k->class}, {"function", &k->function},
	             {"metric", &k->metric}};
	if (json_is_null(value))
		return ST_OK;
	if (!strcmp(name, "line")) {
		uint64_t line = 0;
		if (json_is_string(value) && !st_parse_whole(json_string_value(value), &line) &&
		    line <= UINT32_MAX)
			k->line = (uint32_t)line;
		else
			k->line = st_import_json_line(value);
		return ST_OK;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strcmp(name, parts[i].name)) {
			*parts[i].part = st_import_json_words(x->in->p, value);
			return ST_OK;
		}
	return add_label(x, st_profile_textf(x->in->p, "uid.%s", name), value);
}

static st_status
take_uid(struct st_perun *x, const json_t *uid)
{
	const char *name;
	json_t *value;
	x->has_uid = json_is_string(uid) || json_object_size(uid) > 0;
	if (json_is_string(uid))
		x->key.key.function = json_string_value(uid);
	json_object_foreach((json_t *)(uintptr_t)uid, name, value)
	{
		if (take_uid_part(x, name, value))
			return ST_FAILED;
	}
	return ST_OK;
}

static const char *
either(const json_t *object, const char *first, const char *second)
{
	const char *text = st_import_json_text(object, first);
	return text ? text : st_import_json_text(object, second);
}

static st_status
take_trace(struct st_perun *x, const json_t *trace)
{
	size_t i;
	json_t *frame;
	json_array_foreach(trace, i, frame)
	{
		const char *function = json_is_string(frame) ? json_string_value(frame)
		                                             : either(frame, "function", "func");
		if (st_import_key_frame(&x->key, function, either(frame, "source", "file"),
		                        st_import_json_line(json_object_get(frame, "line"))))
			return st_import_no_memory(x->in, x->e);
	}
	return ST_OK;
}

st_status
st_perun_key_field(struct st_perun *x, const char *name, const json_t *value)
{
	if (!strcmp(name, "amount")) {
		x->amount = json_is_number(value) ? json_number_value(value) : NAN;
		return ST_OK;
	}
	if (!strcmp(name, "uid"))
		return take_uid(x, value);
	if (!strcmp(name, "trace") && json_is_array(value))
		return take_trace(x, value);
	if (json_is_null(value))
		return ST_OK;
	if (json_is_number(value))
		return st_perun_key_number(x, st_perun_feature(name), json_number_value(value));
	if (!strcmp(name, "type") && json_is_string(value))
		x->key.key.kind = json_string_value(value);
	else if (!strcmp(name, "subtype") && json_is_string(value))
		x->subtype = json_string_value(value);
	else if (!strcmp(name, "unit") && json_is_string(value))
		x->key.key.unit = json_string_value(value);
	else
		return add_label(x, name, value);
	return ST_OK;
}

/* {"mixed(time delta)": "us"} names the unit of the type mixed. */
static const char *
perun_unit_of(const struct st_perun *x, const char *kind)
{
	const char *name, *unit = st_import_json_text(x->units, kind);
	json_t *value;
	size_t n = strlen(kind);
	if (unit)
		return unit;
	json_object_foreach((json_t *)(uintptr_t)x->units, name, value)
	{
		if (json_is_string(value) &&
		    (!strncmp(name, kind, n) || json_object_size(x->units) == 1))
			return json_string_value(value);
	}
	return "";
}

static int
perun_label_order(const void *a, const void *b)
{
	return strcmp(((const struct st_series_label *)a)->name,
	              ((const struct st_series_label *)b)->name);
}

/* Labels are put in the order of their names: files have them in any. */
st_status
st_perun_key_end(struct st_perun *x)
{
	struct st_series_key *k = &x->key.key;
	bool has_workload = false;
	if (!x->has_uid)
		return ST_FAILED;
	if (!k->kind)
		k->kind = x->type ? x->type : "mixed";
	if (!k->unit)
		k->unit = perun_unit_of(x, k->kind);
	if (!k->metric)
		k->metric = x->subtype ? x->subtype : k->kind;
	for (size_t i = 0; i < x->key.labels.n; i++)
		has_workload |= !strcmp(x->key.labels.v[i].name, "workload");
	if (x->workload && *x->workload && !has_workload &&
	    st_import_key_label(&x->key, "workload", x->workload))
		return ST_FAILED;
	if (x->key.labels.n)
		qsort(x->key.labels.v, x->key.labels.n, sizeof *x->key.labels.v, perun_label_order);
	return ST_OK;
}

void
st_perun_key_free(struct st_perun *x)
{
	st_import_key_free(&x->key);
	free(x->numbers.v);
}
