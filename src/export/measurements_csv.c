/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/measurements_csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/profile.h"

/* The names of all labels of the profile, each once. */
struct label_names {
	const char **v;
	size_t n, cap;
};

static st_status
collect_label(struct label_names *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], name))
			return ST_OK;
	const char **slot = ST_PUSH(l);
	if (slot)
		*slot = name;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
collect_labels(struct label_names *l, const struct st_measurements *m)
{
	for (size_t i = 0; i < m->series.n; i++)
		for (size_t k = 0; k < m->series.v[i].key.n_labels; k++)
			if (collect_label(l, m->series.v[i].key.labels[k].name))
				return ST_FAILED;
	return ST_OK;
}

static void
csv_text(FILE *out, const char *text)
{
	bool quoted = text && strpbrk(text, ",\"\r\n#;\t ");
	if (!quoted) {
		fputs(text ? text : "", out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		fputs(*text == '"' ? "\"" : "", out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void
csv_number(FILE *out, double v)
{
	if (isfinite(v))
		fprintf(out, "%.17g", v);
}

static void
csv_row(FILE *out, const struct st_measurements *m, const struct label_names *l,
        const struct st_series *s, size_t row)
{
	const struct st_series_key *k = &s->key;
	const char *const texts[] = {k->metric, k->kind,   k->unit,  k->image,
	                             k->file,   k->module, k->class, k->function};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		csv_text(out, texts[i]);
		fputc(',', out);
	}
	if (k->line)
		fprintf(out, "%" PRIu32, k->line);
	fputc(',', out);
	csv_number(out, s->values[row]);
	for (size_t i = 0; i < m->names.n; i++) {
		const double *v = st_series_feature(s, m->names.v[i]);
		fputc(',', out);
		csv_number(out, v ? v[row] : NAN);
	}
	for (size_t i = 0; i < l->n; i++) {
		fputc(',', out);
		csv_text(out, st_series_label(s, l->v[i]));
	}
	fputc('\n', out);
}

static void
csv_header(FILE *out, const struct st_measurements *m, const struct label_names *l)
{
	fputs("metric,kind,unit,image,file,module,class,function,line,value", out);
	for (size_t i = 0; i < m->names.n; i++) {
		fputc(',', out);
		csv_text(out, m->names.v[i]);
	}
	for (size_t i = 0; i < l->n; i++) {
		fputc(',', out);
		csv_text(out, l->v[i]);
	}
	fputc('\n', out);
}

st_status
st_export_measurements_csv(const struct st_profile *p, FILE *out, struct st_error *e)
{
	const struct st_measurements *m = &p->measurements;
	struct label_names l = {0};
	if (!m->series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the profile has no measurements; strobe show --format csv --table "
		               "NAME prints the table of a tool");
	for (size_t i = 0; i < m->series.n; i++)
		if (m->series.v[i].key.n_frames)
			return st_fail(e, ST_EXIT_FAILED,
			               "the measurements belong to stacks of calls, which have no "
			               "place in a table; use --to json");
	if (collect_labels(&l, m)) {
		free(l.v);
		return st_fail(e, ST_EXIT_FAILED, "no memory left to write the table");
	}
	csv_header(out, m, &l);
	for (size_t i = 0; i < m->series.n; i++)
		for (size_t row = 0; row < m->series.v[i].n; row++)
			csv_row(out, m, &l, &m->series.v[i], row);
	free(l.v);
	return ST_OK;
}
