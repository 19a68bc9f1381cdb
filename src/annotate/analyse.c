/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/analyse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/describe.h"
#include "annotate/processes.h"
#include "annotate/remark.h"
#include "annotate/undisturbed.h"
#include "base/number.h"
#include "base/text.h"

static st_status
ann_analysis_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the analysis of the records");
}

/* The order: parameters, members, globals, the system's state; within each, short paths first. */
static bool
ann_is_preferred(const struct st_ann_records *r, uint16_t a, uint16_t b)
{
	const struct st_ann_feature *p = &r->features.v[a], *q = &r->features.v[b];
	if (p->origin != q->origin)
		return p->origin < q->origin;
	const size_t m = strlen(p->path), n = strlen(q->path);
	return m != n ? m < n : a < b;
}

static uint16_t *
ann_preferred_order(const struct st_ann_records *r)
{
	uint16_t *order = calloc(r->features.n + 1, sizeof *order);
	for (size_t i = 0; order && i < r->features.n; i++) {
		size_t at = i;
		for (; at > 0 && ann_is_preferred(r, (uint16_t)i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = (uint16_t)i;
	}
	return order;
}

static bool *
ann_find_huge(const struct st_ann_records *r)
{
	bool *huge = calloc(r->features.n + 1, sizeof *huge);
	for (size_t i = 0; huge && i < r->features.n; i++)
		huge[i] = st_ann_is_huge(&r->features.v[i], r->n);
	return huge;
}

/* Returns the indices of the records in which the metric was measured, without those of processes
 * that are left out. slow: of each process; NULL: the records have none. */
static uint32_t *
ann_measured_rows(const struct st_ann_records *r, const double *y, const bool *slow,
                  size_t *measured)
{
	uint32_t *rows = malloc((r->n ? r->n : 1) * sizeof *rows);
	*measured = 0;
	for (size_t i = 0; rows && i < r->n; i++)
		if (!isnan(y[i]) && !(slow && r->run && slow[r->run[i]]))
			rows[(*measured)++] = (uint32_t)i;
	return rows;
}

static void
ann_feature_range(const struct st_ann_feature *f, struct st_ann_rows rows,
                  struct st_ann_declaration *d)
{
	if (f->kind != ST_ANN_NUMERIC)
		return;
	for (size_t i = 0; i < rows.n; i++) {
		const double x = f->v[rows.v[i]];
		if (isnan(x))
			continue;
		d->low = isnan(d->low) ? x : fmin(d->low, x);
		d->high = isnan(d->high) ? x : fmax(d->high, x);
	}
}

/* Returns the names of the features that the records cannot distinguish from this one. */
static char *
ann_also(const struct st_ann_problem *p, const struct st_ann_usable *u, uint16_t feature)
{
	struct st_text text;
	bool any = false;
	if (!st_text_begin(&text))
		return NULL;
	for (uint16_t i = 0; i < p->records->features.n; i++)
		if (i != feature && u->representative[i] == feature) {
			fprintf(text.out, any ? ", %s" : "%s", p->records->features.v[i].name);
			any = true;
		}
	return st_text_end(&text);
}

/* Copies a path without the characters that end a note or a declaration. */
static char *
ann_path_text(const char *path)
{
	char *copy = strdup(path);
	for (char *at = copy; at && *at; at++)
		if (strchr(";\r\n", *at))
			*at = ' ';
	return copy;
}

/* A source that the language would read as empty or as a comment is replaced by the name. */
static char *
ann_source_text(const struct st_ann_feature *f)
{
	char *text = ann_path_text(f->path);
	const char *const at = text ? text + strspn(text, " \t") : "";
	if (text && (!*at || !strncmp(at, "//", 2) || !strncmp(at, "/*", 2))) {
		free(text);
		text = strdup(f->name);
	}
	return text;
}

static st_status
ann_declare(const struct st_ann_problem *p, struct st_ann_rows rows, const struct st_ann_usable *u,
            uint16_t feature, struct st_ann_annotation *out)
{
	const struct st_ann_feature *f = &p->records->features.v[feature];
	struct st_ann_declaration *d = ST_PUSH(&out->declarations);
	if (!d)
		return ST_FAILED;
	*d = (struct st_ann_declaration){.type = strdup(st_ann_kind_name(f->kind)),
	                                 .name = strdup(f->name),
	                                 .path = ann_source_text(f),
	                                 .low = NAN,
	                                 .high = NAN,
	                                 .also = ann_also(p, u, feature)};
	ann_feature_range(f, rows, d);
	if (d->also && !*d->also) {
		free(d->also);
		d->also = NULL;
		return d->type && d->name && d->path ? ST_OK : ST_FAILED;
	}
	return d->type && d->name && d->path && d->also ? ST_OK : ST_FAILED;
}

/* The annotation lists as parameters the variables at the beginning of the paths. */
static st_status
ann_add_parameter(struct st_ann_annotation *out, const struct st_ann_feature *f)
{
	const char *at = f->path;
	size_t n;
	for (;; at += n) {
		at += strspn(at, "*&( ");
		for (n = 0; isalnum((unsigned char)at[n]) || at[n] == '_';)
			n++;
		if (!n || at[n] != '(') /* otherwise it is a call such as strlen(s) */
			break;
	}
	if (f->origin > ST_ANN_MEMBER || !n || isdigit((unsigned char)*at))
		return ST_OK;
	for (size_t i = 0; i < out->parameters.n; i++)
		if (!strncmp(out->parameters.v[i], at, n) && !out->parameters.v[i][n])
			return ST_OK;
	char *name = strndup(at, n), **to = name ? ST_PUSH(&out->parameters) : NULL;
	if (!to) {
		free(name);
		return ST_FAILED;
	}
	*to = name;
	return ST_OK;
}

static st_status
ann_declare_used(const struct st_ann_problem *p, struct st_ann_rows rows, const bool *used,
                 struct st_ann_annotation *out)
{
	struct st_ann_usable u;
	st_status status = st_ann_find_usable(p, rows, &u);
	for (uint16_t i = 0; i < p->records->features.n && !status; i++)
		if (used[i])
			status = ann_declare(p, rows, &u, i, out) ||
			                         ann_add_parameter(out, &p->records->features.v[i])
			                 ? ST_FAILED
			                 : ST_OK;
	st_ann_usable_free(&u);
	return status;
}

/* Sets function, metric, unit and image. Characters that the language does not allow in the name
 * of a metric are replaced. */
static st_status
ann_name_annotation(const struct st_ann_records *r, const struct st_ann_metric *m,
                    struct st_ann_annotation *out)
{
	out->function = strdup(r->name);
	out->metric = strdup(m->name);
	out->unit = *m->unit ? ann_path_text(m->unit) : NULL;
	out->image = r->image ? ann_path_text(r->image) : NULL;
	for (char *at = out->function; at && *at; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	for (char *at = out->metric; at && *at; at++)
		if (strchr(" \t\r\n(){}\"\\;,/.", *at))
			*at = '_';
	return out->function && out->metric && (out->unit || !*m->unit) && (out->image || !r->image)
	               ? ST_OK
	               : ST_FAILED;
}

static void
ann_take_overhead(const struct st_ann_metric *m, struct st_ann_rows rows,
                  struct st_ann_annotation *out)
{
	double mean = 0;
	for (size_t i = 0; i < rows.n; i++)
		mean += m->v[rows.v[i]] / (double)rows.n;
	out->overhead = mean > 0 ? m->overhead / mean : NAN;
}

st_status
st_ann_analyse(const struct st_ann_records *r, size_t metric, const struct st_ann_options *options,
               struct st_ann_annotation *out, struct st_error *e)
{
	const struct st_ann_metric *m = &r->metrics.v[metric];
	struct st_ann_rows rows = {0};
	struct st_ann_leaves leaves = {0};
	*out = (struct st_ann_annotation){.overhead = NAN, .between = NAN};
	if (r->features.n >= ST_ANN_NO_FEATURE)
		return st_fail(e, ST_EXIT_FAILED,
		               "%.200s has %s features: at most %d can be analysed", r->name,
		               ST_NUMBER(r->features.n), ST_ANN_NO_FEATURE - 1);
	const bool times = st_ann_only_grows(m->unit);
	bool *slow = calloc(r->runs + 1, sizeof *slow);
	const size_t slower = slow && times ? st_ann_mark_slow_processes(r, slow) : 0;
	uint32_t *v = ann_measured_rows(r, m->v, slow, &rows.n);
	uint16_t *order = ann_preferred_order(r);
	bool *used = calloc(r->features.n + 1, sizeof *used), *huge = ann_find_huge(r);
	const struct st_ann_problem p = {
	        .records = r, .y = m->v, .options = *options, .order = order, .huge = huge};
	rows.v = v;
	st_status status = v && slow && order && used && huge && !ann_name_annotation(r, m, out)
	                           ? ST_OK
	                           : ann_analysis_memory(e);
	if (!status && rows.n < ST_ANN_RECORDS_LEAST)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%.200s has %s with %s, and a model needs %d: record more calls",
		                 r->name, ST_COUNT(rows.n, "record", "records"), m->name,
		                 ST_ANN_RECORDS_LEAST);
	if (!status) {
		out->records = rows.n;
		ann_take_overhead(m, rows, out);
		out->pace = times ? st_ann_pace(r, slow) : 0;
		status = times ? st_ann_divide_times(&p, rows, &leaves)
		               : st_ann_divide(&p, rows, &leaves);
		for (size_t i = 0; i < leaves.list.n && !status; i++)
			status = st_ann_describe_leaf(&p, &leaves.list.v[i], out, used);
		if (status || ann_declare_used(&p, rows, used, out) ||
		    st_ann_find_processes(out, r, metric, rows) ||
		    st_ann_remark(&p, rows, &leaves, times, slower, &out->note))
			status = ann_analysis_memory(e);
	}
	st_ann_leaves_free(&leaves);
	free(slow);
	free(used);
	free(huge);
	free(order);
	free(v);
	return status;
}
