/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
st_matrix_free(struct st_matrix *m)
{
	for (size_t i = 0; i < m->rows.n; i++)
		free(m->rows.v[i]);
	free(m->rows.v);
	free(m->x);
	free(m->values);
	free(m->spread);
	free(m->metric);
	free(m->unit);
	free(m->x_name);
	*m = (struct st_matrix){0};
}

void
st_matrix_accumulate(struct st_matrix *m)
{
	free(m->spread);
	m->spread = NULL;
	for (size_t row = 0; row < m->rows.n; row++) {
		double sum = 0;
		for (size_t i = 0; i < m->n; i++) {
			double *v = &m->values[row * m->n + i];
			sum += isfinite(*v) ? *v : 0;
			*v = sum;
		}
	}
}

void
st_matrix_thin(struct st_matrix *m, size_t most)
{
	const size_t n = m->n;
	if (n <= most || most < 2)
		return;
	free(m->spread); /* snapshots have none */
	m->spread = NULL;
	for (size_t row = 0; row < m->rows.n; row++)
		for (size_t i = 0; i < most; i++)
			m->values[row * most + i] = m->values[row * n + i * (n - 1) / (most - 1)];
	for (size_t i = 0; i < most; i++)
		m->x[i] = m->x[i * (n - 1) / (most - 1)];
	m->n = most;
}

/* The sum of all rows at an x. */
static double
matrix_sum_at(const struct st_matrix *m, size_t at)
{
	double sum = 0;
	for (size_t row = 0; row < m->rows.n; row++)
		sum += isfinite(m->values[row * m->n + at]) ? m->values[row * m->n + at] : 0;
	return sum;
}

/* The x of the greatest sum from begin up to end. */
static size_t
matrix_peak(const struct st_matrix *m, size_t begin, size_t end)
{
	size_t best = begin;
	for (size_t i = begin + 1; i < end; i++)
		if (matrix_sum_at(m, i) > matrix_sum_at(m, best))
			best = i;
	return best;
}

st_status
st_matrix_thin_to_peaks(struct st_matrix *m, size_t most)
{
	const size_t n = m->n, groups = most - 2;
	if (n <= most || most < 3)
		return ST_OK;
	/* In each row, values move to the left only: what is moved has been read. */
	size_t *kept = malloc(most * sizeof *kept);
	if (!kept)
		return ST_FAILED;
	kept[0] = 0;
	kept[most - 1] = n - 1;
	for (size_t g = 0; g < groups; g++)
		kept[g + 1] =
		        matrix_peak(m, 1 + g * (n - 2) / groups, 1 + (g + 1) * (n - 2) / groups);
	for (size_t row = 0; row < m->rows.n; row++)
		for (size_t i = 0; i < most; i++)
			m->values[row * most + i] = m->values[row * n + kept[i]];
	for (size_t i = 0; i < most; i++)
		m->x[i] = m->x[kept[i]];
	m->n = most;
	free(kept);
	return ST_OK;
}

size_t
st_matrix_row(struct st_matrix *m, const char *name)
{
	for (size_t i = 0; i < m->rows.n; i++)
		if (!strcmp(m->rows.v[i], name))
			return i;
	char **slot = ST_PUSH(&m->rows);
	if (slot)
		*slot = strdup(name);
	return slot && *slot ? m->rows.n - 1 : SIZE_MAX;
}

struct ranked_row {
	size_t row;
	double sum;
};

static int
by_sum(const void *a, const void *b)
{
	const struct ranked_row *x = a, *y = b;
	if (x->sum > y->sum || x->sum < y->sum)
		return x->sum > y->sum ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void
row_add(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(from[i]))
			to[i] = (isfinite(to[i]) ? to[i] : 0) + from[i];
}

/* Puts the spreads of the rows that are kept in the order of the rows. */
static st_status
spread_arrange(struct st_matrix *m, const struct ranked_row *ranked, size_t kept)
{
	struct st_plot_value *spread =
	        m->spread ? malloc((m->n * kept + 1) * sizeof *spread) : NULL;
	if (!m->spread)
		return ST_OK;
	if (!spread)
		return ST_FAILED;
	for (size_t k = 0; k < kept; k++)
		memcpy(&spread[k * m->n], &m->spread[ranked[k].row * m->n], m->n * sizeof *spread);
	free(m->spread);
	m->spread = spread;
	return ST_OK;
}

/* Sorts rows, and replaces those after the first `kept` by their sum if sums is set. */
static st_status
rows_arrange(struct st_matrix *m, const struct ranked_row *ranked, size_t kept, bool sums)
{
	const size_t n = m->n, all = m->rows.n, others = kept < all && sums;
	double *values = malloc((n * (kept + 1) + 1) * sizeof *values);
	char **names = calloc(kept + 2, sizeof *names);
	if (!values || !names || spread_arrange(m, ranked, kept) ||
	    (others && !(names[kept] = strdup("(others)")))) {
		free(values);
		free(names);
		return ST_FAILED;
	}
	for (size_t i = 0; i < n; i++)
		values[kept * n + i] = NAN;
	for (size_t k = 0; k < all; k++) {
		const double *from = &m->values[ranked[k].row * n];
		if (k < kept) {
			memcpy(&values[k * n], from, n * sizeof *values);
			names[k] = m->rows.v[ranked[k].row];
			continue;
		}
		row_add(&values[kept * n], from, n);
		free(m->rows.v[ranked[k].row]);
	}
	free(m->rows.v);
	free(m->values);
	m->rows.v = names;
	m->rows.n = kept + others;
	m->rows.cap = kept + 2;
	m->values = values;
	m->others |= others;
	m->left_out += all - kept;
	return ST_OK;
}

st_status
st_matrix_cut(struct st_matrix *m, size_t top, bool sums)
{
	struct ranked_row *ranked = calloc(m->rows.n + 1, sizeof *ranked);
	if (!ranked)
		return ST_FAILED;
	for (size_t row = 0; row < m->rows.n; row++) {
		ranked[row].row = row;
		for (size_t i = 0; i < m->n; i++)
			if (isfinite(m->values[row * m->n + i]))
				ranked[row].sum += fabs(m->values[row * m->n + i]);
	}
	qsort(ranked, m->rows.n, sizeof *ranked, by_sum);
	const st_status status =
	        rows_arrange(m, ranked, top && top < m->rows.n ? top : m->rows.n, sums);
	free(ranked);
	return status;
}

st_status
st_matrix_make(struct st_matrix *m, const struct st_profile *p,
               const struct st_matrix_choice *choice, struct st_error *e)
{
	return st_profile_has_tool(p, ST_MEM_TOOL) ? st_matrix_of_memory(m, p, choice, e)
	                                           : st_matrix_of_series(m, p, choice, e);
}
