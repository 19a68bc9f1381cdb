/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

st_status
st_columns_begin(struct st_columns *c, size_t p)
{
	*c = (struct st_columns){.p = p};
	c->r = calloc((p + 1) * (p + 1), sizeof *c->r);
	c->row = calloc(p + 1, sizeof *c->row);
	return c->r && c->row ? ST_OK : ST_FAILED;
}

void
st_columns_free(struct st_columns *c)
{
	free(c->r);
	free(c->row);
	*c = (struct st_columns){0};
}

/* Rotates row so that its element at `at` disappears in the triangle. Without hypotl, which takes
 * most of the time: the elements are scaled by the caller or by nature to what squares can hold. */
static void
columns_rotate(struct st_columns *c, size_t at)
{
	long double *const r = c->r + at * (c->p + 1), *const row = c->row;
	const long double length = sqrtl(r[at] * r[at] + row[at] * row[at]);
	const long double cosine = r[at] / length, sine = row[at] / length;
	for (size_t k = at; k <= c->p; k++) {
		const long double above = r[k];
		r[k] = cosine * above + sine * row[k];
		row[k] = cosine * row[k] - sine * above;
	}
}

void
st_columns_add(struct st_columns *c, const double *x, double y, double weight)
{
	const long double root = sqrtl(weight), distance = (long double)y - c->mean;
	for (size_t i = 0; i < c->p; i++)
		c->row[i] = root * x[i];
	c->row[c->p] = root * y;
	for (size_t i = 0; i <= c->p; i++)
		if (c->row[i] != 0)
			columns_rotate(c, i);
	c->n++;
	c->weight += weight;
	c->log_weights += logl(weight);
	c->mean += distance * weight / c->weight;
	c->tss += weight * distance * ((long double)y - c->mean);
}

/* Rotates a row of the smaller triangle into it. */
static void
columns_rotate_chosen(struct st_ls_rows *rows, long double *row)
{
	for (size_t i = 0; i <= rows->p; i++) {
		if (row[i] == 0)
			continue;
		long double *r = rows->r[i];
		const long double length = sqrtl(r[i] * r[i] + row[i] * row[i]);
		const long double cosine = r[i] / length, sine = row[i] / length;
		for (size_t k = i; k <= rows->p; k++) {
			const long double above = r[k];
			r[k] = cosine * above + sine * row[k];
			row[k] = cosine * row[k] - sine * above;
		}
	}
}

st_status
st_columns_solve(const struct st_columns *c, const size_t *chosen, size_t k, struct st_ls *out,
                 struct st_error *e)
{
	struct st_ls_rows rows;
	long double row[ST_LS_MOST + 1] = {0};
	st_ls_begin(&rows, k);
	for (size_t i = 0; i <= c->p; i++) {
		const long double *const from = c->r + i * (c->p + 1);
		for (size_t j = 0; j < k; j++)
			row[j] = from[chosen[j]];
		row[k] = from[c->p];
		columns_rotate_chosen(&rows, row);
	}
	rows.n = c->n;
	rows.mean = c->mean;
	rows.tss = c->tss;
	return st_ls_solve(&rows, out, e);
}
