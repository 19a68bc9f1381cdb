/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe predict: evaluates an annotation for given values of the features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/undisturbed.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "cli/annotate_kept.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/annotation.h"
#include "report/json.h"

enum {
#define O(id, letter, name, argument, shown, help) PREDICT_##id,
	ST_PREDICT_OPTIONS(O)
#undef O
};

struct predict_value {
	char *name;       /* malloc'ed */
	const char *text; /* after the equals sign */
	double number;    /* NAN: the text is not a number */
};

struct predict_arguments {
	const char *words[3]; /* file, function, metric; the file may be left out */
	size_t n_words;
	const char *file; /* NULL: the annotations that the project keeps */
	const char *function, *metric;
	ST_VEC(struct predict_value) values;
	double level;
	bool json, help;
};

static st_status
predict_add_value(struct predict_arguments *a, const char *word, const char *equals,
                  struct st_error *e)
{
	const char *end;
	const size_t n = (size_t)(equals - word);
	for (size_t i = 0; i < a->values.n; i++)
		if (strlen(a->values.v[i].name) == n && !strncmp(a->values.v[i].name, word, n))
			return st_fail(e, ST_EXIT_USAGE, "'%s' is given twice",
			               a->values.v[i].name);
	struct predict_value *v = ST_PUSH(&a->values);
	if (!v || !(v->name = strndup(word, n)))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the values");
	v->text = equals + 1;
	if (st_parse_real(v->text, &v->number, &end) || *end)
		v->number = NAN;
	return *v->text
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE, "'%s' has no value after the equals sign", word);
}

static st_status
predict_add_word(struct predict_arguments *a, const char *word, struct st_error *e)
{
	const char *equals = strchr(word, '=');
	if (a->n_words == 3 || a->values.n || (a->n_words == 2 && equals))
		return equals && equals > word
		               ? predict_add_value(a, word, equals, e)
		               : st_fail(e, ST_EXIT_USAGE,
		                         "a value is given as NAME=VALUE, not as '%s'", word);
	a->words[a->n_words++] = word;
	return ST_OK;
}

static st_status
predict_apply(struct predict_arguments *a, int option, const char *value, struct st_error *e)
{
	const char *end;
	double percent;
	switch (option) {
	case ST_OPTIONS_OTHER:
		return predict_add_word(a, value, e);
	case PREDICT_level:
		if (st_parse_real(value, &percent, &end) || *end || percent < 1 ||
		    percent > 99.9999)
			return st_fail(e, ST_EXIT_USAGE,
			               "--level takes percents from 1 to 99.9999, not '%s'", value);
		a->level = percent / 100;
		return ST_OK;
	case PREDICT_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? ST_OK
		                                         : st_bad_format(value, "text, json", e);
	case PREDICT_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
predict_parse(struct predict_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("predict", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (predict_apply(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	if (a->n_words < 2)
		return st_fail(e, ST_EXIT_USAGE,
		               "a function and a metric are needed: strobe predict [FILE] "
		               "FUNCTION METRIC NAME=VALUE...");
	a->file = a->n_words == 3 ? a->words[0] : NULL;
	a->function = a->words[a->n_words - 2];
	a->metric = a->words[a->n_words - 1];
	return ST_OK;
}

static bool
predict_find(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct predict_arguments *a = arg;
	for (size_t i = 0; i < a->values.n; i++)
		if (!strcmp(a->values.v[i].name, name)) {
			*value = (struct st_ann_value){a->values.v[i].number, a->values.v[i].text};
			return true;
		}
	return false;
}

/* Finds the annotation of a metric of a function, whose parameters may be left out. place: where
 * the annotations are from. */
static const struct st_ann_annotation *
predict_choose(const struct st_ann_file *f, const struct predict_arguments *a, const char *place,
               struct st_error *e)
{
	const struct st_ann_annotation *found = st_ann_find(f, a->function, a->metric);
	struct st_nearest_few near = st_nearest_few_to(a->function);
	char question[256];
	bool function = false;
	for (size_t i = 0; !found && i < f->list.n; i++) {
		const struct st_ann_annotation *at = &f->list.v[i];
		const size_t n = strcspn(at->function, "(");
		const bool fits =
		        !strcmp(at->function, a->function) ||
		        (strlen(a->function) == n && !strncmp(at->function, a->function, n));
		function |= fits;
		if (fits && !strcmp(at->metric, a->metric))
			found = at;
		st_nearest_few_try(&near, at->function, strlen(at->function));
	}
	if (!found && function)
		ST_IGNORE(st_fail(e, ST_EXIT_USAGE, "%s has no annotation of the metric '%s' of %s",
		                  place, a->metric, a->function));
	else if (!found)
		ST_IGNORE(st_fail(e, ST_EXIT_USAGE, "%s has no annotation of '%s'%s", place,
		                  a->function,
		                  st_nearest_question(&near, question, sizeof question)));
	return found;
}

/* Refuses values that the annotation does not use: their names may be misspelt. */
static st_status
predict_check_names(const struct st_ann_annotation *an, const struct predict_arguments *a,
                    struct st_error *e)
{
	for (size_t i = 0; i < a->values.n; i++) {
		struct st_nearest_few near = st_nearest_few_to(a->values.v[i].name);
		char question[256];
		bool known = !an->declarations.n;
		for (size_t k = 0; k < an->declarations.n; k++) {
			const char *name = an->declarations.v[k].name;
			known |= !strcmp(name, a->values.v[i].name);
			st_nearest_few_try(&near, name, strlen(name));
		}
		if (!known)
			return st_fail(e, ST_EXIT_USAGE, "%s.%s does not depend on '%s'%s",
			               an->function, an->metric, a->values.v[i].name,
			               st_nearest_question(&near, question, sizeof question));
	}
	return ST_OK;
}

enum { PREDICT_NUMBER_SIZE = 32 };

/* Writes a number for people: six digits, or a whole number if it has more. JSON has all digits. */
static const char *
predict_number(double x, char text[static PREDICT_NUMBER_SIZE])
{
	const bool large = fabs(x) >= 1e6 && fabs(x) < 1e15;
	snprintf(text, PREDICT_NUMBER_SIZE, large ? "%.0f" : "%.6g", x);
	return text;
}

static void
predict_warn(const struct st_ann_annotation *an, const struct predict_arguments *a,
             const struct st_ann_prediction *p)
{
	if (p->left_out > 0)
		fprintf(stderr,
		        "strobe: the model leaves out %.3g %% of the records (selection): the same "
		        "share of the calls can cost more or less\n",
		        100 * p->left_out);
	for (size_t k = 0; k < an->declarations.n; k++) {
		const struct st_ann_declaration *d = &an->declarations.v[k];
		struct st_ann_value v = {NAN, NULL};
		char at[PREDICT_NUMBER_SIZE], low[PREDICT_NUMBER_SIZE], high[PREDICT_NUMBER_SIZE];
		if (!isnan(d->low) && predict_find(a, d->name, &v) &&
		    (v.number < d->low || v.number > d->high))
			fprintf(stderr, "strobe: %s = %s is outside the observed range, %s to %s\n",
			        d->name, predict_number(v.number, at), predict_number(d->low, low),
			        predict_number(d->high, high));
	}
	if (p->mean < 0 && an->unit && st_ann_only_grows(an->unit))
		fputs("strobe: the model predicts a time below 0, so that it does not hold for "
		      "these values\n",
		      stderr);
}

static void
predict_print(const struct st_ann_annotation *an, const struct predict_arguments *a,
              const struct st_ann_prediction *p)
{
	const char *const unit = an->unit ? an->unit : "", *const blank = an->unit ? " " : "";
	if (isnan(p->mean)) {
		printf("%s of %s: cannot tell: no condition of the annotation holds for these "
		       "values\n",
		       an->metric, an->function);
		return;
	}
	char mean[PREDICT_NUMBER_SIZE], sd[PREDICT_NUMBER_SIZE], low[PREDICT_NUMBER_SIZE],
	        high[PREDICT_NUMBER_SIZE];
	printf("%s of %s: %s%s%s", an->metric, an->function, predict_number(p->mean, mean), blank,
	       unit);
	if (!isnan(p->sd))
		printf(", standard deviation %s, %.6g %% between %s and %s",
		       predict_number(p->sd, sd), 100 * a->level, predict_number(p->low, low),
		       predict_number(p->high, high));
	putchar('\n');
	predict_warn(an, a, p);
}

static st_status
predict_run(const struct predict_arguments *a, struct st_error *e)
{
	struct st_ann_file f;
	struct st_ann_prediction p;
	const struct st_ann_names names = {predict_find, a};
	char *folder = NULL;
	st_status status =
	        a->file ? st_ann_read(a->file, &f, e) : st_annotations_read(&f, &folder, e);
	const struct st_ann_annotation *an =
	        status ? NULL : predict_choose(&f, a, a->file ? a->file : folder, e);
	status = !an || predict_check_names(an, a, e) || st_ann_predict(an, &names, a->level, &p, e)
	                 ? ST_FAILED
	                 : ST_OK;
	char *text = NULL;
	if (!status && a->json) {
		text = st_json_document(st_prediction_json(&p),
		                        JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the prediction",
		                        e);
		status = text ? ST_OK : ST_FAILED;
	}
	if (text)
		st_print_json_safely(stdout, text);
	else if (!status)
		predict_print(an, a, &p);
	free(text);
	free(folder);
	st_ann_file_free(&f);
	if (!status)
		status = st_output_flush(e);
	return status;
}

int
st_predict_main(char *const *argv)
{
	struct predict_arguments a = {.level = 0.95};
	struct st_error e;
	int code = ST_EXIT_OK;
	const int bad = predict_parse(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("predict"), false);
	else if (bad || predict_run(&a, &e))
		code = st_complain(&e);
	for (size_t i = 0; i < a.values.n; i++)
		free(a.values.v[i].name);
	free(a.values.v);
	return code;
}
