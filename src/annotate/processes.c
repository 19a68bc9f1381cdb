/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/processes.h"

#include <math.h>
#include <stdlib.h>

#include "annotate/predict.h"
#include "stats/robust.h"

/* Fewer records do not show what a process has in common. */
enum { PROCESS_RECORDS_LEAST = 3 };

/* The cost of a record, divided by the predicted one. */
struct process_ratio {
	uint32_t run;
	double ratio;
};

static int
process_order(const void *a, const void *b)
{
	const struct process_ratio *p = a, *q = b;
	if (p->run != q->run)
		return p->run > q->run ? 1 : -1;
	return (p->ratio > q->ratio) - (p->ratio < q->ratio);
}

/* Returns the number of ratios; v: space for all rows. */
static size_t
process_ratios(const struct st_ann_annotation *a, const struct st_ann_records *r, const double *y,
               struct st_ann_rows rows, struct process_ratio *v)
{
	struct st_ann_record at = {r, 0};
	const struct st_ann_names names = st_ann_record_names(&at);
	size_t n = 0;
	for (size_t i = 0; i < rows.n; i++) {
		double mean, sd;
		at.row = rows.v[i];
		const struct st_ann_scope *s = st_ann_scope_of(a, &names);
		if (s && st_ann_scope_moments(s, &names, &mean, &sd) && mean > 0)
			v[n++] = (struct process_ratio){r->run[at.row], y[at.row] / mean};
	}
	qsort(v, n, sizeof *v, process_order);
	return n;
}

/* Returns the typical ratio of a process. Disturbed records do not change a median. Without a law,
 * slow calls are part of the cost, and a median would not show that processes differ in them. */
static double
process_typical(const struct process_ratio *v, size_t n, bool by_mean)
{
	double sum = 0;
	for (size_t i = 0; i < n && by_mean; i++)
		sum += v[i].ratio;
	return by_mean ? sum / (double)n : (v[(n - 1) / 2].ratio + v[n / 2].ratio) / 2;
}

size_t
st_ann_mark_slow_processes(const struct st_ann_records *r, bool *slow)
{
	double fastest = INFINITY;
	size_t n = 0;
	for (size_t i = 0; i < r->paces.n; i++)
		fastest = fmin(fastest, r->paces.v[i]);
	for (size_t i = 0; i < r->paces.n; i++) {
		slow[i + 1] = r->paces.v[i] > ST_ANN_PACE_MARGIN * fastest;
		n += slow[i + 1];
	}
	if (r->runs >= n + 2)
		return n;
	for (size_t i = 0; i < r->paces.n; i++)
		slow[i + 1] = false;
	return 0;
}

double
st_ann_pace(const struct st_ann_records *r, const bool *slow)
{
	double sum = 0, n = 0;
	for (size_t i = 0; i < r->paces.n; i++)
		if (!isnan(r->paces.v[i]) && !(slow && slow[i + 1])) {
			sum += r->paces.v[i];
			n++;
		}
	return n > 0 ? sum / n : 0;
}

st_status
st_ann_find_processes(struct st_ann_annotation *a, const struct st_ann_records *r, size_t metric,
                      struct st_ann_rows rows)
{
	const bool by_mean = !st_ann_has_laws(a);
	struct process_ratio *v = malloc((rows.n + 1) * sizeof *v);
	double mean = 0, squares = 0;
	a->processes = 0;
	a->between = NAN;
	if (!v)
		return ST_FAILED;
	if (!r->run) { /* they were made of the records of other functions */
		free(v);
		return ST_OK;
	}
	const size_t n = process_ratios(a, r, r->metrics.v[metric].v, rows, v);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && v[to].run == v[from].run;)
			to++;
		const double typical = process_typical(v + from, to - from, by_mean);
		if (to - from < PROCESS_RECORDS_LEAST || !(typical > 0))
			continue;
		/* Welford's update: the ratios may differ little. */
		const double x = log(typical), d = x - mean;
		mean += d / (double)++a->processes;
		squares += d * (x - mean);
	}
	free(v);
	if (a->processes > 1)
		a->between = sqrt(fmax(squares, 0) / (double)(a->processes - 1));
	return ST_OK;
}
