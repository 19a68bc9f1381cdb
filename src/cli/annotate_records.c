/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate FILE...: makes annotations of records of calls. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "annotate/analyse.h"
#include "base/number.h"
#include "cli/annotate.h"
#include "cli/annotate_kept.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/annotation.h"
#include "report/json.h"

/* The state of an analysis: records, annotations, and failures. */
struct analysis {
	const struct st_annotate_arguments *a;
	struct st_ann_data data;
	struct st_ann_file file;
	size_t tried;
	struct st_error first; /* cause of the first failure */
	size_t failed;
};

bool
st_annotate_fits(const char *pattern, const char *name)
{
	const size_t n = strcspn(name, "(");
	char *short_name = strndup(name, n);
	const bool fits = !fnmatch(pattern, name, 0) ||
	                  (short_name && *short_name && !fnmatch(pattern, short_name, 0));
	free(short_name);
	return fits;
}

bool
st_annotate_chooses(const struct st_annotate_arguments *a, const char *function)
{
	for (size_t i = 0; i < a->functions.n; i++)
		if (st_annotate_fits(a->functions.text[i], function))
			return true;
	return !a->functions.n;
}

/* Compares a metric with "time" or "time:ms". Names of columns became identifiers. */
static bool
annotate_names_metric(const char *wanted, const char *metric)
{
	for (; *metric; metric++, wanted++)
		if (*wanted != *metric &&
		    !(*metric == '_' && *wanted && !isalnum((unsigned char)*wanted)))
			return false;
	return !*wanted || *wanted == ':';
}

bool
st_annotate_chooses_metric(const struct st_annotate_arguments *a, const char *metric)
{
	for (size_t i = 0; i < a->chosen.n; i++)
		if (annotate_names_metric(a->chosen.text[i], metric))
			return true;
	return !a->chosen.n;
}

static char *
annotate_date(void)
{
	char text[32];
	const time_t now = time(NULL);
	struct tm tm;
	strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &tm));
	return strdup(text);
}

static st_status
annotate_metric(struct analysis *r, const struct st_ann_records *f, size_t metric,
                struct st_error *e)
{
	struct st_ann_annotation made;
	r->tried++;
	if (st_ann_analyse(f, metric, &r->a->analysis, &made, e)) {
		if (!r->failed++)
			r->first = *e;
		st_ann_annotation_free(&made);
		return ST_OK; /* other metrics may succeed: the caller checks that any did */
	}
	made.date = annotate_date();
	struct st_ann_annotation *to = made.date ? ST_PUSH(&r->file.list) : NULL;
	if (!to) {
		st_ann_annotation_free(&made);
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the annotations");
	}
	*to = made;
	return ST_OK;
}

/* Costs of callees are for --explain: they get annotations only if the user names them. */
static bool
annotate_takes_metric(const struct st_annotate_arguments *a, const struct st_ann_metric *m)
{
	return st_annotate_chooses_metric(a, m->name) && (!m->of || a->chosen.n);
}

static st_status
annotate_all(struct analysis *r, struct st_error *e)
{
	size_t functions = 0;
	for (size_t i = 0; i < r->data.functions.n; i++) {
		const struct st_ann_records *f = &r->data.functions.v[i];
		if (!st_annotate_chooses(r->a, f->name))
			continue;
		functions++;
		for (size_t k = 0; k < f->metrics.n; k++)
			if (annotate_takes_metric(r->a, &f->metrics.v[k]) &&
			    annotate_metric(r, f, k, e))
				return ST_FAILED;
	}
	if (!functions)
		return st_fail(e, ST_EXIT_USAGE,
		               "no function of the records matches '%s'; the first one is %s",
		               r->a->functions.text[0],
		               r->data.functions.n ? r->data.functions.v[0].name : "none");
	if (!r->tried)
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric of the records is named '%s'; the first one is %s",
		               r->a->chosen.n ? r->a->chosen.text[0] : "",
		               r->data.functions.v[0].metrics.n
		                       ? r->data.functions.v[0].metrics.v[0].name
		                       : "none");
	if (r->file.list.n)
		return ST_OK;
	*e = r->first;
	return ST_FAILED;
}

static st_status
annotate_filter(struct analysis *r, struct st_error *e)
{
	struct st_ann_filter filter;
	if (!r->a->where)
		return ST_OK;
	struct st_ann_expr *condition = st_ann_parse_condition(r->a->where, "--where", e);
	const st_status status =
	        condition ? st_ann_data_filter(&r->data, condition, &filter, e) : ST_FAILED;
	st_ann_expr_free(condition);
	if (status)
		return ST_FAILED;
	if (!filter.kept)
		return st_fail(e, ST_EXIT_FAILED, "--where '%s' leaves none of %s", r->a->where,
		               ST_COUNT(filter.before, "record", "records"));
	if (!r->a->quiet)
		fprintf(stderr, "strobe: --where keeps %s of %s\n", ST_NUMBER(filter.kept),
		        ST_COUNT(filter.before, "record", "records"));
	return ST_OK;
}

/* --without. Conditions of --where can use the features that are left out. */
static st_status
annotate_leave_out(struct analysis *r, struct st_error *e)
{
	for (size_t i = 0; i < r->a->without.n; i++) {
		const char *const pattern = r->a->without.text[i];
		const struct st_ann_records *first = r->data.functions.v;
		if (!first->features.n)
			return st_fail(e, ST_EXIT_USAGE,
			               "%s has no feature that --without '%s' could leave out",
			               first->name, pattern);
		if (!st_ann_data_leave_out(&r->data, pattern))
			return st_fail(
			        e, ST_EXIT_USAGE,
			        "no feature of the records matches '%s'; the first one is %s",
			        pattern, first->features.v[0].name);
	}
	return ST_OK;
}

static void
annotate_warn_of_impossible(const struct analysis *r)
{
	for (size_t i = 0; i < r->data.functions.n && !r->a->quiet; i++) {
		const struct st_ann_records *f = &r->data.functions.v[i];
		if (f->impossible)
			fprintf(stderr,
			        "strobe: %s of %s records of %s were left out, because a time "
			        "is negative, or lock_wait, condition_wait or lock_held is "
			        "longer than time\n",
			        ST_NUMBER(f->impossible), ST_NUMBER(f->impossible + f->n), f->name);
	}
}

static void
annotate_warn_of_unfinished(const struct analysis *r)
{
	if (r->data.unfinished > 0 && !r->a->quiet)
		fprintf(stderr,
		        "strobe: a file has only the calls of the first %.0f s, because its "
		        "recording was killed or has not ended; the analysis uses these calls\n",
		        r->data.unfinished);
}

static void
annotate_warn_of_missing(const struct analysis *r)
{
	for (size_t i = 0; i < r->data.functions.n && !r->a->quiet; i++) {
		const struct st_ann_records *f = &r->data.functions.v[i];
		if (f->missing)
			fprintf(stderr,
			        "strobe: a file is truncated: %s of %s that its header "
			        "announces (#calls) %s missing; record again to have all of them\n",
			        ST_COUNT(f->missing, "record", "records"), f->name,
			        f->missing == 1 ? "is" : "are");
	}
}

static st_status
annotate_read(struct analysis *r, struct st_error *e)
{
	const struct st_ann_columns columns = {
	        .function = r->a->function, .metrics = r->a->chosen.text, .n = r->a->chosen.n};
	for (size_t i = 0; i < r->a->files.n; i++)
		if (st_ann_data_read(&r->data, r->a->files.text[i], &columns, e))
			return ST_FAILED;
	annotate_warn_of_unfinished(r);
	annotate_warn_of_missing(r);
	annotate_warn_of_impossible(r);
	return annotate_filter(r, e) || annotate_leave_out(r, e) ? ST_FAILED : ST_OK;
}

static char *
annotate_json(const struct st_ann_file *f, struct st_error *e)
{
	json_t *all = json_array();
	for (size_t i = 0; i < f->list.n; i++)
		json_array_append_new(all, st_annotation_json(&f->list.v[i]));
	json_t *root = json_pack("{s:{s:i, s:s}, s:o}", "strobe", "version", ST_JSON_VERSION,
	                         "tool", "annotate", "annotations", all);
	return st_json_document(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the annotations",
	                        e);
}

/* Prints the annotations in a format; digits: of numbers in the language. NULL with *e. */
static char *
annotate_text(const struct analysis *r, enum st_annotate_form form, int digits, struct st_error *e)
{
	struct st_text text;
	st_status status = ST_OK;
	if (form == ST_ANNOTATE_JSON)
		return annotate_json(&r->file, e);
	st_text_begin(&text);
	for (size_t i = 0; text.out && i < r->file.list.n && !status; i++) {
		const struct st_ann_annotation *a = &r->file.list.v[i];
		fputs(i ? "\n" : "", text.out);
		if (form == ST_ANNOTATE_MARKDOWN)
			status = st_annotation_markdown(a, text.out);
		else if (form == ST_ANNOTATE_C)
			status = st_annotation_comment(a, text.out);
		else
			st_ann_print(a, text.out, digits);
	}
	char *v = st_text_end(&text);
	if (!v || status) {
		free(v);
		ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "no memory left to print the annotations"));
		return NULL;
	}
	return v;
}

/* Writes the annotations to standard output, or with -o and all digits to a file. */
static st_status
annotate_put(const struct analysis *r, struct st_error *e)
{
	enum { PEOPLE = 5 };
	const struct st_annotate_arguments *a = r->a;
	char *text = annotate_text(r, a->form, a->output ? 0 : PEOPLE, e);
	if (!text)
		return ST_FAILED;
	st_status status = ST_OK;
	if (a->output)
		status = st_output_text(a->output, text, e);
	else if (a->form == ST_ANNOTATE_JSON)
		st_print_json_safely(stdout, text);
	else
		st_print_safely(stdout, text);
	free(text);
	if (!status)
		status = st_output_flush(e);
	if (!status && r->failed && !a->quiet)
		fprintf(stderr, "strobe: %s no annotation; the cause for the first: %s\n",
		        ST_COUNT(r->failed, "metric has", "metrics have"), r->first.text);
	return status;
}

int
st_annotate_records(const struct st_annotate_arguments *a, struct st_error *e)
{
	struct analysis r = {.a = a};
	int code = ST_EXIT_OK;
	st_status status = annotate_read(&r, e);
	if (!status && a->contracts)
		code = st_annotate_contracts(a, &r.data, e);
	else if (!status && a->check)
		code = st_annotate_check(a, &r.data, e);
	else if (!status && a->explain)
		code = st_annotate_explain(a, &r.data, e);
	else if (!status)
		status = annotate_all(&r, e) || annotate_put(&r, e) ||
		                         (a->save &&
		                          st_annotations_save(&r.file, a->quiet ? NULL : stderr, e))
		                 ? ST_FAILED
		                 : ST_OK;
	st_ann_file_free(&r.file);
	st_ann_data_free(&r.data);
	return status ? st_complain(e) : code;
}
