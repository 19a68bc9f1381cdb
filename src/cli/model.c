/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe model: how a quantity follows from another. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/model.h"
#include "cli/model_kept.h"
#include "cli/show_stored.h"
#include "model/csv.h"
#include "profile/output.h"
#include "report/model.h"

enum {
#define O(id, letter, name, argument, shown, help) MODEL_##id,
	ST_MODEL_OPTIONS(O)
#undef O
};

static st_status
add_model_kind(struct st_model_arguments *a, const char *word, struct st_error *e)
{
	static const char *const words[] = {
#define K(id, name, parameters, formula) name,
	        ST_GROWTHS(K)
#undef K
	};
	unsigned which;
	if (st_option_word("kind", word, words, ST_GROWTH_COUNT, &which, e))
		return ST_FAILED;
	a->how.kinds |= 1u << which;
	return ST_OK;
}

static st_status
add_model_at(struct st_model_arguments *a, const char *word, struct st_error *e)
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

static st_status
add_model_smooth(struct st_model_arguments *a, const char *text, struct st_error *e)
{
	struct st_smooth_choice choice;
	if (st_smooth_parse(text, &choice, e))
		return ST_FAILED;
	struct st_smooth_choice *grown =
	        st_vec_grow(a->smooths.v, a->smooths.n, &a->smooths.cap, sizeof *grown);
	if (!grown)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	a->smooths.v = grown;
	a->smooths.v[a->smooths.n++] = choice;
	return ST_OK;
}

/* Hands out the parts of a list that is separated by commas. */
static st_status
for_each_word(struct st_model_arguments *a, const char *list,
              st_status (*take)(struct st_model_arguments *, const char *, struct st_error *),
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
set_model_level(struct st_model_arguments *a, const char *value, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || percent < 1 || percent > 99.9999)
		return st_fail(e, ST_EXIT_USAGE,
		               "--level takes percents from 1 to 99.9999, not '%s'", value);
	a->how.level = percent / 100;
	return ST_OK;
}

static st_status
set_model_noise(struct st_model_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define N(id, name) name,
	        ST_NOISES(N)
#undef N
	};
	unsigned which;
	if (st_option_word("noise", value, words, ST_NOISE_COUNT, &which, e))
		return ST_FAILED;
	a->how.noise = (enum st_noise)which;
	return ST_OK;
}

static st_status
set_model_way(struct st_model_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define W(id, name) name,
	        ST_WAYS(W)
#undef W
	};
	unsigned which;
	if (st_option_word("way", value, words, ST_WAY_COUNT, &which, e))
		return ST_FAILED;
	a->how.way = (enum st_way)which;
	return ST_OK;
}

static st_status
set_model_number(const char *option, const char *value, long least, long most, size_t *number,
                 struct st_error *e)
{
	long parsed;
	if (st_option_number(option, value, least, most, &parsed, e))
		return ST_FAILED;
	*number = (size_t)parsed;
	return ST_OK;
}

static st_status
add_model_file(struct st_model_arguments *a, const char *value, struct st_error *e)
{
	const char **grown = st_vec_grow(a->files.v, a->files.n, &a->files.cap, sizeof *grown);
	if (!grown)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the names of profiles");
	a->files.v = grown;
	a->files.v[a->files.n++] = value;
	return ST_OK;
}

static st_status
apply_model_option(struct st_model_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return add_model_file(a, value, e);
	case MODEL_of:
		a->of = value;
		return ST_OK;
	case MODEL_way:
		a->fit_option = "way";
		return set_model_way(a, value, e);
	case MODEL_parts:
		a->fit_option = "parts";
		return set_model_number("parts", value, 2, 1000, &a->how.parts, e);
	case MODEL_seed:
		a->fit_option = "seed";
		return set_model_number("seed", value, 0, LONG_MAX, &a->how.seed, e);
	case MODEL_noise:
		a->fit_option = "noise";
		return set_model_noise(a, value, e);
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
		a->fit_option = "kind";
		return for_each_word(a, value, add_model_kind, e);
	case MODEL_smooth:
		return add_model_smooth(a, value, e);
	case MODEL_at:
		return for_each_word(a, value, add_model_at, e);
	case MODEL_level:
		a->fit_option = "level";
		return set_model_level(a, value, e);
	case MODEL_save:
		a->save = true;
		return ST_OK;
	case MODEL_kept:
		a->kept = true;
		return ST_OK;
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
parse_model(struct st_model_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("model", argv);
	const char *value;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_model_option(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	if (!a->csv && !a->files.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no points to model: strobe model PROFILE..., or strobe model --csv FILE");
	if (a->csv && (a->files.n || a->of))
		return st_fail(e, ST_EXIT_USAGE, "--csv reads a text file: leave out %s%s",
		               a->files.n ? "the profile " : "--of",
		               a->files.n ? a->files.v[0] : "");
	if (!a->how.kinds)
		a->how.kinds = ST_GROWTHS_ALL;
	return st_model_kept_check(a, e);
}

/* Prints each series as soon as it is modelled, or all of them at the end. */
struct output {
	const struct st_model_arguments *a;
	json_t *subjects;
	struct st_safe safe;
	size_t modelled;
	bool brief;              /* one of several */
	struct st_profile *keep; /* it receives the models; NULL: nothing does */
};

static st_status
begin_model_output(struct output *o, const struct st_model_arguments *a, struct st_error *e)
{
	*o = (struct output){.a = a};
	if (a->json)
		o->subjects = json_array();
	return a->json || st_safe_begin(&o->safe, stdout)
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "no memory left to print the models");
}

/* Of what was printed so far nothing reaches the terminal when `failed`. */
static st_status
end_model_output(struct output *o, st_status failed, struct st_error *e)
{
	char *text = !failed && o->a->json ? st_model_document(o->subjects, e) : NULL;
	if (failed && o->a->json)
		json_decref(o->subjects);
	if (failed && !o->a->json)
		free(st_text_end(&o->safe.text));
	if (failed || (o->a->json && !text))
		return ST_FAILED;
	if (o->a->json)
		st_print_json_safely(stdout, text);
	else
		st_safe_end(&o->safe);
	free(text);
	return st_output_flush(e);
}

static void
show_model(struct output *o, const struct st_model_report *r)
{
	if (o->a->json)
		json_array_append_new(o->subjects, st_model_json(r));
	else if (o->brief || r->n_segments > 1)
		st_model_print_brief(r, o->safe.text.out);
	else
		st_model_print(r, o->safe.text.out);
}

static st_status
fit_smooths(const struct st_model_arguments *a, const struct st_points *points,
            struct st_smooth *smooths, struct st_error *e)
{
	if (!smooths)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	for (size_t i = 0; i < a->smooths.n; i++)
		if (st_smooth_fit(&a->smooths.v[i], points, &smooths[i], e))
			return ST_FAILED;
	return ST_OK;
}

static st_status
keep_models(const struct output *o, const struct st_model_subject *subject,
            const struct st_points *points, const struct st_segments *segments, struct st_error *e)
{
	const struct st_kept_key key = {.uid = subject->function,
	                                .metric = subject->y,
	                                .unit = subject->unit,
	                                .x = subject->x,
	                                .how = &o->a->how,
	                                .points_hash = st_kept_hash(points)};
	return st_model_keep(o->keep, &key, segments, subject->left_out, e);
}

static st_status
model_points(struct output *o, const struct st_model_subject *subject,
             const struct st_points *points, struct st_error *e)
{
	const struct st_model_arguments *a = o->a;
	struct st_segments segments = {0};
	struct st_smooth *smooths = calloc(a->smooths.n + 1, sizeof *smooths);
	st_status status = fit_smooths(a, points, smooths, e);
	if (!status)
		status = st_ways_model(&a->how, points, &segments, e);
	if (!status && o->keep)
		status = keep_models(o, subject, points, &segments, e);
	for (size_t i = 0; i < segments.list.n && !status; i++) {
		const struct st_model_report r = {.subject = subject,
		                                  .choice = &segments.list.v[i],
		                                  .way = a->how.way,
		                                  .segment = i,
		                                  .n_segments = segments.list.n,
		                                  .smooths = smooths,
		                                  .n_smooths = i ? 0 : a->smooths.n,
		                                  .at = a->at.v,
		                                  .n_at = a->at.n,
		                                  .style = st_style_of(stdout)};
		show_model(o, &r);
	}
	o->modelled += !status;
	st_segments_free(&segments);
	for (size_t i = 0; smooths && i < a->smooths.n; i++)
		st_smooth_free(&smooths[i]);
	free(smooths);
	return status;
}

static st_status
model_csv(struct output *o, struct st_error *e)
{
	struct st_csv csv;
	st_status status = st_csv_read(&csv, o->a->csv, o->a->x, o->a->y, e);
	const struct st_points points = st_csv_points(&csv);
	if (!status) {
		const struct st_model_subject subject = {.file = o->a->csv,
		                                         .x = csv.x_name,
		                                         .y = csv.y_name,
		                                         .left_out = csv.left_out};
		status = model_points(o, &subject, &points, e);
	}
	st_csv_free(&csv);
	return status;
}

static st_status
model_group(struct output *o, const struct st_model_entry *group, size_t n, struct st_error *e)
{
	struct st_model_series taken;
	st_status status = st_model_take_series(o->a, group, n, &taken, e);
	if (!status) {
		const struct st_points points = {.x = taken.x, .y = taken.y, .n = taken.n};
		const struct st_model_subject subject = {.file = o->a->files.v[0],
		                                         .more_files = o->a->files.n - 1,
		                                         .function = taken.uid,
		                                         .x = taken.x_name,
		                                         .y = taken.y_name,
		                                         .unit = taken.unit,
		                                         .left_out = taken.left_out};
		status = model_points(o, &subject, &points, e);
	}
	st_model_free_series(&taken);
	return status;
}

/* One group must succeed; of several, those that cannot be modelled are listed. */
static st_status
model_groups(struct output *o, const struct st_model_entries *entries, struct st_error *e)
{
	const struct st_model_entry *v = entries->list.v;
	o->brief = st_model_group(entries, 0) < entries->list.n;
	for (size_t i = 0, n; i < entries->list.n; i += n) {
		n = st_model_group(entries, i);
		if (!model_group(o, &v[i], n, e))
			continue;
		if (!o->brief || e->code == ST_EXIT_USAGE)
			return ST_FAILED;
		if (!o->a->json)
			fprintf(o->safe.text.out, "%s, %s: not modelled: %s\n", v[i].uid,
			        v[i].series->key.metric, e->text);
	}
	return o->modelled ? ST_OK : ST_FAILED;
}

static st_status
no_series(const struct st_model_arguments *a, const struct st_profile *first, struct st_error *e)
{
	if (!first->measurements.series.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "%s has no repeated measurements to model; strobe time records some, "
		        "and --csv reads points from a text file",
		        a->files.v[0]);
	return st_fail(e, ST_EXIT_USAGE,
	               "no measurements of %s fit%s%s%s%s; strobe show %s lists them",
	               a->files.v[0], a->of ? " --of " : "", a->of ? a->of : "",
	               a->y ? " --y " : "", a->y ? a->y : "", a->files.v[0]);
}

static void
show_kept_model(void *into, const struct st_model_report *r, bool several)
{
	struct output *o = into;
	o->brief = several;
	show_model(o, r);
}

static st_status
model_kept(struct output *o, struct st_error *e)
{
	struct st_profile *p = st_show_load(o->a->files.v[0], e);
	st_status status = p ? st_model_show_kept(o->a, p, show_kept_model, o, e) : ST_FAILED;
	st_profile_free(p);
	return status;
}

static st_status
model_profiles(struct output *o, struct st_error *e)
{
	const size_t n = o->a->files.n;
	struct st_profile **profiles = calloc(n, sizeof *profiles);
	struct st_model_entries entries = {0};
	st_status status = profiles ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < n && !status; i++) {
		profiles[i] = st_show_load(o->a->files.v[i], e);
		if (!profiles[i])
			status = ST_FAILED;
		else if (st_model_add_entries(&entries, o->a, profiles[i]))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	}
	st_model_sort_entries(&entries);
	if (!status && o->a->save)
		status = st_model_save_check(o->a->files.v[0], e);
	o->keep = !status && o->a->save ? profiles[0] : NULL;
	if (!status)
		status = entries.list.n ? model_groups(o, &entries, e)
		                        : no_series(o->a, profiles[0], e);
	if (!status && o->keep)
		status = st_profile_save(o->keep, o->a->files.v[0], e);
	st_model_free_entries(&entries);
	for (size_t i = 0; profiles && i < n; i++)
		st_profile_free(profiles[i]);
	free(profiles);
	return status;
}

static st_status
run_model(const struct st_model_arguments *a, struct st_error *e)
{
	struct output o;
	if (begin_model_output(&o, a, e))
		return ST_FAILED;
	const st_status status = a->csv    ? model_csv(&o, e)
	                         : a->kept ? model_kept(&o, e)
	                                   : model_profiles(&o, e);
	return end_model_output(&o, status, e);
}

int
st_model_main(char *const *argv)
{
	struct st_model_arguments a = {.how = {.level = 0.95, .parts = 3, .seed = 1}};
	struct st_error e;
	int code = ST_EXIT_OK;
	const int bad = parse_model(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("model"), false);
	else if (bad || run_model(&a, &e))
		code = st_complain(&e);
	free(a.at.v);
	free(a.smooths.v);
	free(a.files.v);
	return code;
}
