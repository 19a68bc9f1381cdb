/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe model: how a quantity follows from another. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "model/csv.h"
#include "report/model.h"

enum {
#define O(id, letter, name, argument, shown, help) MODEL_##id,
	ST_MODEL_OPTIONS(O)
#undef O
};

struct arguments {
	const char *csv, *x, *y;
	unsigned kinds;
	double level;
	ST_VEC(double) at;
	bool json, help;
};

static st_status
add_model_kind(struct arguments *a, const char *word, struct st_error *e)
{
	static const char *const words[] = {
#define K(id, name, parameters, formula) name,
	        ST_GROWTHS(K)
#undef K
	};
	unsigned which;
	if (st_option_word("kind", word, words, ST_GROWTH_COUNT, &which, e))
		return ST_FAILED;
	a->kinds |= 1u << which;
	return ST_OK;
}

static st_status
add_model_at(struct arguments *a, const char *word, struct st_error *e)
{
	const char *end;
	double x;
	if (st_parse_real(word, &x, &end) || *end)
		return st_fail(e, ST_EXIT_USAGE,
		               "--at takes numbers that are separated by commas, not '%s'", word);
	double *grown = st_vec_grow(a->at.v, a->at.n, &a->at.cap, sizeof *a->at.v);
	if (!grown)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the values of --at");
	a->at.v = grown;
	a->at.v[a->at.n++] = x;
	return ST_OK;
}

/* Hands out the parts of a list that is separated by commas. */
static st_status
for_each_word(struct arguments *a, const char *list,
              st_status (*take)(struct arguments *, const char *, struct st_error *),
              struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = take(a, word, e);
	free(copy);
	return status;
}

static st_status
set_model_level(struct arguments *a, const char *value, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || percent < 1 || percent > 99.9999)
		return st_fail(e, ST_EXIT_USAGE,
		               "--level takes percents from 1 to 99.9999, not '%s'", value);
	a->level = percent / 100;
	return ST_OK;
}

static st_status
apply_model_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return st_fail(e, ST_EXIT_USAGE,
		               "unexpected argument '%s': strobe model --csv FILE reads the points "
		               "from a text file",
		               value);
	case MODEL_csv:
		a->csv = value;
		return ST_OK;
	case MODEL_x:
		a->x = value;
		return ST_OK;
	case MODEL_y:
		a->y = value;
		return ST_OK;
	case MODEL_kind:
		return for_each_word(a, value, add_model_kind, e);
	case MODEL_at:
		return for_each_word(a, value, add_model_at, e);
	case MODEL_level:
		return set_model_level(a, value, e);
	case MODEL_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? ST_OK
		                                         : st_bad_format(value, "text, json", e);
	case MODEL_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
parse_model(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("model", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_model_option(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	if (!a->csv)
		return st_fail(e, ST_EXIT_USAGE, "no points to model: strobe model --csv FILE");
	if (!a->kinds)
		a->kinds = ST_GROWTHS_ALL;
	return ST_OK;
}

static st_status
print_model_json(const struct st_model_report *r, struct st_error *e)
{
	json_t *subjects = json_array();
	json_array_append_new(subjects, st_model_json(r));
	char *text = st_model_document(subjects, e);
	if (!text)
		return ST_FAILED;
	st_print_json_safely(stdout, text);
	free(text);
	return ST_OK;
}

static st_status
print_model(const struct st_model_report *r, bool json, struct st_error *e)
{
	struct st_safe safe;
	if (json && print_model_json(r, e))
		return ST_FAILED;
	if (!json && !st_safe_begin(&safe, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the models");
	if (!json) {
		st_model_print(r, safe.text.out);
		st_safe_end(&safe);
	}
	return fflush(stdout) ? st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
	                                strerror(errno))
	                      : ST_OK;
}

static st_status
model_of_csv(const struct arguments *a, struct st_error *e)
{
	struct st_csv csv;
	struct st_choice choice;
	st_status status = st_csv_read(&csv, a->csv, a->x, a->y, e);
	const struct st_points points = st_csv_points(&csv);
	if (!status)
		status = st_choice_make(&choice, &points, a->kinds, a->level, e);
	if (!status) {
		const struct st_model_subject subject = {
		        .file = a->csv, .x = csv.x_name, .y = csv.y_name, .left_out = csv.left_out};
		const struct st_model_report r = {.subject = &subject,
		                                  .choice = &choice,
		                                  .at = a->at.v,
		                                  .n_at = a->at.n,
		                                  .style = st_style_of(stdout)};
		status = print_model(&r, a->json, e);
	}
	st_csv_free(&csv);
	return status;
}

int
st_model_main(char *const *argv)
{
	struct arguments a = {.level = 0.95};
	struct st_error e;
	int code = ST_EXIT_OK;
	const int bad = parse_model(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("model"), false);
	else if (bad || model_of_csv(&a, &e))
		code = st_complain(&e);
	free(a.at.v);
	return code;
}
