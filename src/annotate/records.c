/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps records in memory: a column for each metric, feature and branch. */
#include "annotate/records.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const ann_kinds[] = {
#define K(id, name) name,
        ST_ANN_KINDS(K)
#undef K
};

static const char *const ann_origins[] = {
#define O(id, name) name,
        ST_ANN_ORIGINS(O)
#undef O
};

const char *
st_ann_kind_name(enum st_ann_kind kind)
{
	return ann_kinds[kind];
}

const char *
st_ann_origin_name(enum st_ann_origin origin)
{
	return ann_origins[origin];
}

static bool
ann_same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

struct st_ann_records *
st_ann_data_function(struct st_ann_data *d, const char *name, const char *image,
                     const char *address)
{
	for (size_t i = 0; i < d->functions.n; i++) {
		struct st_ann_records *r = &d->functions.v[i];
		if (!strcmp(r->name, name) && ann_same_text(r->image, image) &&
		    ann_same_text(r->address, address)) {
			r->runs++;
			return r;
		}
	}
	struct st_ann_records *r = ST_PUSH(&d->functions);
	if (!r)
		return NULL;
	r->runs = 1;
	r->name = strdup(name);
	r->image = image && *image ? strdup(image) : NULL;
	r->address = address && *address ? strdup(address) : NULL;
	if (!r->name || (image && *image && !r->image) || (address && *address && !r->address))
		return NULL;
	return r;
}

/* Returns a column that is absent in all records so far. */
static double *
ann_absent_column(const struct st_ann_records *r)
{
	double *v = malloc((r->cap ? r->cap : 1) * sizeof *v);
	for (size_t i = 0; v && i < r->n; i++)
		v[i] = NAN;
	return v;
}

size_t
st_ann_metric_index(struct st_ann_records *r, const char *name, const char *unit)
{
	for (size_t i = 0; i < r->metrics.n; i++)
		if (!strcmp(r->metrics.v[i].name, name))
			return i;
	struct st_ann_metric *m = ST_PUSH(&r->metrics);
	if (!m)
		return r->metrics.n;
	*m = (struct st_ann_metric){.name = strdup(name),
	                            .unit = strdup(unit),
	                            .overhead = NAN,
	                            .v = ann_absent_column(r)};
	return m->name && m->unit && m->v ? r->metrics.n - 1 : r->metrics.n;
}

size_t
st_ann_feature_index(struct st_ann_records *r, const struct st_ann_feature *like)
{
	for (size_t i = 0; i < r->features.n; i++)
		if (!strcmp(r->features.v[i].name, like->name))
			return i;
	struct st_ann_feature *f = ST_PUSH(&r->features);
	if (!f)
		return r->features.n;
	*f = (struct st_ann_feature){.name = strdup(like->name),
	                             .path = strdup(like->path ? like->path : like->name),
	                             .kind = like->kind,
	                             .origin = like->origin,
	                             .v = ann_absent_column(r)};
	return f->name && f->path && f->v ? r->features.n - 1 : r->features.n;
}

size_t
st_ann_branch_index(struct st_ann_records *r, const char *name)
{
	for (size_t i = 0; i < r->branches.n; i++)
		if (!strcmp(r->branches.v[i].name, name))
			return i;
	struct st_ann_branch *b = ST_PUSH(&r->branches);
	if (!b)
		return r->branches.n;
	*b = (struct st_ann_branch){.name = strdup(name), .v = ann_absent_column(r)};
	return b->name && b->v ? r->branches.n - 1 : r->branches.n;
}

st_status
st_ann_branch_way(struct st_ann_branch *b, double outcome, const char *where)
{
	for (size_t i = 0; i < b->ways.n; i++)
		if (b->ways.v[i].outcome == outcome)
			return ST_OK;
	struct st_ann_way *way = ST_PUSH(&b->ways);
	if (!way)
		return ST_FAILED;
	*way = (struct st_ann_way){outcome, strdup(where)};
	return way->where ? ST_OK : ST_FAILED;
}

st_status
st_ann_label_index(struct st_ann_feature *f, const char *label, double *index)
{
	for (size_t i = 0; i < f->labels.n; i++)
		if (!strcmp(f->labels.v[i], label)) {
			*index = (double)i;
			return ST_OK;
		}
	char *copy = strdup(label), **to = copy ? ST_PUSH(&f->labels) : NULL;
	if (!to) {
		free(copy);
		return ST_FAILED;
	}
	*to = copy;
	*index = (double)(f->labels.n - 1);
	return ST_OK;
}

/* Makes room for `cap` records in a column, and adds an absent value. */
static st_status
ann_extend_column(const struct st_ann_records *r, double **v, size_t cap)
{
	double *grown = cap > r->cap ? reallocarray(*v, cap, sizeof *grown) : *v;
	if (!grown)
		return ST_FAILED;
	*v = grown;
	grown[r->n] = NAN;
	return ST_OK;
}

static st_status
ann_extend_runs(struct st_ann_records *r, size_t cap, uint32_t run)
{
	uint32_t *grown = cap > r->cap ? reallocarray(r->run, cap, sizeof *grown) : r->run;
	if (!grown)
		return ST_FAILED;
	r->run = grown;
	grown[r->n] = run;
	return ST_OK;
}

st_status
st_ann_record_new(struct st_ann_records *r, uint32_t run)
{
	const size_t cap = r->n < r->cap ? r->cap : r->cap ? 2 * r->cap : 64;
	st_status status = ann_extend_runs(r, cap, run);
	for (size_t i = 0; i < r->metrics.n && !status; i++)
		status = ann_extend_column(r, &r->metrics.v[i].v, cap);
	for (size_t i = 0; i < r->features.n && !status; i++)
		status = ann_extend_column(r, &r->features.v[i].v, cap);
	for (size_t i = 0; i < r->branches.n && !status; i++)
		status = ann_extend_column(r, &r->branches.v[i].v, cap);
	if (status)
		return ST_FAILED;
	r->cap = cap;
	r->n++;
	return ST_OK;
}

st_status
st_ann_record_pace(struct st_ann_records *r, uint32_t run, double ns)
{
	while (r->paces.n < run) {
		double *pace = ST_PUSH(&r->paces);
		if (!pace)
			return ST_FAILED;
		*pace = NAN;
	}
	r->paces.v[run - 1] = ns;
	return ST_OK;
}

static bool
ann_find_in_record(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct st_ann_record *at = arg;
	const struct st_ann_records *r = at->records;
	for (size_t i = 0; i < r->features.n; i++) {
		const struct st_ann_feature *f = &r->features.v[i];
		if (strcmp(f->name, name) && strcmp(f->path, name))
			continue;
		value->number = f->v[at->row];
		if (f->kind == ST_ANN_CATEGORY && value->number >= 0)
			value->label = f->labels.v[(size_t)value->number];
		return true;
	}
	for (size_t i = 0; i < r->metrics.n; i++)
		if (!strcmp(r->metrics.v[i].name, name)) {
			value->number = r->metrics.v[i].v[at->row];
			return true;
		}
	return false;
}

struct st_ann_names
st_ann_record_names(const struct st_ann_record *r)
{
	return (struct st_ann_names){ann_find_in_record, r};
}

void
st_ann_record_move(struct st_ann_records *r, size_t from, size_t to)
{
	for (size_t i = 0; i < r->metrics.n; i++)
		r->metrics.v[i].v[to] = r->metrics.v[i].v[from];
	for (size_t i = 0; i < r->features.n; i++)
		r->features.v[i].v[to] = r->features.v[i].v[from];
	for (size_t i = 0; i < r->branches.n; i++)
		r->branches.v[i].v[to] = r->branches.v[i].v[from];
	r->run[to] = r->run[from];
}

/* Finds the first name of a condition that no function has. */
struct ann_name_check {
	const struct st_ann_data *data;
	const char *missing;
};

static void
ann_check_name(void *arg, const char *name)
{
	struct ann_name_check *c = arg;
	for (size_t i = 0; i < c->data->functions.n; i++) {
		const struct st_ann_record at = {&c->data->functions.v[i], 0};
		struct st_ann_value value = {0};
		if (at.records->n && ann_find_in_record(&at, name, &value))
			return;
	}
	c->missing = c->missing ? c->missing : name;
}

st_status
st_ann_data_filter(struct st_ann_data *d, const struct st_ann_expr *condition,
                   struct st_ann_filter *out, struct st_error *e)
{
	struct ann_name_check check = {d, NULL};
	*out = (struct st_ann_filter){0};
	st_ann_each_name(condition, ann_check_name, &check);
	if (check.missing)
		return st_fail(e, ST_EXIT_USAGE,
		               "the records have no feature and no metric '%.100s' for --where",
		               check.missing);
	for (size_t i = 0; i < d->functions.n; i++) {
		struct st_ann_records *r = &d->functions.v[i];
		struct st_ann_record at = {r, 0};
		const struct st_ann_names names = st_ann_record_names(&at);
		size_t kept = 0;
		for (; at.row < r->n; at.row++)
			if (st_ann_holds(condition, &names))
				st_ann_record_move(r, at.row, kept++);
		out->before += r->n;
		out->kept += kept;
		r->n = r->checked = kept;
	}
	return ST_OK;
}

static void
ann_feature_free(struct st_ann_feature *f)
{
	for (size_t k = 0; k < f->labels.n; k++)
		free(f->labels.v[k]);
	free(f->labels.v);
	free(f->name);
	free(f->path);
	free(f->v);
}

static bool
ann_fits_feature(const char *pattern, const struct st_ann_feature *f)
{
	return !fnmatch(pattern, f->name, 0) || (f->path && !fnmatch(pattern, f->path, 0));
}

size_t
st_ann_data_leave_out(struct st_ann_data *d, const char *pattern)
{
	size_t left_out = 0;
	for (size_t i = 0; i < d->functions.n; i++) {
		struct st_ann_records *r = &d->functions.v[i];
		size_t kept = 0;
		for (size_t k = 0; k < r->features.n; k++)
			if (!ann_fits_feature(pattern, &r->features.v[k]))
				r->features.v[kept++] = r->features.v[k];
			else
				ann_feature_free(&r->features.v[k]);
		left_out += r->features.n - kept;
		r->features.n = kept;
	}
	return left_out;
}

static void
ann_records_free(struct st_ann_records *r)
{
	for (size_t i = 0; i < r->metrics.n; i++) {
		free(r->metrics.v[i].name);
		free(r->metrics.v[i].unit);
		free(r->metrics.v[i].callee);
		free(r->metrics.v[i].of);
		free(r->metrics.v[i].v);
	}
	for (size_t i = 0; i < r->features.n; i++)
		ann_feature_free(&r->features.v[i]);
	for (size_t i = 0; i < r->branches.n; i++) {
		for (size_t k = 0; k < r->branches.v[i].ways.n; k++)
			free(r->branches.v[i].ways.v[k].where);
		free(r->branches.v[i].ways.v);
		free(r->branches.v[i].name);
		free(r->branches.v[i].v);
	}
	free(r->metrics.v);
	free(r->features.v);
	free(r->branches.v);
	free(r->run);
	free(r->paces.v);
	free(r->name);
	free(r->image);
	free(r->address);
}

void
st_ann_data_free(struct st_ann_data *d)
{
	for (size_t i = 0; i < d->functions.n; i++)
		ann_records_free(&d->functions.v[i]);
	free(d->functions.v);
	free(d->notes);
	*d = (struct st_ann_data){0};
}
