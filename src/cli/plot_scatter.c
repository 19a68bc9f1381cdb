/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot scatter: draws the points of a series with the curve of its model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/model.h"
#include "cli/plot.h"
#include "cli/plot_variants.h"
#include "cli/show_stored.h"
#include "model/csv.h"
#include "plot/charts.h"
#include "report/model.h"

enum { CURVE = 129 };

/* A series with its model. */
struct scatter_series {
	struct st_model_series taken; /* of profiles */
	struct st_points points;
	char *name, *caption;   /* name NULL: it is the only one */
	double curve[4][CURVE]; /* x, y, and the ends of the band */
	bool has_curve;
};

struct scatter_plot {
	const struct st_plot_arguments *a;
	const char *title, *x, *y, *unit;
	struct scatter_series *v;
	size_t n;
};

/* The curve from the least to the greatest x, with the band that has it in 95 of 100 cases. */
static void
scatter_curve(const struct st_regression *m, bool logarithmic, double (*curve)[CURVE])
{
	const bool ratio = logarithmic && m->x_start > 0;
	for (size_t i = 0; i < CURVE; i++) {
		const double share = (double)i / (CURVE - 1);
		const double x = ratio ? m->x_start * pow(m->x_end / m->x_start, share)
		                       : m->x_start * (1 - share) + m->x_end * share;
		const struct st_interval band = st_regression_band(m, x, 0.95, false);
		curve[0][i] = x;
		curve[1][i] = st_regression_at(m, x);
		curve[2][i] = band.low;
		curve[3][i] = band.high;
	}
}

/* Finds the model of a series, and the caption that describes it or says why there is none. */
static st_status
scatter_model(const struct scatter_plot *p, struct scatter_series *s)
{
	struct st_choice *choice = malloc(sizeof *choice);
	struct st_error why = {0};
	if (!choice)
		return ST_FAILED;
	const bool modelled = !p->a->no_model && !st_choice_make(choice, &s->points, ST_GROWTHS_ALL,
	                                                         ST_NOISE_AUTO, 0.95, &why);
	s->has_curve = modelled && choice->best < ST_GROWTH_COUNT;
	if (s->has_curve)
		scatter_curve(&choice->models[choice->best], p->a->logarithmic, s->curve);
	s->caption = modelled         ? st_model_caption(choice)
	             : p->a->no_model ? strdup("")
	                              : st_text_of("No model: %s.", why.text);
	free(choice);
	return s->caption ? ST_OK : ST_FAILED;
}

/* The captions of all series, each after its name. */
static char *
scatter_note(const struct scatter_plot *p)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < p->n; i++)
		if (*p->v[i].caption)
			fprintf(out, "%s%s%s%s", i ? " " : "", p->v[i].name ? p->v[i].name : "",
			        p->v[i].name ? ": " : "", p->v[i].caption);
	return out ? st_text_end(&built) : NULL;
}

static void
scatter_write(const struct scatter_plot *p, struct st_plot_point_series *series, const char **names,
              const char *note, FILE *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct scatter_series *s = &p->v[i];
		series[i] = (struct st_plot_point_series){.name = s->name,
		                                          .x = s->points.x,
		                                          .y = s->points.y,
		                                          .n = s->points.n,
		                                          .curve_x = s->curve[0],
		                                          .curve_y = s->curve[1],
		                                          .curve_low = s->curve[2],
		                                          .curve_high = s->curve[3],
		                                          .n_curve = s->has_curve ? CURVE : 0};
		names[i] = s->name;
	}
	const struct st_plot_points plot = {.words = {.title = p->a->title ? p->a->title : p->title,
	                                              .x = p->x,
	                                              .y = p->y,
	                                              .y_unit = p->unit,
	                                              .note = note},
	                                    .logarithmic = p->a->logarithmic,
	                                    .series = series,
	                                    .n_series = p->n,
	                                    .names = names};
	st_plot_points(&plot, out);
}

static st_status
scatter_draw(const struct scatter_plot *p, FILE *out, struct st_error *e)
{
	struct st_plot_point_series *series = calloc(p->n, sizeof *series);
	const char **names = calloc(p->n, sizeof *names);
	st_status status = series && names ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < p->n && !status; i++)
		status = scatter_model(p, &p->v[i]);
	char *note = status ? NULL : scatter_note(p);
	if (note)
		scatter_write(p, series, names, note, out);
	else
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	free(note);
	free(names);
	free(series);
	return status;
}

static void
scatter_free(struct scatter_plot *p)
{
	for (size_t i = 0; i < p->n; i++) {
		st_model_free_series(&p->v[i].taken);
		free(p->v[i].name);
		free(p->v[i].caption);
	}
	free(p->v);
}

static st_status
scatter_of_csv(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_csv csv;
	struct scatter_plot p = {.a = a, .v = calloc(1, sizeof *p.v), .n = 1};
	st_status status = st_csv_read(&csv, a->csv, a->x, a->metric, e);
	if (!status && !p.v)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	if (!status) {
		p.title = st_base_name(a->csv);
		p.x = csv.x_name;
		p.y = csv.y_name;
		p.unit = "";
		p.v[0].points = st_csv_points(&csv);
		status = scatter_draw(&p, out, e);
	}
	st_csv_free(&csv);
	p.n = p.v ? 1 : 0;
	scatter_free(&p);
	return status;
}

/* Fails with the metrics of the series that fit. */
static st_status
scatter_several(const struct st_model_entries *entries, struct st_error *e)
{
	char names[512] = "";
	size_t n = 0;
	for (size_t i = 0; i < entries->list.n; i++) {
		const char *metric = entries->list.v[i].series->key.metric;
		size_t first = 0;
		while (strcmp(entries->list.v[first].series->key.metric, metric) != 0)
			first++;
		if (first == i && n++ < 12)
			st_append(names, sizeof names, "%s%s", n > 1 ? ", " : "", metric);
	}
	return st_fail(e, ST_EXIT_USAGE,
	               "a picture has one metric: choose with --metric; they are %s%s", names,
	               n > 12 ? ", ..." : "");
}

static st_status
scatter_none(const struct st_plot_arguments *a, const char *file, const struct st_profile *p,
             struct st_error *e)
{
	if (!p->measurements.series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no repeated measurements, which are the points of this "
		               "picture: strobe time and strobe import record some",
		               file);
	return st_fail(e, ST_EXIT_USAGE,
	               "no measurements of %s fit%s%s%s%s; strobe show %s lists them", file,
	               a->of ? " --of " : "", a->of ? a->of : "", a->metric ? " --metric " : "",
	               a->metric ? a->metric : "", file);
}

/* Takes the points of a group as the next series. */
static st_status
scatter_take(struct scatter_plot *p, const struct st_model_arguments *how,
             const struct st_model_entry *group, size_t n, struct st_error *e)
{
	struct scatter_series *s = &p->v[p->n++];
	if (st_model_take_series(how, group, n, &s->taken, e))
		return ST_FAILED;
	if (!s->taken.n)
		return st_fail(e, ST_EXIT_FAILED, "no value of %s has a %s: choose with --x",
		               s->taken.uid, s->taken.x_name);
	if (p->n > 1 && strcmp(p->x, s->taken.x_name) != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "the values of %s have the %s, and those of %s the %s: choose one "
		               "with --x",
		               p->v[0].taken.uid, p->x, s->taken.uid, s->taken.x_name);
	s->points = (struct st_points){.x = s->taken.x, .y = s->taken.y, .n = s->taken.n};
	p->title = p->n > 1 && strcmp(p->title, s->taken.uid) != 0 ? s->taken.y_name : s->taken.uid;
	p->x = s->taken.x_name;
	p->y = s->taken.y_name;
	p->unit = s->taken.unit;
	return ST_OK;
}

static st_status
scatter_of_groups(struct scatter_plot *p, const struct st_model_arguments *how,
                  const struct st_model_entries *entries, FILE *out, struct st_error *e)
{
	const struct st_model_entry *v = entries->list.v;
	const struct st_model_entry **groups = calloc(entries->list.n, sizeof *groups);
	p->v = calloc(entries->list.n, sizeof *p->v);
	st_status status = groups && p->v ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0, n; i < entries->list.n && !status; i += n) {
		n = st_model_group(entries, i);
		if (strcmp(v[0].series->key.metric, v[i].series->key.metric) != 0 ||
		    strcmp(v[0].series->key.unit, v[i].series->key.unit) != 0)
			status = scatter_several(entries, e);
		else {
			groups[p->n] = &v[i];
			status = scatter_take(p, how, &v[i], n, e);
		}
	}
	for (size_t i = 0; i < p->n && p->n > 1 && !status; i++)
		if (!(p->v[i].name = st_plot_variant_name(groups, p->n, i)))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the points");
	if (!status)
		status = scatter_draw(p, out, e);
	free(groups);
	return status;
}

static st_status
scatter_add_entries(struct st_model_entries *entries, const struct st_model_arguments *how,
                    const struct st_profile *const *profiles, size_t n, struct st_error *e)
{
	for (size_t i = 0; i < n; i++) {
		const size_t first = entries->list.n;
		if (st_model_add_entries(entries, how, profiles[i]) ||
		    st_plot_set_variants(entries, first, profiles, n, i))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the points");
	}
	st_model_sort_entries(entries);
	return ST_OK;
}

static st_status
scatter_of_profiles(const struct st_plot_arguments *a, const char *const *files, size_t n,
                    FILE *out, struct st_error *e)
{
	const struct st_model_arguments how = {.of = a->of, .x = a->x, .y = a->metric};
	struct st_profile **profiles = calloc(n, sizeof *profiles);
	struct st_model_entries entries = {0};
	struct scatter_plot p = {.a = a};
	st_status status = profiles ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < n && !status; i++)
		if (!(profiles[i] = st_show_load(files[i], e)))
			status = ST_FAILED;
	if (!status)
		status = scatter_add_entries(&entries, &how,
		                             (const struct st_profile *const *)profiles, n, e);
	if (!status)
		status = entries.list.n ? scatter_of_groups(&p, &how, &entries, out, e)
		                        : scatter_none(a, files[0], profiles[0], e);
	scatter_free(&p);
	st_model_free_entries(&entries);
	for (size_t i = 0; profiles && i < n; i++)
		st_profile_free(profiles[i]);
	free(profiles);
	return status;
}

/* The profiles of a version in the store. */
static st_status
scatter_of_version(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_plot_names names = {0};
	st_status status = st_plot_names_of(&names, a->rev, e);
	if (!status)
		status = scatter_of_profiles(a, (const char *const *)names.v.v, names.v.n, out, e);
	st_plot_names_free(&names);
	return status;
}

st_status
st_plot_scatter(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	if (a->csv && (a->files.n || a->of))
		return st_fail(e, ST_EXIT_USAGE, "--csv reads a text file: leave out %s%s",
		               a->files.n ? "the profile " : "--of",
		               a->files.n ? a->files.v[0] : "");
	if (a->csv)
		return scatter_of_csv(a, out, e);
	if (a->rev && a->files.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--rev takes all profiles of a version: leave out --rev or %s",
		               a->files.v[0]);
	if (a->rev)
		return scatter_of_version(a, out, e);
	return st_plot_count_files(a, 1, SIZE_MAX, e)
	               ? ST_FAILED
	               : scatter_of_profiles(a, a->files.v, a->files.n, out, e);
}
