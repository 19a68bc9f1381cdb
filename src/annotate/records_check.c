/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drops records that cannot be right: a part of the time is longer than the whole, or a time is
 * negative. */
#include <math.h>
#include <string.h>

#include "annotate/records.h"

/* Times that are parts of the time of a call. */
static const char *const ann_parts[] = {"lock_wait", "condition_wait", "lock_held"};

static const struct st_ann_metric *
ann_metric_named(const struct st_ann_records *r, const char *name)
{
	for (size_t i = 0; i < r->metrics.n; i++)
		if (!strcmp(r->metrics.v[i].name, name))
			return &r->metrics.v[i];
	return NULL;
}

/* The costs of probes, which are subtracted, are averages: a part may be a little longer. */
static bool
ann_is_longer(double part, double whole)
{
	static const double share = 0.01, ns = 1000;
	return part > whole + share * fabs(whole) + ns; /* false if one of them is absent */
}

static bool
ann_is_possible(const struct st_ann_metric *whole, const struct st_ann_metric *const *parts,
                size_t n, size_t row)
{
	for (size_t i = 0; i < n; i++)
		if (ann_is_longer(parts[i]->v[row], whole->v[row]))
			return false;
	return true;
}

/* A time is negative if the cost of the recording that was subtracted from it was too large. */
static bool
ann_is_negative(const struct st_ann_metric *time, size_t row)
{
	return time && !strcmp(time->unit, "ns") && ann_is_longer(0, time->v[row]);
}

void
st_ann_records_drop_impossible(struct st_ann_records *r)
{
	enum { PARTS = sizeof ann_parts / sizeof *ann_parts };
	const struct st_ann_metric *const cpu = ann_metric_named(r, "cpu");
	const struct st_ann_metric *whole = ann_metric_named(r, "time"), *parts[PARTS];
	size_t n = 0, kept = r->checked;
	for (size_t i = 0; i < PARTS && whole && !strcmp(whole->unit, "ns"); i++) {
		parts[n] = ann_metric_named(r, ann_parts[i]);
		n += parts[n] && !strcmp(parts[n]->unit, "ns");
	}
	for (size_t row = r->checked; row < r->n; row++)
		if (ann_is_possible(whole, parts, n, row) && !ann_is_negative(whole, row) &&
		    !ann_is_negative(cpu, row))
			st_ann_record_move(r, row, kept++);
	r->impossible += r->n - kept;
	r->n = r->checked = kept;
}
