/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measurements as a profile of Perun, in its form with columns: each series is a type of resources.
 * A feature that is the same in all its values is a field of the type, unless Perun collects it.
 */
#include "export/perun.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "report/json.h"

struct perun_writer {
	const struct st_profile *p;
	FILE *out;
	const char *workload; /* of all series; NULL: they have none, or several */
};

static void
perun_number(FILE *out, double v)
{
	if (!isfinite(v))
		fputs("null", out);
	else if (v == trunc(v) && fabs(v) <= 9007199254740992.0)
		fprintf(out, "%" PRId64, (int64_t)v);
	else
		fprintf(out, "%.17g", v);
}

/* `,"name":`, the comma unless it is the first of its object. */
static void
perun_key(FILE *out, bool *first, const char *name)
{
	fputs(*first ? "" : ",", out);
	*first = false;
	st_json_print(name, out);
	fputc(':', out);
}

static void
perun_text(FILE *out, bool *first, const char *name, const char *text)
{
	if (!text)
		return;
	perun_key(out, first, name);
	st_json_print(text, out);
}

/* ---- the header ---- */

const char *
st_perun_type(const struct st_profile *p)
{
	const struct st_measurements *m = &p->measurements;
	for (size_t i = 1; i < m->series.n; i++)
		if (strcmp(m->series.v[0].key.kind, m->series.v[i].key.kind) != 0)
			return "mixed";
	return m->series.v[0].key.kind;
}

const char *
st_perun_workload(const struct st_profile *p)
{
	const char *all = NULL;
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const char *one = st_series_label(&p->measurements.series.v[i], "workload");
		if (!one || (all && strcmp(all, one) != 0))
			return NULL;
		all = one;
	}
	return all;
}

/* The unit of the first series of this kind. */
static const char *
unit_of_kind(const struct st_profile *p, const char *kind)
{
	const struct st_measurements *m = &p->measurements;
	size_t i = 0;
	while (strcmp(m->series.v[i].key.kind, kind))
		i++;
	return m->series.v[i].key.unit;
}

static void
perun_write_units(struct perun_writer *w)
{
	const struct st_measurements *m = &w->p->measurements;
	bool first = true;
	fputc('{', w->out);
	for (size_t i = 0; i < m->series.n; i++) {
		size_t before = 0;
		while (strcmp(m->series.v[before].key.kind, m->series.v[i].key.kind))
			before++;
		if (before == i)
			perun_text(w->out, &first, m->series.v[i].key.kind,
			           m->series.v[i].key.unit);
	}
	fputc('}', w->out);
}

static void
perun_write_command(struct perun_writer *w, bool *first)
{
	const struct st_profile_run *r = &w->p->run;
	perun_text(w->out, first, "cmd", r->command.n ? r->command.v[0] : "");
	perun_key(w->out, first, "args");
	fputc('"', w->out);
	for (size_t i = 1; i < r->command.n; i++) {
		json_t *word = st_json_text(r->command.v[i]);
		char *quoted = word ? json_dumps(word, JSON_ENCODE_ANY) : NULL;
		if (quoted)
			fprintf(w->out, "%s%.*s", i > 1 ? " " : "", (int)strlen(quoted) - 2,
			        quoted + 1);
		free(quoted);
		json_decref(word);
	}
	fputc('"', w->out);
}

static void
perun_write_header(struct perun_writer *w)
{
	bool first = true;
	fputc('{', w->out);
	perun_text(w->out, &first, "type", st_perun_type(w->p));
	perun_write_command(w, &first);
	perun_text(w->out, &first, "workload", w->workload ? w->workload : "");
	perun_key(w->out, &first, "units");
	perun_write_units(w);
	fprintf(w->out, ",\"exitcode\":%" PRId64 "}", w->p->run.exit);
}

static void
perun_write_machine(struct perun_writer *w)
{
	const struct st_profile_run *r = &w->p->run;
	size_t system = strcspn(r->kernel, " ");
	char name[64];
	bool first = true;
	snprintf(name, sizeof name, "%.*s", (int)system, r->kernel);
	fputc('{', w->out);
	perun_text(w->out, &first, "architecture", r->machine);
	perun_text(w->out, &first, "host", r->host);
	perun_text(w->out, &first, "system", name);
	perun_text(w->out, &first, "release", r->kernel + system + (r->kernel[system] != 0));
	fprintf(w->out, ",\"cpu\":{\"total\":%" PRId64 "}}", r->cores);
}

/* Defaults for keys that no imported file has set. */
static void
perun_write_origin(struct perun_writer *w)
{
	perun_text(w->out, &(bool){true}, "origin", "");
	fputs(",\n\"header\":", w->out);
	perun_write_header(w);
	fputs(",\n\"machine\":", w->out);
	perun_write_machine(w);
	fputs(",\n\"collector_info\":{\"name\":", w->out);
	st_json_print(w->p->run.tool, w->out);
	fputs(",\"params\":{\"options\":", w->out);
	st_json_print(w->p->run.options, w->out);
	fputs("}},\n\"postprocessors\":[]", w->out);
}

/* Models that the profile keeps, with those of the imported file. */
static st_status
perun_write_models(struct perun_writer *w)
{
	if (!w->p->kept.models.n && !st_profile_extra_named(w->p, "models"))
		return ST_OK;
	char *json = st_perun_models_json(w->p);
	if (!json)
		return ST_FAILED;
	fprintf(w->out, ",\n\"models\":%s", json);
	free(json);
	return ST_OK;
}

/* Returns false if there is none to write. */
static bool
perun_write_extras(struct perun_writer *w)
{
	bool first = true;
	for (size_t i = 0; i < w->p->extras.n; i++) {
		if (!strncmp(w->p->extras.v[i].name, "perun.", 6))
			continue; /* from the files of Perun beside the profile */
		if (!strcmp(w->p->extras.v[i].name, "models"))
			continue;
		fputs(first ? "" : "\n", w->out);
		perun_key(w->out, &first, w->p->extras.v[i].name);
		fputs(w->p->extras.v[i].json, w->out);
	}
	return !first;
}

/* ---- the series ---- */

static const char *
perun_column(const char *feature)
{
	return !strcmp(feature, ST_FEATURE_SIZE)   ? "structure-unit-size"
	       : !strcmp(feature, ST_FEATURE_TIME) ? "timestamp"
	                                           : feature;
}

/* Whether it is a field of the type. */
static bool
is_constant(const struct st_series *s, const struct st_series_feature *f)
{
	static const char *const collected[] = {"size",    "order", "call-order",
	                                        "address", "time",  "exclusive"};
	for (size_t i = 0; i < sizeof collected / sizeof *collected; i++)
		if (!strcmp(f->name, collected[i]))
			return false;
	for (size_t i = 1; i < s->n; i++)
		if (f->v[i] != f->v[0])
			return false;
	return s->n && isfinite(f->v[0]);
}

static bool
is_bare(const struct st_series_key *k)
{
	bool parts = k->image || k->file || k->module || k->class || k->line;
	for (size_t i = 0; i < k->n_labels; i++)
		parts |= !strncmp(k->labels[i].name, "uid.", 4);
	return k->function && !parts;
}

static void
perun_write_uid(const struct st_series_key *k, FILE *out)
{
	bool first = true;
	if (is_bare(k)) {
		st_json_print(k->function, out);
		return;
	}
	fputc('{', out);
	perun_text(out, &first, "bin", k->image);
	perun_text(out, &first, "file", k->file);
	perun_text(out, &first, "module", k->module);
	perun_text(out, &first, "class", k->class);
	perun_text(out, &first, "function", k->function);
	if (!k->function) /* what tells series of one program apart */
		perun_text(out, &first, "metric", k->metric);
	for (size_t i = 0; i < k->n_labels; i++)
		if (!strncmp(k->labels[i].name, "uid.", 4))
			perun_text(out, &first, k->labels[i].name + 4, k->labels[i].value);
	if (k->line) {
		perun_key(out, &first, "line");
		fprintf(out, "%" PRIu32, k->line);
	}
	fputc('}', out);
}

static void
perun_write_trace(const struct st_series_key *k, FILE *out)
{
	for (size_t i = 0; i < k->n_frames; i++) {
		const struct st_series_frame *f = &k->frames[i];
		bool first = true;
		fputs(i ? ",{" : "{", out);
		perun_text(out, &first, "function", f->function);
		perun_text(out, &first, "source", f->file);
		if (f->line) {
			perun_key(out, &first, "line");
			fprintf(out, "%" PRIu32, f->line);
		}
		fputc('}', out);
	}
}

static void
perun_write_type(struct perun_writer *w, const struct st_series *s)
{
	const struct st_series_key *k = &s->key;
	bool first = true;
	fputc('{', w->out);
	perun_key(w->out, &first, "uid");
	perun_write_uid(k, w->out);
	perun_text(w->out, &first, "type", k->kind);
	if (strcmp(k->metric, k->kind) != 0)
		perun_text(w->out, &first, "subtype", k->metric);
	if (w->p->extras.n || strcmp(unit_of_kind(w->p, k->kind), k->unit) != 0)
		perun_text(w->out, &first, "unit", k->unit);
	for (size_t i = 0; i < k->n_labels; i++)
		if (strncmp(k->labels[i].name, "uid.", 4) != 0 &&
		    (!w->workload || strcmp(k->labels[i].name, "workload") != 0 || w->p->extras.n))
			perun_text(w->out, &first, k->labels[i].name, k->labels[i].value);
	if (k->n_frames) {
		perun_key(w->out, &first, "trace");
		fputc('[', w->out);
		perun_write_trace(k, w->out);
		fputc(']', w->out);
	}
	for (size_t i = 0; i < s->features.n; i++)
		if (is_constant(s, &s->features.v[i])) {
			perun_key(w->out, &first, perun_column(s->features.v[i].name));
			perun_number(w->out, s->features.v[i].v[0]);
		}
	fputc('}', w->out);
}

static void
perun_write_column(FILE *out, const double *v, size_t n)
{
	fputc('[', out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		perun_number(out, v[i]);
	}
	fputc(']', out);
}

static void
perun_write_resources(struct perun_writer *w, const struct st_series *s)
{
	bool first = true;
	fputc('{', w->out);
	perun_key(w->out, &first, "amount");
	perun_write_column(w->out, s->values, s->n);
	for (size_t i = 0; i < s->features.n; i++)
		if (!is_constant(s, &s->features.v[i])) {
			perun_key(w->out, &first, perun_column(s->features.v[i].name));
			perun_write_column(w->out, s->features.v[i].v, s->n);
		}
	fputc('}', w->out);
}

/* An object with a member for each series, "KIND#NUMBER". */
static void
perun_write_each(struct perun_writer *w, const char *name,
                 void (*write)(struct perun_writer *, const struct st_series *))
{
	const struct st_measurements *m = &w->p->measurements;
	fprintf(w->out, ",\n\"%s\":{", name);
	for (size_t i = 0; i < m->series.n; i++) {
		char type[128];
		snprintf(type, sizeof type, "%.64s#%zu", m->series.v[i].key.kind, i);
		fputs(i ? ",\n" : "\n", w->out);
		st_json_print(type, w->out);
		fputc(':', w->out);
		write(w, &m->series.v[i]);
	}
	fputs("\n}", w->out);
}

st_status
st_export_perun(const struct st_profile *p, FILE *out, struct st_error *e)
{
	struct perun_writer w = {.p = p, .out = out, .workload = st_perun_workload(p)};
	if (!p->measurements.series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the profile has no measurements, which is all that a profile of "
		               "Perun can hold");
	fputs("{\n", out);
	if (!perun_write_extras(&w))
		perun_write_origin(&w);
	if (perun_write_models(&w))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	perun_write_each(&w, "resource_type_map", perun_write_type);
	perun_write_each(&w, "resources", perun_write_resources);
	fputs("\n}\n", out);
	return ST_OK;
}
