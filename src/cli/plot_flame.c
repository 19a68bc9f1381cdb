/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot flame: draws the calling contexts of a profile, or the difference of two. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/plot.h"
#include "cli/show_stored.h"
#include "contexts/compare.h"
#include "views/frames.h"

/* The profiles that are drawn; the second one only for a difference. */
struct flame_plot {
	const struct st_plot_arguments *a;
	struct st_profile *profiles[ST_SIDES];
	struct st_costs costs[ST_SIDES];
	struct st_frames frames;
};

/* Returns --title, the names of both files, or the program and its arguments. malloc'ed; NULL: no
 * memory. */
static char *
flame_title(const struct flame_plot *x)
{
	if (x->a->files.n > 1 && !x->a->title)
		return st_text_of("%s and %s", st_base_name(x->a->files.v[ST_A]),
		                  st_base_name(x->a->files.v[ST_B]));
	return st_plot_title_of(x->a, x->profiles[ST_A]);
}

static st_status
flame_draw_frames(struct flame_plot *x, FILE *out, struct st_error *e)
{
	const struct st_costs *c = &x->costs[ST_A];
	char *title = flame_title(x);
	const struct st_flame flame = {.title = title,
	                               .metric = c->metric,
	                               .unit = c->unit,
	                               .frames = x->frames.v.v,
	                               .n = x->frames.v.n,
	                               .difference = x->a->files.n > 1,
	                               .shares = x->a->shares};
	const bool bad = !title || st_plot_flame(&flame, out);
	free(title);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the flame graph") : ST_OK;
}

static st_status
flame_no_pair(const struct flame_plot *x, struct st_error *e)
{
	return st_fail(e, ST_EXIT_USAGE,
	               "%s has no metric '%s' of contexts, but %s has: choose a metric of both "
	               "with --metric, or profiles of one kind",
	               x->a->files.v[ST_B], x->costs[ST_A].metric, x->a->files.v[ST_A]);
}

/* Fails unless both profiles have the metric and were measured in the same way. */
static st_status
flame_check_pair(const struct flame_plot *x, struct st_error *e)
{
	const struct st_profile *const both[ST_SIDES] = {x->profiles[ST_A], x->profiles[ST_B]};
	const struct st_costs *a = &x->costs[ST_A], *b = &x->costs[ST_B];
	struct st_context_options o;
	if (strcmp(a->metric, b->metric) != 0 || strcmp(a->unit, b->unit) != 0)
		return flame_no_pair(x, e);
	return st_contexts_options(both[ST_A], &o) ? st_compare_check(both, x->a->files.v, e)
	                                           : ST_OK;
}

static st_status
flame_make(struct flame_plot *x, FILE *out, struct st_error *e)
{
	const size_t n = x->a->files.n;
	const char *metric = x->a->metric;
	for (size_t i = 0; i < n; i++) {
		const char *name = x->a->files.v[i];
		struct st_error why;
		if (!(x->profiles[i] = st_show_load(name, e)))
			return ST_FAILED;
		if (st_costs_open(&x->costs[i], x->profiles[i], name, metric, n == 1, &why))
			return i && !x->a->metric ? flame_no_pair(x, e)
			                          : st_fail(e, why.code, "%s", why.text);
		metric = x->costs[0].metric;
	}
	if (n > 1 && flame_check_pair(x, e))
		return ST_FAILED;
	if (n > 1 ? st_frames_of_difference(&x->frames, &x->costs[ST_A], &x->costs[ST_B], e)
	          : st_frames_of(&x->frames, &x->costs[ST_A], x->a->inverted, e))
		return ST_FAILED;
	double all = 0;
	for (size_t i = 0; i < x->frames.v.n; i++)
		all += x->frames.v.v[i].own + x->frames.v.v[i].before;
	if (!(all > 0))
		return st_fail(e, ST_EXIT_FAILED,
		               "the sum of '%s' in %s is 0: there is nothing to draw", metric,
		               x->a->files.v[0]);
	return flame_draw_frames(x, out, e);
}

st_status
st_plot_flame_graph(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct flame_plot x = {.a = a};
	if (st_plot_count_files(a, 1, ST_SIDES, e))
		return ST_FAILED;
	if (a->inverted && a->files.n > 1)
		return st_fail(e, ST_EXIT_USAGE,
		               "--inverted draws one profile: leave it out to compare two");
	const st_status status = flame_make(&x, out, e);
	st_frames_free(&x.frames);
	for (size_t i = 0; i < ST_SIDES; i++) {
		st_costs_free(&x.costs[i]);
		st_profile_free(x.profiles[i]);
	}
	return status;
}
