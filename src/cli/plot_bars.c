/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot bars: the locations of one or several profiles that have most of a metric. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/plot.h"
#include "cli/show_stored.h"
#include "plot/charts.h"
#include "views/locations.h"

enum { BARS_LOCATIONS = 12, BARS_PROFILES = 10 };

/* Says what the lines at the bars are, and what is not drawn. malloc'ed; NULL: no memory. */
static char *
bars_note(const struct st_locations *l)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	if (l->spread)
		fputs("Bars: median; thick: its 95 % interval, from six values on; thin: least to "
		      "greatest value.",
		      out);
	if (l->left_out)
		fprintf(out, "%s%s not drawn; -n 0 draws all.", l->spread ? " " : "",
		        ST_COUNT(l->left_out, "location is", "locations are"));
	return st_text_end(&built);
}

static st_status
bars_draw_locations(const struct st_plot_arguments *a, const struct st_locations *l, FILE *out,
                    struct st_error *e)
{
	char *title = a->title ? strdup(a->title)
	                       : st_text_of("%s of %s%s", l->metric, st_base_name(a->files.v[0]),
	                                    a->files.n > 1 ? " and others" : "");
	char *note = bars_note(l);
	const struct st_plot_bars bars = {
	        .words = {.title = title, .y = l->metric, .y_unit = l->unit, .note = note},
	        .parts = (const char *const *)l->names.v,
	        .n_parts = l->names.n,
	        .names = a->files.v,
	        .n_series = a->files.n,
	        .values = l->values,
	        .spread = l->spread};
	if (title && note)
		st_plot_bars(&bars, out);
	const bool bad = !title || !note;
	free(title);
	free(note);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture") : ST_OK;
}

/* Whether bars are drawn over a feature: with --per or --by always; without it, only for one
 * profile of measurements, if its first series has a default feature or --func is given. */
static bool
bars_are_over(const struct st_plot_arguments *a, const struct st_profile *p)
{
	if (a->files.n > 1 || p->measurements.series.n == 0)
		return a->per || a->by;
	return a->per || a->by || a->func ||
	       st_series_default_feature(&p->measurements.series.v[0]);
}

st_status
st_plot_bars_of(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_profile **profiles = calloc(a->files.n + 1, sizeof *profiles);
	struct st_locations l = {0};
	st_status status = profiles ? st_plot_count_files(a, 1, BARS_PROFILES, e)
	                            : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < a->files.n && !status; i++)
		if (!(profiles[i] = st_show_load(a->files.v[i], e)))
			status = ST_FAILED;
	const bool over = !status && bars_are_over(a, profiles[0]);
	const struct st_locations_choice choice = {.metric = a->metric,
	                                           .of = a->of,
	                                           .top = a->top < 0 ? BARS_LOCATIONS
	                                                             : (size_t)a->top};
	if (!status && !over)
		status = st_locations_make(&l, (const struct st_profile *const *)profiles,
		                           a->files.v, a->files.n, &choice, e);
	if (!status && !over)
		status = bars_draw_locations(a, &l, out, e);
	st_locations_free(&l);
	for (size_t i = 0; profiles && i < a->files.n; i++)
		st_profile_free(profiles[i]);
	free(profiles);
	return over ? st_plot_bars_over(a, out, e) : status;
}
