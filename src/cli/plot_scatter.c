/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot scatter: draws the points of a series with the curve of its model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/model.h"
#include "cli/plot.h"
#include "cli/show_stored.h"
#include "model/csv.h"
#include "plot/charts.h"
#include "report/model.h"

enum { CURVE = 129 };

struct scatter_points {
	const char *location, *x, *y, *unit;
	struct st_points points;
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

static st_status
scatter_draw(const struct st_plot_arguments *a, const struct scatter_points *s, FILE *out,
             struct st_error *e)
{
	double curve[4][CURVE]; /* x, y, and the ends of the band */
	struct st_choice *choice = malloc(sizeof *choice);
	struct st_error why = {0};
	if (!choice)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the model");
	const bool modelled = !a->no_model && !st_choice_make(choice, &s->points, ST_GROWTHS_ALL,
	                                                      ST_NOISE_AUTO, 0.95, &why);
	const bool has_curve = modelled && choice->best < ST_GROWTH_COUNT;
	if (has_curve)
		scatter_curve(&choice->models[choice->best], a->logarithmic, curve);
	char *note = modelled      ? st_model_caption(choice)
	             : a->no_model ? strdup("")
	                           : st_text_of("No model: %s.", why.text);
	const struct st_plot_points plot = {.words = {.title = a->title ? a->title : s->location,
	                                              .x = s->x,
	                                              .y = s->y,
	                                              .y_unit = s->unit,
	                                              .note = note},
	                                    .x = s->points.x,
	                                    .y = s->points.y,
	                                    .n = s->points.n,
	                                    .logarithmic = a->logarithmic,
	                                    .curve_x = curve[0],
	                                    .curve_y = curve[1],
	                                    .curve_low = curve[2],
	                                    .curve_high = curve[3],
	                                    .n_curve = has_curve ? CURVE : 0};
	if (note)
		st_plot_points(&plot, out);
	const bool bad = !note;
	free(note);
	free(choice);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture") : ST_OK;
}

static st_status
scatter_of_csv(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_csv csv;
	st_status status = st_csv_read(&csv, a->csv, a->x, a->metric, e);
	if (!status) {
		const struct scatter_points s = {st_base_name(a->csv), csv.x_name, csv.y_name, "",
		                                 st_csv_points(&csv)};
		status = scatter_draw(a, &s, out, e);
	}
	st_csv_free(&csv);
	return status;
}

/* Fails with the names of the series that fit. */
static st_status
scatter_several(const struct st_model_entries *entries, struct st_error *e)
{
	char names[512] = "";
	size_t n = 0;
	for (size_t i = 0; i < entries->list.n; i += st_model_group(entries, i), n++)
		if (n < 5)
			st_append(names, sizeof names, "%s%s of %s", n ? ", " : "",
			          entries->list.v[i].series->key.metric, entries->list.v[i].uid);
	return st_fail(e, ST_EXIT_USAGE,
	               "%zu series fit, and a picture has the points of one: choose with --of and "
	               "--metric; they are %s%s",
	               n, names, n > 5 ? ", ..." : "");
}

static st_status
scatter_none(const struct st_plot_arguments *a, const struct st_profile *p, struct st_error *e)
{
	if (!p->measurements.series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no repeated measurements, which are the points of this "
		               "picture: strobe time and strobe import record some",
		               a->files.v[0]);
	return st_fail(e, ST_EXIT_USAGE,
	               "no measurements of %s fit%s%s%s%s; strobe show %s lists them",
	               a->files.v[0], a->of ? " --of " : "", a->of ? a->of : "",
	               a->metric ? " --metric " : "", a->metric ? a->metric : "", a->files.v[0]);
}

static st_status
scatter_of_group(const struct st_plot_arguments *a, const struct st_model_arguments *how,
                 const struct st_model_entries *entries, FILE *out, struct st_error *e)
{
	struct st_model_series taken;
	const size_t n = st_model_group(entries, 0);
	if (n < entries->list.n)
		return scatter_several(entries, e);
	st_status status = st_model_take_series(how, entries->list.v, n, &taken, e);
	if (!status && !taken.n)
		status = st_fail(e, ST_EXIT_FAILED, "no value of %s has a %s: choose with --x",
		                 taken.uid, taken.x_name);
	if (!status) {
		const struct scatter_points s = {taken.uid,
		                                 taken.x_name,
		                                 taken.y_name,
		                                 taken.unit,
		                                 {.x = taken.x, .y = taken.y, .n = taken.n}};
		status = scatter_draw(a, &s, out, e);
	}
	st_model_free_series(&taken);
	return status;
}

static st_status
scatter_of_profiles(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	const struct st_model_arguments how = {.of = a->of, .x = a->x, .y = a->metric};
	const size_t n = a->files.n;
	struct st_profile **profiles = calloc(n, sizeof *profiles);
	struct st_model_entries entries = {0};
	st_status status = profiles ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < n && !status; i++) {
		profiles[i] = st_show_load(a->files.v[i], e);
		if (!profiles[i])
			status = ST_FAILED;
		else if (st_model_add_entries(&entries, &how, profiles[i]))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the points");
	}
	st_model_sort_entries(&entries);
	if (!status)
		status = entries.list.n ? scatter_of_group(a, &how, &entries, out, e)
		                        : scatter_none(a, profiles[0], e);
	st_model_free_entries(&entries);
	for (size_t i = 0; profiles && i < n; i++)
		st_profile_free(profiles[i]);
	free(profiles);
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
	return st_plot_count_files(a, 1, SIZE_MAX, e) ? ST_FAILED : scatter_of_profiles(a, out, e);
}
