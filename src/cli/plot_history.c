/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot history: draws a function or series over the versions of the project. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/history.h"
#include "cli/plot.h"
#include "plot/charts.h"
#include "stats/spread.h"
#include "store/store.h"

/* A line: one location, configuration and machine. */
struct history_line {
	const struct st_history_group *of; /* its first */
	char *name;
};

struct history_plot {
	const struct st_plot_arguments *a;
	struct st_history_values values;
	const char *metric, *unit;                 /* of the points */
	char *others;                              /* ", a, b": metrics that are not drawn */
	ST_VEC(const struct st_logged *) versions; /* with values of it, the oldest first */
	ST_VEC(struct history_line) lines;
	struct st_history_naming naming;
	struct st_plot_value *points;
	char **parts;
	const char **names;
};

static bool
history_is_shown(const struct history_plot *x, const struct st_history_group *g)
{
	return !strcmp(g->metric, x->metric) && !strcmp(g->unit, x->unit);
}

/* Chooses the first metric of the youngest version; the picture names the others. */
static st_status
history_choose_metric(struct history_plot *x, struct st_error *e)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the history");
	x->metric = x->values.v.v[0].metric;
	x->unit = x->values.v.v[0].unit;
	for (size_t i = 0; i < x->values.v.n; i++) {
		const struct st_history_group *g = &x->values.v.v[i];
		bool known = history_is_shown(x, g);
		for (size_t k = 0; k < i && !known; k++)
			known = !strcmp(x->values.v.v[k].metric, g->metric);
		if (!known)
			fprintf(out, ", %s", g->metric);
	}
	x->others = st_text_end(&built);
	return x->others ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the history");
}

/* Lists versions and lines. The history begins with the youngest version, the x axis with the
 * oldest. */
static st_status
history_list(struct history_plot *x)
{
	for (size_t i = x->values.v.n; i-- > 0;) {
		const struct st_history_group *g = &x->values.v.v[i];
		size_t line = 0;
		if (!history_is_shown(x, g))
			continue;
		if (!x->versions.n || x->versions.v[x->versions.n - 1] != g->logged) {
			const struct st_logged **version = ST_PUSH(&x->versions);
			if (!version)
				return ST_FAILED;
			*version = g->logged;
		}
		while (line < x->lines.n && !st_history_same_series(x->lines.v[line].of, g))
			line++;
		struct history_line *new = line == x->lines.n ? ST_PUSH(&x->lines) : NULL;
		if (line == x->lines.n - 1 && new)
			new->of = g;
		if (line == x->lines.n)
			return ST_FAILED;
	}
	return ST_OK;
}

static size_t
history_version_of(const struct history_plot *x, const struct st_logged *l)
{
	size_t i = 0;
	while (x->versions.v[i] != l)
		i++;
	return i;
}

static st_status
history_choose_names(struct history_plot *x)
{
	const struct st_history_group **groups = calloc(x->lines.n + 1, sizeof *groups);
	for (size_t i = 0; groups && i < x->lines.n; i++)
		groups[i] = x->lines.v[i].of;
	const st_status status =
	        groups ? st_history_naming_of(&x->naming, groups, x->lines.n) : ST_FAILED;
	free(groups);
	return status;
}

static st_status
history_fill(struct history_plot *x)
{
	const size_t n = x->versions.n * x->lines.n;
	x->points = calloc(n + 1, sizeof *x->points);
	x->parts = calloc(x->versions.n + 1, sizeof *x->parts);
	x->names = calloc(x->lines.n + 1, sizeof *x->names);
	if (!x->points || !x->parts || !x->names)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		x->points[i] = (struct st_plot_value){NAN, NAN, NAN, NAN, NAN};
	for (size_t i = 0; i < x->versions.n; i++)
		if (!(x->parts[i] = st_text_of("%.10s", x->versions.v[i]->version.name)))
			return ST_FAILED;
	if (history_choose_names(x))
		return ST_FAILED;
	for (size_t i = 0; i < x->lines.n; i++)
		if (!(x->names[i] = x->lines.v[i].name =
		              st_history_short_name(&x->naming, x->lines.v[i].of)))
			return ST_FAILED;
	for (size_t i = 0; i < x->values.v.n; i++) {
		const struct st_history_group *g = &x->values.v.v[i];
		struct st_spread s;
		size_t line = 0;
		if (!history_is_shown(x, g))
			continue;
		if (st_spread_of(g->values.v, g->values.n, &s))
			return ST_FAILED;
		while (!st_history_same_series(x->lines.v[line].of, g))
			line++;
		x->points[line * x->versions.n + history_version_of(x, g->logged)] =
		        (struct st_plot_value){s.median, s.median_low, s.median_high, s.least,
		                               s.most};
	}
	return ST_OK;
}

static st_status
history_draw(const struct history_plot *x, const char *vcs, FILE *out, struct st_error *e)
{
	const bool others = *x->others;
	char *title = st_text_of("%s of %s", x->metric, x->values.name);
	char *note = st_text_of("Points: median; thick: its 95 %% interval, from six values on; "
	                        "thin: least to greatest value.%s%s%s",
	                        others ? " Other metrics (--metric): " : "",
	                        others ? x->others + 2 : "", others ? "." : "");
	const struct st_plot_lines lines = {.words = {.title = x->a->title ? x->a->title : title,
	                                              .x = vcs,
	                                              .y = x->metric,
	                                              .y_unit = x->unit,
	                                              .note = note},
	                                    .parts = (const char *const *)x->parts,
	                                    .n_parts = x->versions.n,
	                                    .names = x->names,
	                                    .n_series = x->lines.n,
	                                    .values = x->points};
	if (title && note)
		st_plot_lines(&lines, out);
	const bool bad = !title || !note;
	free(title);
	free(note);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the history") : ST_OK;
}

static st_status
history_read(struct history_plot *x, struct st_store *s, FILE *out, struct st_error *e)
{
	const long top = x->a->top < 0 ? 40 : x->a->top;
	struct st_history h = {0};
	st_status status = st_history_read(s, x->a->rev, (uint64_t)top, false, &h, e);
	if (!status)
		status = st_history_values(&x->values, s, &h, e);
	if (!status)
		status = history_choose_metric(x, e);
	if (!status && (history_list(x) || history_fill(x)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the history");
	if (!status)
		status = history_draw(x, s->vcs->kind->title, out, e);
	st_history_values_free(&x->values);
	st_history_free(&h);
	return status;
}

static void
history_plot_free(struct history_plot *x)
{
	for (size_t i = 0; i < x->lines.n; i++)
		free(x->lines.v[i].name);
	for (size_t i = 0; x->parts && i < x->versions.n; i++)
		free(x->parts[i]);
	free(x->others);
	free(x->versions.v);
	free(x->lines.v);
	free(x->points);
	free(x->parts);
	free(x->names);
}

st_status
st_plot_history(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_store s;
	struct history_plot x = {.a = a, .values = {.name = a->of, .metric = a->metric}};
	if (!a->of)
		return st_fail(e, ST_EXIT_USAGE,
		               "no function to draw: strobe plot history --of NAME");
	if (a->files.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe plot history draws the profiles of the store: leave out %s; "
		               "--rev names a version to end at",
		               a->files.v[0]);
	if (st_store_open(&s, e))
		return ST_FAILED;
	const st_status status = history_read(&x, &s, out, e);
	history_plot_free(&x);
	st_store_close(&s);
	return status;
}
