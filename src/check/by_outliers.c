/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `exclusive-time-outliers`: locations whose difference is an outlier among those of all
 * locations, if repeated runs show that there is a difference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/outliers.h"

/* The differences of the findings of one metric and image. */
struct group_of_differences {
	double *v;
	size_t *findings;
	size_t n;
	struct st_outlier *outliers;
};

/* Outliers are searched among the differences of one image, because libraries differ in size. */
static st_status
take_group(struct st_check_result *out, uint32_t metric, uint32_t image,
           struct group_of_differences *g)
{
	g->n = 0;
	for (size_t i = 0; i < out->findings.n; i++) {
		const struct st_finding *f = &out->findings.v[i];
		if (f->metric != metric || f->subject->image != image)
			continue;
		g->v[g->n] = f->to - f->from;
		g->findings[g->n++] = i;
	}
	return st_outliers_find(g->v, g->n, ST_OUTLIER_Z, g->outliers);
}

/* Whether the runs show that there is a difference. */
static bool
is_shown_by_runs(const struct st_finding *f, double alpha)
{
	const bool counted = f->confidence_kind && !strcmp(f->confidence_kind, "count");
	const bool is_new = !f->subject->item[ST_A] || !f->subject->item[ST_B];
	return counted || is_new || f->q <= alpha;
}

static void
set_outlier(struct st_finding *f, const struct st_outlier *o, double alpha)
{
	const bool shown = is_shown_by_runs(f, alpha);
	f->method = ST_CHECK_outliers;
	f->rate.at = f->to - f->from;
	f->confidence = o->confidence;
	f->confidence_kind = o->by_quartiles ? "IQR" : "sd";
	const bool one_sided =
	        f->kind == ST_FINDING_NOT_IN_BASELINE || f->kind == ST_FINDING_NOT_IN_TARGET;
	if (one_sided && o->kind != ST_FINDING_NO_CHANGE)
		return;
	if (shown && o->kind != ST_FINDING_NO_CHANGE)
		f->kind = !f->subject->item[ST_A]   ? ST_FINDING_NOT_IN_BASELINE
		          : !f->subject->item[ST_B] ? ST_FINDING_NOT_IN_TARGET
		                                    : o->kind;
	else if (f->kind != ST_FINDING_UNKNOWN || o->kind == ST_FINDING_NO_CHANGE)
		f->kind = ST_FINDING_NO_CHANGE;
}

static st_status
find_outliers(struct st_check_result *out, struct group_of_differences *g, double alpha)
{
	const struct st_check_subjects *s = out->subjects;
	for (uint32_t metric = 0; metric < s->metrics.n; metric++)
		for (size_t i = 0; i <= s->images.n; i++) {
			const uint32_t image = i < s->images.n ? (uint32_t)i : ST_NO_IMAGE;
			if (take_group(out, metric, image, g))
				return ST_FAILED;
			for (size_t k = 0; k < g->n; k++)
				set_outlier(&out->findings.v[g->findings[k]], &g->outliers[k],
				            alpha);
		}
	return ST_OK;
}

st_status
st_check_by_outliers(struct st_check_result *out, const struct st_check_how *how)
{
	/* Small locations are tested, too: here a difference matters if it is an outlier. */
	if (st_check_compare_runs(out, how, 0))
		return ST_FAILED;
	const size_t n = out->findings.n + 1;
	struct group_of_differences g = {.v = malloc(n * sizeof *g.v),
	                                 .findings = malloc(n * sizeof *g.findings),
	                                 .outliers = malloc(n * sizeof *g.outliers)};
	st_status status = g.v && g.findings && g.outliers
	                           ? find_outliers(out, &g, how->distribution.alpha)
	                           : ST_FAILED;
	free(g.v);
	free(g.findings);
	free(g.outliers);
	return status;
}
