/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads records in Strobe's format (docs/annotations-records.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/records_fields.h"
#include "base/parse.h"
#include "base/text.h"

/* Maps the columns of a function in the file to those of the pooled records. */
struct ann_bound {
	uint64_t id;
	size_t function; /* in the data */
	uint32_t run;    /* the process */
	ST_VEC(size_t) metrics, features, branches;
	bool has_records;
	uint64_t announced, records; /* the number that #calls gives, and those of the file */
};

struct ann_reading {
	struct st_ann_data *data;
	struct st_ann_lines *l;
	ST_VEC(struct ann_bound) bound;
	size_t records;
	struct st_text notes;
};

static st_status
ann_reading_memory(const struct ann_reading *r)
{
	return st_fail(r->l->e, ST_EXIT_FAILED, "no memory left to read %s", r->l->name);
}

static const char *
ann_field(const struct ann_reading *r, size_t i)
{
	return i < r->l->n ? r->l->v[i].text : "";
}

/* A file that was cut has fewer records than its #calls say. */
static void
ann_unbind(struct ann_reading *r)
{
	for (size_t i = 0; i < r->bound.n; i++) {
		const struct ann_bound *bound = &r->bound.v[i];
		if (bound->announced > bound->records)
			r->data->functions.v[bound->function].missing +=
			        bound->announced - bound->records;
		free(r->bound.v[i].metrics.v);
		free(r->bound.v[i].features.v);
		free(r->bound.v[i].branches.v);
	}
	r->bound.n = 0;
}

/* Returns NULL if no line of the file has declared the function so far. */
static struct ann_bound *
ann_find_bound(struct ann_reading *r, const char *id)
{
	uint64_t number;
	for (size_t i = 0; !st_parse_whole(id, &number) && i < r->bound.n; i++)
		if (r->bound.v[i].id == number)
			return &r->bound.v[i];
	return NULL;
}

/* Finds the function that a line of the header or a record names. */
static st_status
ann_bound_of(struct ann_reading *r, size_t field, struct ann_bound **bound)
{
	*bound = ann_find_bound(r, ann_field(r, field));
	return *bound ? ST_OK
	              : st_ann_wrong_field(r->l, field,
	                                   "no line '#function,%.20s,NAME' precedes this line",
	                                   ann_field(r, field));
}

static st_status
ann_read_version(struct ann_reading *r)
{
	if (strcmp(ann_field(r, 1), "1"))
		return st_ann_wrong_field(r->l, 1,
		                          "this version of strobe reads version 1 of the format, "
		                          "not '%.20s'",
		                          ann_field(r, 1));
	ann_unbind(r);
	return ST_OK;
}

static st_status
ann_read_function(struct ann_reading *r)
{
	uint64_t id;
	if (st_parse_whole(ann_field(r, 1), &id) || !id)
		return st_ann_wrong_field(r->l, 1,
		                          "the number of a function is expected, not '%.20s'",
		                          ann_field(r, 1));
	if (ann_find_bound(r, ann_field(r, 1)))
		return st_ann_wrong_field(r->l, 1, "another function has the number %.20s already",
		                          ann_field(r, 1));
	if (!*ann_field(r, 2))
		return st_ann_wrong_field(r->l, 2, "the function has no name");
	struct st_ann_records *f =
	        st_ann_data_function(r->data, ann_field(r, 2), ann_field(r, 3), ann_field(r, 5));
	struct ann_bound *bound = f ? ST_PUSH(&r->bound) : NULL;
	if (!bound)
		return ann_reading_memory(r);
	*bound = (struct ann_bound){
	        .id = id, .function = (size_t)(f - r->data->functions.v), .run = f->runs};
	return ST_OK;
}

static struct st_ann_records *
ann_bound_records(const struct ann_reading *r, const struct ann_bound *bound)
{
	return &r->data->functions.v[bound->function];
}

/* Checks the beginning of a line that declares a column: a known function, and a new name. */
static st_status
ann_column_head(struct ann_reading *r, struct ann_bound **bound, bool identifier)
{
	const char *const name = ann_field(r, 2);
	if (ann_bound_of(r, 1, bound))
		return ST_FAILED;
	if ((*bound)->has_records)
		return st_ann_wrong_field(r->l, 0,
		                          "this line follows the first record of its function");
	if (!*name || (identifier && !st_ann_is_identifier(name)))
		return st_ann_wrong_field(
		        r->l, 2, "a name of letters, digits and _ is expected, not '%.60s'", name);
	const struct st_ann_records *f = ann_bound_records(r, *bound);
	for (size_t i = 0; i < (*bound)->metrics.n; i++)
		if (!strcmp(f->metrics.v[(*bound)->metrics.v[i]].name, name))
			return st_ann_wrong_field(r->l, 2, "the name '%.60s' occurs twice", name);
	for (size_t i = 0; i < (*bound)->features.n; i++)
		if (!strcmp(f->features.v[(*bound)->features.v[i]].name, name))
			return st_ann_wrong_field(r->l, 2, "the name '%.60s' occurs twice", name);
	return ST_OK;
}

/* Reads the fields of a cost of callees: what it is, and the callee. */
static st_status
ann_read_callee(struct ann_reading *r, struct st_ann_metric *m)
{
	if (r->l->n < 5)
		return ST_OK;
	if (!*ann_field(r, 4))
		return st_ann_wrong_field(r->l, 4, "the name of a metric is expected, or calls");
	if (!m->of) {
		m->of = strdup(ann_field(r, 4));
		m->callee = strdup(ann_field(r, 5));
		return m->of && m->callee ? ST_OK : ann_reading_memory(r);
	}
	if (strcmp(m->of, ann_field(r, 4)) || strcmp(m->callee, ann_field(r, 5)))
		return st_ann_wrong_field(
		        r->l, 5,
		        "the metric '%.60s' is of the callee '%.60s' here, and of '%.60s' in "
		        "records before",
		        m->name, ann_field(r, 5), m->callee);
	return ST_OK;
}

static st_status
ann_read_metric(struct ann_reading *r)
{
	struct ann_bound *bound;
	if (ann_column_head(r, &bound, true))
		return ST_FAILED;
	struct st_ann_records *f = ann_bound_records(r, bound);
	const size_t index = st_ann_metric_index(f, ann_field(r, 2), ann_field(r, 3));
	size_t *to = index < f->metrics.n ? ST_PUSH(&bound->metrics) : NULL;
	if (!to)
		return ann_reading_memory(r);
	*to = index;
	if (strcmp(f->metrics.v[index].unit, ann_field(r, 3)))
		return st_ann_wrong_field(
		        r->l, 3,
		        "the metric '%.60s' has the unit '%.20s' here, and '%.20s' "
		        "in records before",
		        ann_field(r, 2), ann_field(r, 3), f->metrics.v[index].unit);
	return ann_read_callee(r, &f->metrics.v[index]);
}

/* Finds the index of a field's word; an empty field means the first word. */
static st_status
ann_field_word(const struct ann_reading *r, size_t field, const char *(*name)(unsigned), unsigned n,
               unsigned *word)
{
	const char *const text = ann_field(r, field);
	*word = 0;
	if (!*text)
		return ST_OK;
	for (; *word < n; ++*word)
		if (!strcmp(name(*word), text))
			return ST_OK;
	return st_ann_wrong_field(r->l, field,
	                          "'%.40s' is not one of the words for a feature; the "
	                          "first one is %s",
	                          text, name(0));
}

static const char *
ann_kind_at(unsigned i)
{
	return st_ann_kind_name((enum st_ann_kind)i);
}

static const char *
ann_origin_at(unsigned i)
{
	return st_ann_origin_name((enum st_ann_origin)i);
}

static st_status
ann_read_feature(struct ann_reading *r)
{
	struct ann_bound *bound;
	unsigned kind, origin;
	if (ann_column_head(r, &bound, true) ||
	    ann_field_word(r, 3, ann_kind_at, ST_ANN_KIND_COUNT, &kind) ||
	    ann_field_word(r, 4, ann_origin_at, ST_ANN_ORIGIN_COUNT, &origin))
		return ST_FAILED;
	char *const path = r->l->n > 6 ? r->l->v[6].text : NULL;
	const struct st_ann_feature like = {.name = r->l->v[2].text,
	                                    .path = path && *path ? path : NULL,
	                                    .kind = (enum st_ann_kind)kind,
	                                    .origin = (enum st_ann_origin)origin};
	struct st_ann_records *f = ann_bound_records(r, bound);
	const size_t index = st_ann_feature_index(f, &like);
	size_t *to = index < f->features.n ? ST_PUSH(&bound->features) : NULL;
	if (!to)
		return ann_reading_memory(r);
	*to = index;
	if (f->features.v[index].kind != like.kind)
		return st_ann_wrong_field(r->l, 3, "the feature '%.60s' is a %s in records before",
		                          like.name, st_ann_kind_name(f->features.v[index].kind));
	return ST_OK;
}

static st_status
ann_read_branch(struct ann_reading *r)
{
	struct ann_bound *bound;
	if (ann_column_head(r, &bound, false))
		return ST_FAILED;
	struct st_ann_records *f = ann_bound_records(r, bound);
	const size_t index = st_ann_branch_index(f, ann_field(r, 2));
	size_t *to = index < f->branches.n ? ST_PUSH(&bound->branches) : NULL;
	if (!to)
		return ann_reading_memory(r);
	*to = index;
	for (size_t i = 3; i + 1 < r->l->n; i += 2) {
		double outcome;
		if (st_ann_field_number(r->l, i, &outcome))
			return ST_FAILED;
		if (st_ann_branch_way(&f->branches.v[index], outcome, ann_field(r, i + 1)))
			return ann_reading_memory(r);
	}
	return ST_OK;
}

static st_status
ann_read_calls(struct ann_reading *r)
{
	struct ann_bound *bound;
	uint64_t calls, kept, left = 0;
	if (ann_bound_of(r, 1, &bound))
		return ST_FAILED;
	if (st_parse_whole(ann_field(r, 2), &calls) || st_parse_whole(ann_field(r, 3), &kept) ||
	    (*ann_field(r, 4) && st_parse_whole(ann_field(r, 4), &left)))
		return st_ann_wrong_field(r->l, 2, "numbers of calls are expected");
	struct st_ann_records *f = ann_bound_records(r, bound);
	bound->announced += kept;
	f->calls += calls;
	f->left += left;
	f->counted = true;
	return ST_OK;
}

static st_status
ann_read_overhead(struct ann_reading *r)
{
	struct ann_bound *bound;
	double mean;
	if (ann_bound_of(r, 1, &bound))
		return ST_FAILED;
	if (r->l->n < 4)
		return st_ann_wrong_field(r->l, 0, "a metric and a number are expected");
	if (st_ann_field_number(r->l, 3, &mean))
		return ST_FAILED;
	struct st_ann_records *f = ann_bound_records(r, bound);
	for (size_t i = 0; i < bound->metrics.n; i++) {
		struct st_ann_metric *m = &f->metrics.v[bound->metrics.v[i]];
		if (!strcmp(m->name, ann_field(r, 2))) {
			m->overhead = mean;
			return ST_OK;
		}
	}
	return st_ann_wrong_field(r->l, 2, "the function has no metric '%.60s'", ann_field(r, 2));
}

/* How long the process took for a fixed loop. */
static st_status
ann_read_pace(struct ann_reading *r)
{
	struct ann_bound *bound;
	double pace;
	if (ann_bound_of(r, 1, &bound))
		return ST_FAILED;
	if (r->l->n < 3)
		return st_ann_wrong_field(r->l, 0, "a number of nanoseconds is expected");
	if (st_ann_field_number(r->l, 2, &pace))
		return ST_FAILED;
	if (!(pace > 0))
		return st_ann_wrong_field(r->l, 2, "a time above 0 is expected");
	return st_ann_record_pace(ann_bound_records(r, bound), bound->run, pace)
	               ? ann_reading_memory(r)
	               : ST_OK;
}

static st_status
ann_read_note(struct ann_reading *r)
{
	fprintf(r->notes.out, "%s\n", ann_field(r, 1));
	return ST_OK;
}

static st_status
ann_read_unfinished(struct ann_reading *r)
{
	double seconds;
	if (r->l->n < 2)
		return st_ann_wrong_field(r->l, 0, "a number of seconds is expected");
	if (st_ann_field_number(r->l, 1, &seconds))
		return ST_FAILED;
	if (!r->data->unfinished || seconds < r->data->unfinished)
		r->data->unfinished = seconds;
	return ST_OK;
}

static st_status
ann_read_header(struct ann_reading *r)
{
	static const struct {
		const char *name;
		st_status (*read)(struct ann_reading *r);
	} lines[] = {{"#strobe-records", ann_read_version}, {"#function", ann_read_function},
	             {"#metric", ann_read_metric},          {"#feature", ann_read_feature},
	             {"#branch", ann_read_branch},          {"#calls", ann_read_calls},
	             {"#overhead", ann_read_overhead},      {"#note", ann_read_note},
	             {"#unfinished", ann_read_unfinished},  {"#pace", ann_read_pace}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!strcmp(r->l->v[0].text, lines[i].name))
			return lines[i].read(r);
	return ST_OK; /* lines of newer versions are ignored */
}

static st_status
ann_feature_value(const struct ann_reading *r, size_t field, struct st_ann_feature *f, size_t row)
{
	if (f->kind != ST_ANN_CATEGORY)
		return st_ann_field_number(r->l, field, &f->v[row]);
	if (!*ann_field(r, field))
		return ST_OK;
	return st_ann_label_index(f, ann_field(r, field), &f->v[row]) ? ann_reading_memory(r)
	                                                              : ST_OK;
}

/* Reads a field of outcomes: "1", "1*57" for 57 of them, "?*3" for three that are not known, and
 * "~" before outcomes whose order is not known. *known: it is the number of an outcome. */
static st_status
ann_read_outcome(const struct ann_reading *r, size_t field, double *outcome, bool *known)
{
	const char *const text = ann_field(r, field), *end = text;
	uint64_t times;
	*known = false;
	if (!strcmp(text, "~"))
		return ST_OK;
	if (*text == '?') {
		end = text + 1;
	} else {
		*known = true;
		if (st_parse_real(text, outcome, &end))
			end = text;
	}
	if (end == text || (*end && (*end != '*' || st_parse_whole(end + 1, &times))))
		return st_ann_wrong_field(r->l, field, "'%.60s' is not an outcome of a branch",
		                          text);
	return ST_OK;
}

/* Takes the first outcome of each branch and skips further ones up to the field "#". */
static st_status
ann_read_outcomes(struct ann_reading *r, const struct ann_bound *bound, struct st_ann_records *f,
                  size_t field)
{
	size_t branch = 0;
	bool first = true;
	for (; field < r->l->n; field++) {
		if (branch == bound->branches.n)
			return st_ann_wrong_field(
			        r->l, field, "the record has more fields than the header says");
		if (!strcmp(ann_field(r, field), "#") && !r->l->v[field].quoted) {
			branch++;
			first = true;
			continue;
		}
		double outcome = NAN;
		bool known;
		if (ann_read_outcome(r, field, &outcome, &known))
			return ST_FAILED;
		if (first && known)
			f->branches.v[bound->branches.v[branch]].v[f->n - 1] = outcome;
		first = false;
	}
	return first ? ST_OK
	             : st_ann_wrong_field(r->l, r->l->n - 1,
	                                  "a field # is expected after the outcomes of a branch");
}

static st_status
ann_read_record(struct ann_reading *r)
{
	struct ann_bound *bound;
	if (ann_bound_of(r, 0, &bound))
		return ST_FAILED;
	const size_t fixed = 1 + bound->metrics.n + bound->features.n;
	struct st_ann_records *f = ann_bound_records(r, bound);
	bound->has_records = true;
	bound->records++;
	if (r->l->n < fixed)
		return st_ann_wrong_field(r->l, r->l->n - 1,
		                          "the record has %zu fields, and the header says %zu%s",
		                          r->l->n, fixed, st_ann_why_short(r->l));
	if (st_ann_record_new(f, bound->run))
		return ann_reading_memory(r);
	for (size_t i = 0; i < bound->metrics.n; i++)
		if (st_ann_field_metric(r->l, 1 + i,
		                        &f->metrics.v[bound->metrics.v[i]].v[f->n - 1]))
			return ST_FAILED;
	for (size_t i = 0; i < bound->features.n; i++)
		if (ann_feature_value(r, 1 + bound->metrics.n + i,
		                      &f->features.v[bound->features.v[i]], f->n - 1))
			return ST_FAILED;
	r->records++;
	return ann_read_outcomes(r, bound, f, fixed);
}

static st_status
ann_keep_notes(struct ann_reading *r)
{
	if (r->data->notes)
		fputs(r->data->notes, r->notes.out);
	free(r->data->notes);
	r->data->notes = st_text_end(&r->notes);
	return r->data->notes ? ST_OK : ann_reading_memory(r);
}

/* The notes of the file give the reason; the last line feed is not part of the sentence. */
static st_status
ann_no_record(const struct ann_reading *r)
{
	const char *const notes = r->data->notes ? r->data->notes : "";
	const size_t n = strlen(notes);
	return st_fail(r->l->e, ST_EXIT_FAILED, "%s has no record%s%.*s", r->l->name, n ? ": " : "",
	               (int)(n < 600 ? n ? n - 1 : 0 : 600), notes);
}

st_status
st_ann_records_take(struct st_ann_data *d, struct st_ann_lines *l)
{
	struct ann_reading r = {.data = d, .l = l};
	st_status status = ST_OK, failed = ST_OK;
	if (!st_text_begin(&r.notes))
		return ann_reading_memory(&r);
	while (!status && st_ann_next_line(l, &failed))
		status = l->v[0].text[0] == '#' && !l->v[0].quoted ? ann_read_header(&r)
		                                                   : ann_read_record(&r);
	if (!status)
		status = failed;
	ann_unbind(&r);
	free(r.bound.v);
	if (ann_keep_notes(&r) || status)
		return ST_FAILED;
	if (!r.records)
		return ann_no_record(&r);
	return ST_OK;
}
